/* The queues, and one of them with its users. */
#ifndef SELVEDGE_RM_LITE_WEB_PAGES_PAGE_QUEUES_H
#define SELVEDGE_RM_LITE_WEB_PAGES_PAGE_QUEUES_H

#include "rm-lite/web/pages/page-frame.h"

/* ?queue=: that one. */
int rm_page_queues(const struct rm_viewer *who, const struct sv_http_request *req,
                   struct sv_http_response *ret) _must_use_;
/* The table of queues, as a part of another page too; `details`: all columns. */
void rm_page_put_queues(struct sv_html *h, const struct rm *rm, bool details);

#endif
