/* See body-xml.h. Called by web-body.c and its fuzz target. By common/xml.h, as for configuration
 * files: nothing is fetched, and a DOCTYPE ends the parse before it is read. */
#include "rm-lite/body-xml.h"

#include <errno.h>
#include <string.h>

#include "common/buf.h"
#include "common/xml.h"

#define TEXT_MAX ((size_t)2 << 20) /* more than a body has */

struct element {
    char name[RM_XML_NAME_MAX + 1];
    json_t *object; /* NULL: no elements in it so far */
    size_t text_at; /* in p->text */
};

struct parse {
    struct sv_xml *x;
    const char *root;
    int depth;
    size_t n_elements;
    struct element open[RM_XML_DEPTH_MAX];
    struct sv_buf text; /* of the open elements, one after the other */
    json_t *done;
};

#define refuse(p, code, ...) sv_xml_refuse((p)->x, (code), sv_xml_line((p)->x), __VA_ARGS__)

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

static void on_start(struct sv_xml *x, const char *name, const char **attributes, void *userdata)
{
    struct parse *p = userdata;
    const char *colon = strchr(name, ':'); /* behind a namespace's prefix */
    struct element *e;

    (void)attributes;
    p->x = x;
    name = colon ? colon + 1 : name;
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

static void on_text(struct sv_xml *x, const char *s, size_t n, void *userdata)
{
    struct parse *p = userdata;

    (void)x;
    if (sv_buf_put(&p->text, s, n) < 0)
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

static void on_end(struct sv_xml *x, const char *name, void *userdata)
{
    struct parse *p = userdata;
    struct element *e;
    json_t *value;

    (void)x;
    (void)name;
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
    if (!value) { /* expat gives UTF-8, so memory it is */
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

int rm_body_from_xml(const char *xml, size_t len, const char *root, json_t **ret,
                     struct sv_error *err)
{
    static const struct sv_xml_events events = {
        .max_depth = RM_XML_DEPTH_MAX + 1, .start = on_start, .end = on_end, .text = on_text
    };
    struct parse p = { .root = root, .text = SV_BUF_INIT(TEXT_MAX) };
    const int r = sv_xml_parse(xml, len, "the body's XML", &events, &p, err);

    for (int i = 0; i < p.depth; i++)
        json_decref(p.open[i].object);
    sv_buf_free(&p.text);
    if (r < 0)
        json_decref(p.done);
    else
        *ret = p.done;
    return r;
}
