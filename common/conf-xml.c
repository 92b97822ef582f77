/* Hadoop's configuration XML. The file is the operator's, yet jobs bring configuration files of
 * their own, so the text counts as hostile: a DOCTYPE ends the parse before its contents are read,
 * hence only the five predefined entities exist; nothing is included or fetched; depth, name and
 * value lengths have limits. */
#include "common/conf-xml.h"

#include <errno.h>
#include <string.h>

#include "common/buf.h"
#include "common/str.h"
#include "common/xml.h"

enum field { NONE, NAME, VALUE, FINAL, N_FIELDS };

struct parse {
    struct sv_xml *x;
    sv_conf_xml_fn fn;
    void *userdata;
    enum field field;
    struct sv_buf text[N_FIELDS];
    bool present[N_FIELDS];
    int property_line;
};

static void add_text(struct parse *p, enum field f, const char *s, size_t n)
{
    static const char *const names[N_FIELDS] = { "", "name", "value", "final" };
    int r = sv_buf_put(&p->text[f], s, n);

    if (r == -EMSGSIZE)
        sv_xml_refuse(p->x, -EMSGSIZE, sv_xml_line(p->x), "<%s> is longer than %zu bytes", names[f],
                      p->text[f].max);
    else if (r < 0)
        sv_xml_refuse(p->x, r, sv_xml_line(p->x), "out of memory");
}

static enum field field_of(const char *name)
{
    return sv_streq(name, "name")    ? NAME
           : sv_streq(name, "value") ? VALUE
           : sv_streq(name, "final") ? FINAL
                                     : NONE; /* description, source, tag, … */
}

/* <property name="…" value="…" final="…"/> is Hadoop's short form. */
static void start_property(struct parse *p, const char **a)
{
    for (int f = NAME; f < N_FIELDS; f++) {
        p->text[f].len = 0;
        p->present[f] = false;
    }
    p->property_line = sv_xml_line(p->x);
    for (; a[0]; a += 2) {
        enum field f = field_of(a[0]);

        if (f == NONE)
            continue;
        p->present[f] = true;
        add_text(p, f, a[1], strlen(a[1]));
    }
}

/* <include> by any prefix: XInclude is a namespace, whose prefix the document chooses. */
static bool is_include(const char *name)
{
    const char *colon = strchr(name, ':');

    return sv_streq(colon ? colon + 1 : name, "include") || sv_has_prefix(name, "xi:");
}

static void on_start(struct sv_xml *x, const char *name, const char **attributes, void *userdata)
{
    struct parse *p = userdata;
    const int depth = sv_xml_depth(x);

    p->x = x;
    if (is_include(name))
        sv_xml_refuse(x, -EINVAL, sv_xml_line(x),
                      "<%s> is refused: no other file is read from a configuration file; put the "
                      "properties into this file, or into core-site.xml or yarn-site.xml",
                      name);
    else if (depth == 1 && strcmp(name, "configuration") != 0)
        sv_xml_refuse(x, -EINVAL, sv_xml_line(x), "<%s>: expected <configuration>", name);
    else if (depth == 2 && strcmp(name, "property") != 0)
        sv_xml_refuse(x, -EINVAL, sv_xml_line(x), "<%s>: expected <property>", name);
    else if (depth == 2)
        start_property(p, attributes);
    else if (depth == 3) {
        p->field = field_of(name);
        p->present[p->field] = true;
        p->text[p->field].len = 0; /* the last of several values wins */
    } else if (depth == 4 && p->field != NONE)
        sv_xml_refuse(x, -EINVAL, sv_xml_line(x),
                      "<%s>: expected text only in <name>, <value>, <final>", name);
}

static void on_text(struct sv_xml *x, const char *s, size_t n, void *userdata)
{
    struct parse *p = userdata;

    if (sv_xml_depth(x) == 3 && p->field != NONE)
        add_text(p, p->field, s, n);
}

/* Returns the field's text, NUL-terminated; `trim` removes surrounding blanks. NULL when out of
 * memory. */
static const char *field_text(struct parse *p, enum field f, bool trim)
{
    struct sv_buf *b = &p->text[f];
    char *s, *end;

    b->max++; /* the limit excludes the NUL */
    int r = sv_buf_put_u8(b, 0);
    b->max--;
    if (r < 0) {
        sv_xml_refuse(p->x, r, p->property_line, "out of memory");
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
    if (sv_xml_refused(p->x))
        return;
    if (!p->present[NAME] || !*name) {
        sv_xml_refuse(p->x, -EINVAL, p->property_line, "<property> without <name>: expected a key");
        return;
    }
    if (p->present[FINAL] && sv_parse_bool(final, &is_final) < 0) {
        sv_xml_refuse(p->x, -EINVAL, p->property_line,
                      "%s: <final> is \"%.64s\": expected true or false", name, final);
        return;
    }
    r = p->fn(name, value, is_final, p->property_line, p->userdata);
    if (r < 0)
        sv_xml_refuse(p->x, r, p->property_line, "%s: %s", name, strerrordesc_np(-r));
}

static void on_end(struct sv_xml *x, const char *name, void *userdata)
{
    struct parse *p = userdata;

    (void)name;
    if (sv_xml_depth(x) == 2)
        end_property(p);
    if (sv_xml_depth(x) == 3)
        p->field = NONE;
}

int sv_conf_xml_parse(const char *xml, size_t len, const char *source, sv_conf_xml_fn fn,
                      void *userdata, struct sv_error *err)
{
    static const struct sv_xml_events events = {
        .max_depth = SV_CONF_XML_MAX_DEPTH, .start = on_start, .end = on_end, .text = on_text
    };
    struct parse p = {
        .fn = fn,
        .userdata = userdata,
        .text = { [NAME] = SV_BUF_INIT(SV_CONF_XML_MAX_NAME),
                  [VALUE] = SV_BUF_INIT(SV_CONF_XML_MAX_VALUE),
                  [FINAL] = SV_BUF_INIT(64) },
    };
    int r = sv_xml_parse(xml, len, source, &events, &p, err);

    for (int f = NAME; f < N_FIELDS; f++)
        sv_buf_free(&p.text[f]);
    return r;
}
