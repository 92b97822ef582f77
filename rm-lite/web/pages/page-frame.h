/* Shared by the ResourceManager's pages: frame, menu and refusals, over sv_html_site. Hostile:
 * names of users and jobs, which common/web/html.h escapes. */
#ifndef SELVEDGE_RM_LITE_WEB_PAGES_PAGE_FRAME_H
#define SELVEDGE_RM_LITE_WEB_PAGES_PAGE_FRAME_H

#include "common/web/html.h"
#include "rm-lite/requests/viewer.h"

#define RM_PAGE_CLUSTER "/cluster"
#define RM_PAGE_APPS "/cluster/apps"
#define RM_PAGE_SERVICES "/cluster/services"
#define RM_PAGE_NODES "/cluster/nodes"
#define RM_PAGE_QUEUES "/cluster/scheduler"
#define RM_PAGE_FIND "/cluster/find" /* ?id= */
/* Limit of objects that one request scans for the rows of its page, and the bytes of a searched
 * name that count as one more: together less than 5 ms. */
#define RM_PAGE_WALK 20000
#define RM_PAGE_WALK_BYTES 64

extern const struct sv_html_site rm_page_site;
/* `here`: one of the paths above. */
void rm_page_begin(struct sv_html *h, const struct sv_http_request *req, const char *title,
                   const char *here);
/* A page with the reason for a refusal. */
int rm_page_refuse(const struct sv_http_request *req, unsigned status, struct sv_http_response *ret,
                   const char *fmt, ...) _printf_(4, 5) _must_use_;
/* Number of rows by ?limit=, default `usual`. */
size_t rm_page_limit(const struct sv_http_request *req, size_t usual);
/* <option>s; the `chosen` one is selected. */
void rm_page_options(struct sv_html *h, const char *const *names, size_t n, const char *chosen);
/* Preserves user.name of the request as a hidden field of a GET form. */
void rm_page_keep_user(struct sv_html *h);

#endif
