/* See body-xml.h. Called by web-body.c and its fuzz target. libxml2's SAX interface, as for
 * configuration files: nothing is fetched, and a DOCTYPE ends the parse before it is read. */
#include "rm-lite/body-xml.h"

#include <errno.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"

#define TEXT_MAX ((size_t)2 << 20) /* more than a body has */
#define FEED ((size_t)64 << 10)    /* a refused document is not read to its end */

struct element {
    char name[RM_XML_NAME_MAX + 1];
    json_t *object; /* NULL: no elements in it so far */
    size_t text_at; /* in p->text */
};

struct parse {
    xmlParserCtxtPtr ctxt;
    const char *root;
    struct sv_error *err;
    int result, depth;
    size_t n_elements;
    struct element open[RM_XML_DEPTH_MAX];
    struct sv_buf text; /* of the open elements, one after the other */
    json_t *done;
};

static void _printf_(3, 4) refuse(struct parse *p, int code, const char *fmt, ...)
{
    char text[256];
    va_list ap;

    if (p->result < 0)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    p->result = sv_error_set(p->err, code, "the body's XML, line %d: %s",
                             xmlSAX2GetLineNumber(p->ctxt), text);
    xmlStopParser(p->ctxt);
}

static struct element *top(struct parse *p)
{
    return &p->open[p->depth - 1];
}

static bool has_text(const struct parse *p, const struct element *e)
{
    for (size_t i = e->text_at; i < p->text.len; i++)
        if (!strchr(" \t\r\n", p->text.data[i]))
            return true;
    return false;
}

static void on_start(void *data, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri,
                     int n_namespaces, const xmlChar **namespaces, int n_attributes,
                     int n_defaulted, const xmlChar **attributes)
{
    struct parse *p = data;
    const char *name = (const char *)local;
    struct element *e;

    (void)prefix;
    (void)uri;
    (void)n_namespaces;
    (void)namespaces;
    (void)n_attributes;
    (void)n_defaulted;
    (void)attributes;
    if (p->result < 0)
        return;
    if (strlen(name) > RM_XML_NAME_MAX) {
        refuse(p, -EINVAL, "<%.32s...>: a name longer than %d bytes", name, RM_XML_NAME_MAX);
    } else if (p->depth == RM_XML_DEPTH_MAX) {
        refuse(p, -EINVAL, "<%s>: deeper than %d elements", name, RM_XML_DEPTH_MAX);
    } else if (p->n_elements == RM_XML_ELEMENTS_MAX) {
        refuse(p, -EINVAL, "more than %d elements", RM_XML_ELEMENTS_MAX);
    } else if (p->depth == 0 && strcmp(name, p->root) != 0) {
        refuse(p, -EINVAL, "<%s>: the document element is <%s>", name, p->root);
    } else if (p->depth > 0 && has_text(p, top(p))) {
        refuse(p, -EINVAL, "<%s>: text beside elements", top(p)->name);
    } else {
        if (p->depth > 0) {
            p->text.len = top(p)->text_at; /* blanks */
            if (!top(p)->object && !(top(p)->object = json_object()))
                refuse(p, -ENOMEM, "out of memory");
        }
        p->n_elements++;
        e = &p->open[p->depth++];
        *e = (struct element){ .text_at = p->text.len };
        memcpy(e->name, name, strlen(name) + 1);
    }
}

static void on_text(void *data, const xmlChar *s, int n)
{
    struct parse *p = data;

    if (p->result == 0 && p->depth > 0 && sv_buf_put(&p->text, s, (size_t)n) < 0)
        refuse(p, -ENOMEM, "out of memory");
}

/* Takes the value. */
static int add_member(json_t *object, const char *name, json_t *value)
{
    json_t *old = json_object_get(object, name), *list;

    if (!old)
        return json_object_set_new(object, name, value);
    if (json_is_array(old))
        return json_array_append_new(old, value);
    list = json_array();
    if (!list || json_array_append(list, old) < 0) {
        json_decref(list);
        json_decref(value);
        return -1;
    }
    if (json_object_set_new(object, name, list) < 0) {
        json_decref(value);
        return -1;
    }
    return json_array_append_new(list, value);
}

static json_t *value_of(struct parse *p, struct element *e)
{
    json_t *value;

    if (e->object)
        value = SV_TAKE(e->object);
    else if (p->depth == 1)
        value = json_object();
    else
        value = json_stringn((const char *)p->text.data + e->text_at, p->text.len - e->text_at);
    return value;
}

static void on_end(void *data, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri)
{
    struct parse *p = data;
    struct element *e;
    json_t *value;

    (void)local;
    (void)prefix;
    (void)uri;
    if (p->result < 0)
        return;
    e = top(p);
    if (has_text(p, e) && (e->object || p->depth == 1)) {
        refuse(p, -EINVAL, e->object ? "<%s>: text beside elements" : "<%s>: expected elements",
               e->name);
        return;
    }
    if (p->text.data == NULL && sv_buf_reserve(&p->text, 1) < 0) {
        refuse(p, -ENOMEM, "out of memory");
        return;
    }
    value = value_of(p, e);
    if (!value) { /* libxml2 gives UTF-8, so memory it is */
        refuse(p, -ENOMEM, "<%s>: out of memory", e->name);
        return;
    }
    p->text.len = e->text_at;
    p->depth--;
    if (p->depth == 0)
        p->done = value;
    else if (add_member(top(p)->object, e->name, value) < 0)
        refuse(p, -ENOMEM, "out of memory");
}

static void on_doctype(void *data, const xmlChar *name, const xmlChar *external, const xmlChar *sys)
{
    (void)name;
    (void)external;
    (void)sys;
    refuse(data, -EINVAL, "a DOCTYPE is refused: remove it");
}

static xmlEntityPtr on_entity(void *data, const xmlChar *name)
{
    (void)data;
    return xmlGetPredefinedEntity(name);
}

#if LIBXML_VERSION >= 21200
static void on_error(void *data, const xmlError *e)
#else
static void on_error(void *data, xmlErrorPtr e)
#endif
{
    const char *why = e->message ? e->message : "not well-formed";

    if (e->level >= XML_ERR_ERROR && e->domain != XML_FROM_NAMESPACE)
        refuse(data, -EINVAL, "%.*s", (int)strcspn(why, "\n"), why);
}

static void on_warning(void *data, const char *fmt, ...)
{
    (void)data;
    (void)fmt;
}

static void feed(struct parse *p, const char *xml, size_t len)
{
    for (size_t at = 0; at < len && p->result == 0; at += FEED) {
        size_t n = SV_MIN(FEED, len - at);

        (void)xmlParseChunk(p->ctxt, xml + at, (int)n, 0); /* errors arrive in on_error, ignoring */
    }
    if (p->result == 0)
        (void)xmlParseChunk(p->ctxt, "", 0, 1); /* likewise */
    if (p->result == 0 && (!p->done || !p->ctxt->wellFormed))
        p->result = sv_error_set(p->err, -EINVAL, "the body is no well-formed XML");
}

int rm_body_from_xml(const char *xml, size_t len, const char *root, json_t **ret,
                     struct sv_error *err)
{
    xmlSAXHandler sax = {
        .initialized = XML_SAX2_MAGIC,
        .internalSubset = on_doctype,
        .getEntity = on_entity,
        .startElementNs = on_start,
        .endElementNs = on_end,
        .characters = on_text,
        .cdataBlock = on_text,
        .warning = on_warning,
        .serror = on_error,
    };
    struct parse p = { .root = root, .err = err, .text = SV_BUF_INIT(TEXT_MAX) };

    p.ctxt = xmlCreatePushParserCtxt(&sax, &p, NULL, 0, NULL);
    if (!p.ctxt)
        return sv_error_set(err, -ENOMEM, "the body's XML: out of memory");
    (void)xmlCtxtUseOptions(p.ctxt,
                            XML_PARSE_NONET); /* returns unknown options: none here, ignoring */
    feed(&p, xml, len);
    if (p.ctxt->myDoc)
        xmlFreeDoc(p.ctxt->myDoc);
    xmlFreeParserCtxt(p.ctxt);
    for (int i = 0; i < p.depth; i++)
        json_decref(p.open[i].object);
    sv_buf_free(&p.text);
    if (p.result < 0)
        json_decref(p.done);
    else
        *ret = p.done;
    return p.result;
}
