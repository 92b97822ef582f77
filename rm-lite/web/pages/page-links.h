/* Links from a page to those of a node. Hostile: addresses, which nodes report. */
#ifndef SELVEDGE_RM_LITE_WEB_PAGES_PAGE_LINKS_H
#define SELVEDGE_RM_LITE_WEB_PAGES_PAGE_LINKS_H

#include "common/web/html.h"
#include "rm-lite/core/context.h"

/* To the container's logs; nothing without an address. */
void rm_page_put_logs(struct sv_html *h, const struct rm *rm, const char *http,
                      const char *container, const char *user);
/* The node's name, with a link to its page if it has an address. */
void rm_page_put_node(struct sv_html *h, const struct rm *rm, const char *http, const char *name);

#endif
