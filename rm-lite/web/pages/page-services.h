/* The list of long-running services: applications of the type yarn-service, newest first. All of it
 * is what the ResourceManager knows; the state of components is their master's, behind a link. */
#ifndef SELVEDGE_RM_LITE_WEB_PAGES_PAGE_SERVICES_H
#define SELVEDGE_RM_LITE_WEB_PAGES_PAGE_SERVICES_H

#include "rm-lite/web/pages/page-frame.h"

int rm_page_services(const struct rm_viewer *who, const struct sv_http_request *req,
                     struct sv_http_response *ret) _must_use_;

#endif
