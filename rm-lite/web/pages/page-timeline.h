/* Parts of an application's page: the lives of its containers along a line of time, and those that
 * failed with the last lines that they wrote. From what the ResourceManager keeps: running
 * containers and the last ended ones (ended-containers.h); a restart forgets those. */
#ifndef SELVEDGE_RM_LITE_WEB_PAGES_PAGE_TIMELINE_H
#define SELVEDGE_RM_LITE_WEB_PAGES_PAGE_TIMELINE_H

#include "rm-lite/web/pages/page-frame.h"

#define RM_TIMELINE_ROWS 100
#define RM_FAILURES_SHOWN 3
#define RM_FAILURE_LINES 20

void rm_page_put_timeline(struct sv_html *h, const struct rm_app *app);
void rm_page_put_failures(struct sv_html *h, const struct rm_app *app);

/* For tests: the last `n` lines of the last error file in diagnostics, of the whole text if there
 * is none. */
const char *rm_page_last_lines(const char *diagnostics, int n);

#endif
