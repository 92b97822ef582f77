/* See site.h. */
#include "service/cluster/site.h"

#include <string.h>

#include "common/buf.h"
#include "common/conf-hidden.h"

#define SITE_MAX ((size_t)1 << 20) /* bytes of the keys that a master gets */

struct site {
    struct sv_buf text;
    struct sv_conf_hidden *hidden;
};

static int put_xml(struct sv_buf *b, const char *s)
{
    int r = 0;

    for (; r == 0 && *s; s++) {
        size_t n = strcspn(s, "&<>");

        r = sv_buf_put(b, s, n);
        s += n;
        if (r < 0 || !*s)
            break;
        r = sv_buf_put_str(b, *s == '&' ? "&amp;" : *s == '<' ? "&lt;" : "&gt;");
    }
    return r;
}

static int put_key(const char *name, const char *value, void *userdata)
{
    struct site *t = userdata;
    int r;

    if (!t->hidden || sv_conf_is_hidden(t->hidden, name))
        return 0;
    r = sv_buf_put_str(&t->text, "<property><name>");
    if (r == 0)
        r = put_xml(&t->text, name);
    if (r == 0)
        r = sv_buf_put_str(&t->text, "</name><value>");
    if (r == 0)
        r = put_xml(&t->text, value);
    return r < 0 ? r : sv_buf_put_str(&t->text, "</value></property>\n");
}

int svc_site_text(struct sv_conf *conf, char **ret, struct sv_error *err)
{
    struct site t = { .text = SV_BUF_INIT(SITE_MAX), .hidden = sv_conf_hidden_new(conf) };
    int r = sv_buf_put_str(&t.text, "<?xml version=\"1.0\"?>\n<configuration>\n");

    if (r == 0)
        r = sv_conf_each(conf, put_key, &t);
    if (r == 0)
        r = sv_buf_put(&t.text, "</configuration>\n", sizeof("</configuration>\n"));
    (void)sv_conf_hidden_free(t.hidden);
    if (r < 0) {
        sv_buf_free(&t.text);
        return sv_error_errno(err, r, "configuration for the master");
    }
    *ret = (char *)t.text.data;
    return 0;
}
