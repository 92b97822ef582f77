/* See hosts-xml.h. */
#include "rm-lite/nodes/hosts-xml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/str.h"
#include "common/xml.h"

#define BLANKS " \t\r\n\f"

struct list {
    struct rm_name_set *set;
    bool in_host;                /* a <host> is open */
    bool timed;                  /* it has a <timeout> */
    struct sv_buf name, timeout; /* element texts */
    struct sv_buf *into;         /* one of these; NULL: ignored text */
};

static void put(struct sv_xml *x, struct sv_buf *b, const char *s, size_t n)
{
    const int r = sv_buf_put(b, s, n);

    if (r < 0)
        sv_xml_refuse(x, r, sv_xml_line(x), "<host>: its text is too long, or out of memory");
}

static void on_start(struct sv_xml *x, const char *name, const char **attributes, void *userdata)
{
    struct list *l = userdata;

    (void)attributes;
    if (sv_xml_depth(x) == 2) {
        l->name.len = l->timeout.len = 0;
        l->timed = false;
        l->in_host = sv_streq(name, "host");
    } else if (sv_xml_depth(x) == 3 && l->in_host && sv_streq(name, "name"))
        l->into = &l->name;
    else if (sv_xml_depth(x) == 3 && l->in_host && sv_streq(name, "timeout")) {
        l->into = &l->timeout;
        l->timeout.len = 0; /* the last of several wins */
        l->timed = true;
    }
}

static void on_text(struct sv_xml *x, const char *s, size_t n, void *userdata)
{
    struct list *l = userdata;

    if (l->into)
        put(x, l->into, s, n);
}

static int parse_timeout(char *text, int64_t *ret_ms)
{
    int64_t s;
    int r;

    text += strspn(text, BLANKS);
    text[strcspn(text, BLANKS)] = 0;
    r = sv_parse_i64(text, INT32_MIN, INT32_MAX, &s);
    if (r >= 0)
        *ret_ms = s < 0 ? -1 : s * 1000;
    return r;
}

/* The timeout applies to all names of the host, in any order of the elements. */
static void add_host(struct sv_xml *x, struct list *l)
{
    int64_t timeout_ms = RM_NO_TIMEOUT;
    char *rest, *word;

    put(x, &l->timeout, "", 1);
    put(x, &l->name, "", 1);
    if (sv_xml_refused(x))
        return;
    if (l->timed && parse_timeout((char *)l->timeout.data, &timeout_ms) < 0) {
        sv_xml_refuse(x, -EINVAL, sv_xml_line(x), "<timeout> is no number of seconds");
        return;
    }
    rest = (char *)l->name.data;
    while ((word = strsep(&rest, BLANKS)))
        if (*word)
            rm_set_add(&l->set, word)->number = timeout_ms;
}

static void on_end(struct sv_xml *x, const char *name, void *userdata)
{
    struct list *l = userdata;

    (void)name;
    if (sv_xml_depth(x) == 3 && l->into == &l->name)
        put(x, &l->name, " ", 1); /* before the next <name> */
    if (sv_xml_depth(x) == 3)
        l->into = NULL;
    if (sv_xml_depth(x) == 2 && l->in_host)
        add_host(x, l);
}

int rm_hosts_xml(const char *text, size_t len, const char *path, struct rm_name_set **ret,
                 struct sv_error *err)
{
    static const struct sv_xml_events events = {
        .ignore_doctype = true, .start = on_start, .end = on_end, .text = on_text
    };
    struct list l = { .name = SV_BUF_INIT(SV_XML_MAX_BYTES), .timeout = SV_BUF_INIT(64) };
    const int r = sv_xml_parse(text, len, path, &events, &l, err);

    sv_buf_free(&l.name);
    sv_buf_free(&l.timeout);
    if (r < 0) {
        rm_set_clear(&l.set);
        return sv_error_wrap(err, "list of nodes");
    }
    *ret = l.set;
    return 0;
}
