/* Hadoop's configuration XML by libxml2's SAX interface. Called by conf.c. The file is the
 * operator's, yet jobs bring configuration files of their own, so the text counts as hostile: a
 * DOCTYPE ends the parse before its contents are read, hence only the five predefined entities
 * exist; nothing is included or fetched; depth, name and value lengths have limits. */
#include "common/conf-xml.h"

#include <errno.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/str.h"

#define XINCLUDE_NS "http://www.w3.org/2001/XInclude"
#define FEED ((size_t)64 << 10) /* a refused document is not read to its end */

enum field { NONE, NAME, VALUE, FINAL, N_FIELDS };

struct parse {
    xmlParserCtxtPtr ctxt;
    const char *source;
    sv_conf_xml_fn fn;
    void *userdata;
    struct sv_error *err;
    int result;
    int depth; /* elements open */
    enum field field;
    struct sv_buf text[N_FIELDS];
    bool present[N_FIELDS];
    int property_line;
};

static int line_of(const struct parse *p)
{
    return xmlSAX2GetLineNumber(p->ctxt);
}

static void _printf_(4, 5) refuse(struct parse *p, int code, int line, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    if (p->result < 0)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    p->result = sv_error_set(p->err, code, "%s:%d: %s", p->source, line, text);
    xmlStopParser(p->ctxt);
}

static void add_text(struct parse *p, enum field f, const char *s, size_t n)
{
    static const char *const names[N_FIELDS] = { "", "name", "value", "final" };
    int r = sv_buf_put(&p->text[f], s, n);

    if (r == -EMSGSIZE)
        refuse(p, -EMSGSIZE, line_of(p), "<%s> is longer than %zu bytes", names[f], p->text[f].max);
    else if (r < 0)
        refuse(p, r, line_of(p), "out of memory");
}

static void start_property(struct parse *p, int n_attributes, const xmlChar **a)
{
    for (int f = NAME; f < N_FIELDS; f++) {
        p->text[f].len = 0;
        p->present[f] = false;
    }
    p->property_line = line_of(p);
    /* <property name="…" value="…" final="…"/> is Hadoop's short form; each attribute is the five
     * pointers local name, prefix, URI, value, end of value */
    for (int i = 0; i < n_attributes; i++, a += 5) {
        const char *local = (const char *)a[0], *s = (const char *)a[3], *end = (const char *)a[4];
        enum field f = sv_streq(local, "name")    ? NAME
                       : sv_streq(local, "value") ? VALUE
                       : sv_streq(local, "final") ? FINAL
                                                  : NONE;

        if (f == NONE)
            continue;
        p->present[f] = true;
        while (s < end) { /* libxml2 leaves "&" in an attribute in this one spelling */
            const char *amp = memmem(s, (size_t)(end - s), "&#38;", 5);
            const char *stop = amp ? amp + 1 : end;

            add_text(p, f, s, (size_t)(stop - s));
            s = amp ? amp + 5 : end;
        }
    }
}

static void on_start(void *data, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri,
                     int n_namespaces, const xmlChar **namespaces, int n_attributes,
                     int n_defaulted, const xmlChar **attributes)
{
    struct parse *p = data;
    const char *name = (const char *)local;

    (void)n_namespaces;
    (void)namespaces;
    (void)n_defaulted;
    if (p->result < 0)
        return;
    p->depth++;
    if (sv_streq((const char *)uri, XINCLUDE_NS) || sv_streq((const char *)prefix, "xi") ||
        strcmp(name, "include") == 0)
        refuse(p, -EINVAL, line_of(p),
               "<%s%s%s> is refused: no other file is read from a configuration file; put the "
               "properties into this file, or into core-site.xml or yarn-site.xml",
               prefix ? (const char *)prefix : "", prefix ? ":" : "", name);
    else if (p->depth > SV_CONF_XML_MAX_DEPTH)
        refuse(p, -EINVAL, line_of(p), "<%s>: elements are nested deeper than %d", name,
               SV_CONF_XML_MAX_DEPTH);
    else if (p->depth == 1 && strcmp(name, "configuration") != 0)
        refuse(p, -EINVAL, line_of(p), "<%s>: expected <configuration>", name);
    else if (p->depth == 2 && strcmp(name, "property") != 0)
        refuse(p, -EINVAL, line_of(p), "<%s>: expected <property>", name);
    else if (p->depth == 2)
        start_property(p, n_attributes, attributes);
    else if (p->depth == 3) {
        p->field = strcmp(name, "name") == 0    ? NAME
                   : strcmp(name, "value") == 0 ? VALUE
                   : strcmp(name, "final") == 0 ? FINAL
                                                : NONE; /* description, source, tag, … */
        p->present[p->field] = true;
        p->text[p->field].len = 0; /* the last of several wins */
    } else if (p->depth == 4 && p->field != NONE)
        refuse(p, -EINVAL, line_of(p), "<%s>: expected text only in <name>, <value>, <final>",
               name);
}

static void on_text(void *data, const xmlChar *s, int n)
{
    struct parse *p = data;

    if (p->result == 0 && p->depth == 3 && p->field != NONE)
        add_text(p, p->field, (const char *)s, (size_t)n);
}

/* The field's text, NUL-terminated; `trim` removes surrounding blanks. NULL when out of memory. */
static const char *field_text(struct parse *p, enum field f, bool trim)
{
    struct sv_buf *b = &p->text[f];
    char *s, *end;

    b->max++; /* the NUL is not counted by the limit */
    int r = sv_buf_put_u8(b, 0);
    b->max--;
    if (r < 0) {
        refuse(p, r, p->property_line, "out of memory");
        return NULL;
    }
    s = (char *)b->data;
    if (!trim)
        return s;
    s += strspn(s, " \t\r\n\f\v");
    end = s + strlen(s);
    while (end > s && strchr(" \t\r\n\f\v", end[-1]))
        *--end = '\0';
    return s;
}

static void end_property(struct parse *p)
{
    const char *name, *value = NULL, *final;
    bool is_final = false;
    int r;

    name = field_text(p, NAME, true);
    final = field_text(p, FINAL, true);
    if (p->present[VALUE])
        value = field_text(p, VALUE, false);
    if (p->result < 0)
        return;
    if (!p->present[NAME] || !*name) {
        refuse(p, -EINVAL, p->property_line, "<property> without <name>: expected a key");
        return;
    }
    if (p->present[FINAL] && sv_parse_bool(final, &is_final) < 0) {
        refuse(p, -EINVAL, p->property_line, "%s: <final> is \"%.64s\": expected true or false",
               name, final);
        return;
    }
    r = p->fn(name, value, is_final, p->property_line, p->userdata);
    if (r < 0)
        refuse(p, r, p->property_line, "%s: %s", name, strerrordesc_np(-r));
}

static void on_end(void *data, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri)
{
    struct parse *p = data;

    (void)local;
    (void)prefix;
    (void)uri;
    if (p->result < 0)
        return;
    if (p->depth == 2)
        end_property(p);
    if (p->depth == 3)
        p->field = NONE;
    p->depth--;
}

/* Called at "<!DOCTYPE name", before the declarations that follow it are read. */
static void on_doctype(void *data, const xmlChar *name, const xmlChar *external, const xmlChar *sys)
{
    struct parse *p = data;

    (void)name;
    (void)external;
    (void)sys;
    refuse(p, -EINVAL, line_of(p),
           "a DOCTYPE is refused: entities are not read from configuration; remove it");
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
    struct parse *p = data;
    const char *why = e->message ? e->message : "not well-formed XML";

    if (e->level < XML_ERR_ERROR)
        return;
    /* an undeclared namespace prefix (xi:include without xmlns) is reported by on_start */
    if (e->domain == XML_FROM_NAMESPACE)
        return;
    refuse(p, -EINVAL, e->line, "%.*s", (int)strcspn(why, "\n"), why);
}

static void on_warning(void *data, const char *fmt, ...)
{
    (void)data;
    (void)fmt;
}

int sv_conf_xml_parse(const char *xml, size_t len, const char *source, sv_conf_xml_fn fn,
                      void *userdata, struct sv_error *err)
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
    struct parse p = {
        .source = source,
        .fn = fn,
        .userdata = userdata,
        .err = err,
        .text = { [NAME] = SV_BUF_INIT(SV_CONF_XML_MAX_NAME),
                  [VALUE] = SV_BUF_INIT(SV_CONF_XML_MAX_VALUE),
                  [FINAL] = SV_BUF_INIT(64) },
    };

    if (len > SV_CONF_XML_MAX_BYTES)
        return sv_error_set(err, -EFBIG, "%s: larger than %zu MiB", source,
                            SV_CONF_XML_MAX_BYTES >> 20);
    p.ctxt = xmlCreatePushParserCtxt(&sax, &p, NULL, 0, source);
    if (!p.ctxt)
        return sv_error_set(err, -ENOMEM, "%s: out of memory", source);
    (void)xmlCtxtUseOptions(p.ctxt,
                            XML_PARSE_NONET); /* returns unknown options: none here, ignoring */
    for (size_t at = 0; at < len && p.result == 0; at += FEED) {
        size_t n = SV_MIN(FEED, len - at);

        (void)xmlParseChunk(p.ctxt, xml + at, (int)n, 0); /* errors arrive in on_error, ignoring */
    }
    if (p.result == 0)
        (void)xmlParseChunk(p.ctxt, "", 0, 1); /* likewise */
    if (p.result == 0 && !p.ctxt->wellFormed && !p.ctxt->nsWellFormed)
        p.result = sv_error_set(err, -EINVAL, "%s: not well-formed XML", source);
    if (p.ctxt->myDoc)
        xmlFreeDoc(p.ctxt->myDoc);
    xmlFreeParserCtxt(p.ctxt);
    for (int f = NAME; f < N_FIELDS; f++)
        sv_buf_free(&p.text[f]);
    return p.result;
}
