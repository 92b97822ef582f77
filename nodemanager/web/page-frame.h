/* Shared by the NodeManager's pages: frame, menu and refusals, over sv_html_site. Hostile: names of
 * users and jobs, which common/web/html.h escapes. */
#ifndef SELVEDGE_NODEMANAGER_WEB_PAGE_FRAME_H
#define SELVEDGE_NODEMANAGER_WEB_PAGE_FRAME_H

#include "common/web/html.h"
#include "nodemanager/web/nm-web.h"
#include "nodemanager/web/web-access.h"

#define NM_PAGE_NODE "/node"
#define NM_PAGE_APPS "/node/allApplications"
#define NM_PAGE_CONTAINERS "/node/allContainers"
#define NM_PAGE_ROWS 200
/* Limit of objects that one request scans for the rows of its page. */
#define NM_PAGE_WALK 20000

extern const struct sv_html_site nm_page_site;
/* A page with live plots (html.h): `here` as below. */
void nm_page_begin_live(struct sv_html *h, const struct sv_http_request *req, const char *title,
                        const char *here);
/* `here`: one of the paths above. `refresh_s`: 0, or the browser reloads the page. */
void nm_page_begin(struct sv_html *h, const struct sv_http_request *req, const char *title,
                   const char *here, unsigned refresh_s);
/* A page with the reason for a refusal. */
int nm_page_refuse(const struct sv_http_request *req, unsigned status, struct sv_http_response *ret,
                   const char *fmt, ...) _printf_(4, 5) _must_use_;
int nm_page_forbid(const struct nm_web_caller *who, const char *object,
                   const struct sv_http_request *req, struct sv_http_response *ret) _must_use_;
/* A link to the next page of a list, after the object `last`. */
void nm_page_more(struct sv_html *h, const char *path, const char *last);

#endif
