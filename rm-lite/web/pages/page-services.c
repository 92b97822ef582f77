/* See page-services.h. Hostile: the query; names of users and services. */
#include "rm-lite/web/pages/page-services.h"

#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/scheduler/scheduler.h"

#define TYPE "yarn-service" /* Hadoop's word, too */
#define ROWS 100
#define ROWS_MAX 200      /* each is compared with those above it */
#define COMPARED 16       /* comparisons that cost as much as a look at one more application */
#define NAME_MAX_BYTES 63 /* of a service's name, a DNS label */
#define USER_MAX_BYTES 255

/* Anybody can submit an application of this type, with any name. */
static bool is_service(const struct rm_app *app)
{
    return sv_streq(app->type, TYPE) && strnlen(app->name, NAME_MAX_BYTES + 1) <= NAME_MAX_BYTES;
}

/* A service that was started again has an application each time: the newest is the service. */
static bool shown_already(struct rm_app *const *rows, size_t n, const struct rm_app *app)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i]->name, app->name) == 0 &&
            strncmp(rows[i]->user, app->user, USER_MAX_BYTES) == 0)
            return true;
    return false;
}

static bool has_master(const struct rm_app *app)
{
    const char *url = app->current ? app->current->tracking_url : NULL;

    return !rm_app_is_final(app) && url && *url && !sv_streq(url, "N/A");
}

/* Containers but the master's. */
static void put_instances(struct sv_html *h, const struct rm_viewer *who, const struct rm_app *app)
{
    struct rm_app_usage use = { .queue_path = NULL };

    if (rm_viewer_sees(who, app) && !rm_app_is_final(app) &&
        rm_sched_app_usage(who->rm->sched, app->id, &use) >= 0)
        sv_html(h, "<td class=\"n\">%d</td>", SV_MAX(use.containers - 1, 0));
    else
        sv_html(h, "<td class=\"n\"></td>");
}

static void put_status(struct sv_html *h, const struct rm_app *app)
{
    char path[YARN_ID_TEXT_MAX + 16];

    sv_html(h, "<td>");
    if (has_master(app)) {
        (void)snprintf(path, sizeof(path), "/proxy/%s/", app->id_str);
        sv_html_link(h, path, "Status");
    }
    sv_html(h, "</td>");
}

static void put_row(struct sv_html *h, const struct rm_viewer *who, const struct rm_app *app)
{
    bool live = !rm_app_is_final(app) && app->current;
    char text[SV_HTML_WORD];

    sv_html(h, "<tr><td>%.200s</td><td>%.100s</td><td class=\"x\">%.200s</td><td>", app->name,
            app->user, app->queue);
    sv_html_state(h, rm_app_wire_state_name(app));
    sv_html(h, "</td>");
    put_instances(h, who, app);
    sv_html(h, "<td>");
    if (live) /* the master's progress: those that are ready of those that are wanted */
        sv_html_bar(h, (struct sv_html_bar){ .used = (double)app->current->progress,
                                             .mark = -1,
                                             .most = -1,
                                             .full = 1,
                                             .calm = true });
    sv_html(h, "</td><td class=\"x t\">%s</td><td class=\"id\">",
            rm_viewer_sees(who, app) ? sv_html_time(app->start_ms, text) : "");
    sv_html_link_below(h, "/cluster/app/", app->id_str);
    sv_html(h, "</td>");
    put_status(h, app);
    sv_html(h, "</tr>\n");
}

/* Returns how many there are; *ret_more: the walk ended before the oldest application. */
static size_t put_rows(struct sv_html *h, const struct rm_viewer *who, size_t limit, bool *ret_more)
{
    struct rm_app *first = who->rm->app_list, *app = first ? first->prev : NULL, *rows[ROWS_MAX];
    size_t n = 0;

    for (size_t walked = 0; app && n < limit && walked < RM_PAGE_WALK; walked++) {
        bool service = is_service(app);

        walked += service ? n / COMPARED : 0;
        if (service && !shown_already(rows, n, app)) {
            put_row(h, who, app);
            rows[n++] = app;
        }
        app = app == first ? NULL : app->prev;
    }
    *ret_more = app != NULL;
    return n;
}

int rm_page_services(const struct rm_viewer *who, const struct sv_http_request *req,
                     struct sv_http_response *ret)
{
    static const char *const heads[] = { "Service",    "User",  "-Queue",   "State",
                                         "#Instances", "Ready", "-Started", "Application",
                                         "",           NULL };
    size_t limit = SV_MIN(rm_page_limit(req, ROWS), (size_t)ROWS_MAX), n;
    struct sv_html h;
    bool more;

    rm_page_begin(&h, req, "Services", RM_PAGE_SERVICES);
    sv_html_table(&h, heads);
    n = put_rows(&h, who, limit, &more);
    sv_html_table_end(&h);
    if (n == 0)
        sv_html(&h, "<p class=\"dim\">%s</p>\n",
                more ? "None among the newest applications."
                     : "No services: selvedge service launch starts one.");
    else if (more)
        sv_html(&h, "<p class=\"dim\">There may be older ones.</p>\n");
    return sv_html_end(&h, 200, ret);
}
