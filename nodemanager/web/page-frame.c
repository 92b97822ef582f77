/* See page-frame.h. */
#include "nodemanager/web/page-frame.h"

#include <stdarg.h>
#include <stdio.h>

static const struct sv_html_link menu[] = { { NM_PAGE_NODE, "Node" },
                                            { NM_PAGE_APPS, "Applications" },
                                            { NM_PAGE_CONTAINERS, "Containers" } };
const struct sv_html_site nm_page_site = { .program = "NodeManager",
                                           .menu = menu,
                                           .n_menu = SV_ARRAY_LEN(menu),
                                           .refused = "Not understood" };

static void begin(struct sv_html *h, const struct sv_http_request *req, const char *title,
                  const char *here, unsigned refresh_s, bool script)
{
    sv_html_begin(h, req,
                  &(struct sv_html_frame){ .title = title,
                                           .site = &nm_page_site,
                                           .here = here,
                                           .refresh_s = refresh_s,
                                           .script = script });
}

void nm_page_begin(struct sv_html *h, const struct sv_http_request *req, const char *title,
                   const char *here, unsigned refresh_s)
{
    begin(h, req, title, here, refresh_s, false);
}

void nm_page_begin_live(struct sv_html *h, const struct sv_http_request *req, const char *title,
                        const char *here)
{
    begin(h, req, title, here, 0, true);
}

int nm_page_refuse(const struct sv_http_request *req, unsigned status, struct sv_http_response *ret,
                   const char *fmt, ...)
{
    va_list ap;
    int e;

    va_start(ap, fmt);
    e = sv_html_refuse(&nm_page_site, req, status, ret, fmt, ap);
    va_end(ap);
    return e;
}

int nm_page_forbid(const struct nm_web_caller *who, const char *object,
                   const struct sv_http_request *req, struct sv_http_response *ret)
{
    return nm_page_refuse(req, 403, ret,
                          "User \"%.64s\" may not view %.100s: with yarn.acl.enable its owner, its "
                          "VIEW_APP list and administrators may.",
                          who->user, object);
}

void nm_page_more(struct sv_html *h, const char *path, const char *last)
{
    const char *query[] = { "after", last, NULL };

    sv_html(h, "<p><a rel=\"next\"");
    sv_html_href(h, path, query);
    sv_html(h, ">More</a></p>\n");
}
