/* The start page. */
#ifndef SELVEDGE_RM_LITE_WEB_PAGES_PAGE_CLUSTER_H
#define SELVEDGE_RM_LITE_WEB_PAGES_PAGE_CLUSTER_H

#include "rm-lite/web/pages/page-frame.h"

int rm_page_cluster(const struct rm_viewer *who, const struct sv_http_request *req,
                    struct sv_http_response *ret) _must_use_;

#endif
