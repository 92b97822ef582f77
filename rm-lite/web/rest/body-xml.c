/* See body-xml.h. */
#include "rm-lite/web/rest/body-xml.h"

#include <errno.h>
#include <string.h>

#include "common/buf.h"
#include "common/xml.h"

#define TEXT_MAX ((size_t)2 << 20) /* above the size limit of a body */

struct element {
    char name[RM_XML_NAME_MAX + 1];
    json_t *object; /* NULL: no elements yet */
    size_t text_at; /* in p->text */
};

struct parse {
    const char *root;
    int depth;
    size_t n_elements;
    struct element open[RM_XML_DEPTH_MAX];
    struct sv_buf text; /* text of the open elements, concatenated */
    json_t *done;
};

#define REFUSE(x, ...) sv_xml_refuse((x), -EINVAL, sv_xml_line(x), __VA_ARGS__)

static void no_memory(struct sv_xml *x)
{
    sv_xml_refuse(x, -ENOMEM, sv_xml_line(x), "out of memory");
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

static void open_element(struct sv_xml *x, struct parse *p, const char *name)
{
    struct element *e;

    if (p->depth > 0) {
        p->text.len = top(p)->text_at; /* blanks */
        if (!top(p)->object && !(top(p)->object = json_object())) {
            no_memory(x);
            return;
        }
    }
    p->n_elements++;
    e = &p->open[p->depth++];
    *e = (struct element){ .text_at = p->text.len };
    memcpy(e->name, name, strlen(name) + 1);
}

static void on_start(struct sv_xml *x, const char *name, const char **attributes, void *userdata)
{
    struct parse *p = userdata;
    const char *prefix = strrchr(name, ':');

    (void)attributes;
    name = prefix ? prefix + 1 : name;
    if (!*name || strlen(name) > RM_XML_NAME_MAX)
        REFUSE(x, "<%.32s...>: a name that is empty or longer than %d bytes", name,
               RM_XML_NAME_MAX);
    else if (p->depth == RM_XML_DEPTH_MAX)
        REFUSE(x, "<%s>: deeper than %d elements", name, RM_XML_DEPTH_MAX);
    else if (p->n_elements == RM_XML_ELEMENTS_MAX)
        REFUSE(x, "more than %d elements", RM_XML_ELEMENTS_MAX);
    else if (p->depth == 0 && strcmp(name, p->root) != 0)
        REFUSE(x, "<%s>: the document element is <%s>", name, p->root);
    else if (p->depth > 0 && has_text(p, top(p)))
        REFUSE(x, "<%s>: text beside elements", top(p)->name);
    else
        open_element(x, p, name);
}

static void on_text(struct sv_xml *x, const char *s, size_t n, void *userdata)
{
    struct parse *p = userdata;

    if (p->depth > 0 && sv_buf_put(&p->text, s, n) < 0)
        no_memory(x);
}

/* Takes ownership of the value. */
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
    if (e->object)
        return SV_TAKE(e->object);
    if (p->depth == 1)
        return json_object();
    return json_stringn((const char *)p->text.data + e->text_at, p->text.len - e->text_at);
}

static void on_end(struct sv_xml *x, const char *name, void *userdata)
{
    struct parse *p = userdata;
    struct element *e = top(p);
    json_t *value;

    (void)name;
    if (has_text(p, e) && (e->object || p->depth == 1)) {
        REFUSE(x, "<%s>: %s", e->name, e->object ? "text beside elements" : "expected elements");
        return;
    }
    value = value_of(p, e);
    if (!value) { /* the parser returns UTF-8, so memory is the reason */
        no_memory(x);
        return;
    }
    p->text.len = e->text_at;
    p->depth--;
    if (p->depth == 0)
        p->done = value;
    else if (add_member(top(p)->object, e->name, value) < 0)
        no_memory(x);
}

int rm_body_from_xml(const char *xml, size_t len, const char *root, json_t **ret,
                     struct sv_error *err)
{
    const struct sv_xml_events events = {
        .max_depth = RM_XML_DEPTH_MAX + 1, .start = on_start, .end = on_end, .text = on_text
    };
    struct parse p = { .root = root, .text = SV_BUF_INIT(TEXT_MAX) };
    int r = sv_buf_reserve(&p.text, 1); /* never NULL */

    if (r >= 0)
        r = sv_xml_parse(xml, len, "the body's XML", &events, &p, err);
    for (int i = 0; i < p.depth; i++)
        json_decref(p.open[i].object);
    sv_buf_free(&p.text);
    if (r < 0)
        json_decref(p.done);
    else
        *ret = p.done;
    return r;
}
