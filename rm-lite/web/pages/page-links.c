/* See page-links.h. */
#include "rm-lite/web/pages/page-links.h"

#include <stdio.h>

void rm_page_put_logs(struct sv_html *h, const struct rm *rm, const char *http,
                      const char *container, const char *user)
{
    char path[512];

    if (!http || !*http || *http == ':')
        return;
    (void)snprintf(path, sizeof(path), "node/containerlogs/%.100s/%.256s", container, user);
    sv_html(h, "<a");
    sv_html_href_out(h, rm->conf.web_server.https, http, path);
    sv_html(h, ">Logs</a>");
}

void rm_page_put_node(struct sv_html *h, const struct rm *rm, const char *http, const char *name)
{
    if (!http || !*http || *http == ':') {
        sv_html(h, "%.300s", name);
        return;
    }
    sv_html(h, "<a");
    sv_html_href_out(h, rm->conf.web_server.https, http, "node");
    sv_html(h, ">%.300s</a>", name);
}
