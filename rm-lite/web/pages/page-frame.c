/* See page-frame.h. */
#include "rm-lite/web/pages/page-frame.h"

#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include "common/str.h"

#define ROWS_MAX 1000

static const struct sv_html_link menu[] = { { RM_PAGE_CLUSTER, "Cluster" },
                                            { RM_PAGE_APPS, "Applications" },
                                            { RM_PAGE_SERVICES, "Services" },
                                            { RM_PAGE_QUEUES, "Queues" },
                                            { RM_PAGE_NODES, "Nodes" } };
const struct sv_html_site rm_page_site = { .program = "ResourceManager",
                                           .menu = menu,
                                           .n_menu = SV_ARRAY_LEN(menu),
                                           .refused = "Cannot be done",
                                           .find = RM_PAGE_FIND };

void rm_page_begin(struct sv_html *h, const struct sv_http_request *req, const char *title,
                   const char *here)
{
    sv_html_begin(h, req,
                  &(struct sv_html_frame){
                      .title = title, .site = &rm_page_site, .here = here, .script = true });
}

int rm_page_refuse(const struct sv_http_request *req, unsigned status, struct sv_http_response *ret,
                   const char *fmt, ...)
{
    va_list ap;
    int e;

    va_start(ap, fmt);
    e = sv_html_refuse(&rm_page_site, req, status, ret, fmt, ap);
    va_end(ap);
    return e;
}

size_t rm_page_limit(const struct sv_http_request *req, size_t usual)
{
    const char *text = sv_http_query(req, "limit");
    uint64_t n;

    return text && sv_parse_u64(text, 1, ROWS_MAX, &n) >= 0 ? (size_t)n : usual;
}

void rm_page_options(struct sv_html *h, const char *const *names, size_t n, const char *chosen)
{
    for (size_t i = 0; i < n; i++)
        if (chosen && strcasecmp(chosen, names[i]) == 0)
            sv_html(h, "<option selected>%s</option>", names[i]);
        else
            sv_html(h, "<option>%s</option>", names[i]);
}

void rm_page_keep_user(struct sv_html *h)
{
    if (h->user)
        sv_html(h, "<input type=\"hidden\" name=\"user.name\" value=\"%s\">", h->user);
}
