/* See page-apps.h. Hostile: the query. */
#include "rm-lite/web/pages/page-apps.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/clock.h"
#include "common/str.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/requests/wait-reason.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/web/pages/live.h"
#include "rm-lite/web/rest/web-json.h"

#define ROWS 100

static const char *const states[] = { "ACCEPTED", "RUNNING",   "FINISHED", "FAILED",
                                      "KILLED",   "SUBMITTED", "NEW",      "NEW_SAVING" };

struct wanted { /* filter; "" or NULL: any */
    const char *state, *user, *queue, *name;
};

static bool is_set(const char *s)
{
    return s && *s;
}

static bool takes(const struct wanted *w, const struct rm_app *app)
{
    const char *last = strrchr(app->queue, '.');

    return (!is_set(w->state) || strcasecmp(w->state, rm_app_wire_state_name(app)) == 0) &&
           (!is_set(w->user) || strcmp(w->user, app->user) == 0) &&
           (!is_set(w->queue) || strcmp(w->queue, app->queue) == 0 ||
            (last && strcmp(w->queue, last + 1) == 0)) &&
           (!is_set(w->name) || strcasestr(app->name, w->name) || strstr(app->id_str, w->name));
}

/* ---- Rows ---- */

static void begin_table(struct sv_html *h)
{
    static const char *const heads[] = { "Application", "User",    "Name",      "-Queue",
                                         "State",       "-Result", "-Started",  "-Lasted",
                                         "#Containers", "-Memory", "-Progress", NULL };

    sv_html_table(h, heads);
}

/* Only those who may view the application see times and usage. */
static void put_use(struct sv_html *h, struct rm_app *app)
{
    struct rm_app_usage use = { .queue_path = NULL };
    char text[SV_HTML_WORD];
    int64_t end = app->finish_ms ? app->finish_ms : sv_wall_ms();
    bool live = !rm_app_is_final(app) && rm_sched_app_usage(app->rm->sched, app->id, &use) >= 0;

    sv_html(h, "<td class=\"x t\">%s</td>", sv_html_time(app->start_ms, text));
    sv_html(h, "<td class=\"x t\">%s</td>", sv_html_span(end - app->start_ms, text));
    if (live)
        sv_html(h, "<td class=\"n\">%d</td><td class=\"x t\">%s</td>", use.containers,
                sv_html_mb(use.used.mem, text));
    else
        sv_html(h, "<td class=\"n\"></td><td class=\"x\"></td>");
}

/* Why one that has not begun waits. */
static void put_reason(struct sv_html *h, const struct rm_viewer *who, const struct rm_app *app)
{
    char waits[RM_WAIT_TEXT_MAX];

    if (app->state == RM_APP_ST_ACCEPTED && rm_viewer_sees(who, app) && *rm_wait_reason(app, waits))
        sv_html(h, "<br><span class=\"dim\">%.200s</span>", waits);
}

static void put_row(struct sv_html *h, const struct rm_viewer *who, struct rm_app *app)
{
    double progress = rm_app_final_stored(app) ? 1
                      : app->current           ? (double)app->current->progress
                                               : 0;

    sv_html(h, "<tr><td class=\"id\">");
    sv_html_link_below(h, "/cluster/app/", app->id_str);
    sv_html(h, "</td><td class=\"any\">%.100s</td><td class=\"any\">%.200s", app->user, app->name);
    put_reason(h, who, app);
    sv_html(h, "</td><td class=\"any x\">%.200s</td><td>", app->queue);
    sv_html_state(h, rm_app_wire_state_name(app));
    sv_html(h, "</td><td class=\"x\">");
    if (rm_app_final_stored(app))
        sv_html_state(h, rm_json_final(rm_app_wire_final(app)));
    sv_html(h, "</td>");
    if (rm_viewer_sees(who, app))
        put_use(h, app);
    else
        sv_html(h, "<td class=\"x\"></td><td class=\"x\"></td><td></td><td class=\"x\"></td>");
    sv_html(h, "<td class=\"x\">");
    sv_html_bar(h, (struct sv_html_bar){
                       .used = progress, .mark = -1, .most = -1, .full = 1, .calm = true });
    sv_html(h, "</td></tr>\n");
}

static struct rm_app *older(const struct rm *rm, const struct rm_app *app)
{
    return app == rm->app_list ? NULL : app->prev;
}

/* The application after the one named by ?before=, which may be gone. */
static struct rm_app *start_of(const struct rm *rm, const char *before)
{
    struct rm_app *app = rm->app_list ? rm->app_list->prev : NULL, *at;
    struct yarn_app_id id;

    if (!is_set(before) || yarn_app_id_parse(before, &id) < 0)
        return app;
    at = rm_app_find(rm, id);
    if (at)
        return older(rm, at);
    for (size_t i = 0; app && i < RM_PAGE_WALK && yarn_app_id_cmp(app->id, id) >= 0; i++)
        app = older(rm, app);
    return app;
}

/* Searching a long name costs as much as looking at many applications. */
static size_t cost_of(const struct wanted *w, const struct rm_app *app)
{
    return 1 + (is_set(w->name) ? strlen(app->name) / RM_PAGE_WALK_BYTES : 0);
}

/* Adds rows from `app` on; returns the last application scanned, or NULL if there is no older
 * one. */
static const struct rm_app *put_rows(struct sv_html *h, const struct rm_viewer *who,
                                     struct rm_app *app, const struct wanted *w, size_t limit,
                                     size_t *ret_shown)
{
    size_t walked = 0, shown = 0;
    const struct rm_app *last = NULL;

    for (; app && shown < limit && walked < RM_PAGE_WALK; app = older(who->rm, app)) {
        last = app;
        walked += cost_of(w, app);
        if (!takes(w, app))
            continue;
        put_row(h, who, app);
        shown++;
    }
    *ret_shown = shown;
    return app ? last : NULL;
}

void rm_page_newest_apps(struct sv_html *h, const struct rm_viewer *who, size_t n)
{
    const struct rm_app *rest;
    size_t shown;

    sv_html_part(h, "apps");
    begin_table(h);
    rest = put_rows(h, who, start_of(who->rm, NULL), &(struct wanted){ 0 }, n, &shown);
    sv_html_table_end(h);
    if (shown == 0)
        sv_html(h, "<p class=\"dim\">No applications.</p>\n");
    sv_html_part_end(h);
    sv_html(h, "<p class=\"links\">");
    sv_html_link(h, RM_PAGE_APPS, rest ? "All applications" : "Search applications");
    sv_html(h, "</p>\n");
}

/* ---- The page ---- */

static void put_form(struct sv_html *h, const struct wanted *w)
{
    sv_html(h, "<form method=\"get\" action=\"" RM_PAGE_APPS "\">");
    rm_page_keep_user(h);
    sv_html(h, "<label>State<select name=\"state\"><option value=\"\">any</option>");
    rm_page_options(h, states, SV_ARRAY_LEN(states), w->state);
    sv_html(h,
            "</select></label>\n<label>User<input name=\"user\" size=\"10\" value=\"%s\"></label>\n"
            "<label>Queue<input name=\"queue\" size=\"12\" value=\"%s\"></label>\n"
            "<label>Name or id has<input name=\"name\" size=\"12\" value=\"%s\"></label>\n"
            "<button>Filter</button></form>\n",
            w->user, w->queue, w->name);
}

static void put_more(struct sv_html *h, const struct sv_http_request *req, const struct wanted *w,
                     const struct rm_app *last, const char *before)
{
    const char *query[] = { "state",  w->state, "user",  w->user, "queue",
                            w->queue, "name",   w->name, "limit", sv_http_query(req, "limit"),
                            "before", NULL,     NULL };

    sv_html(h, "<p class=\"links\">");
    if (is_set(before)) {
        query[11] = "";
        sv_html(h, "<a");
        sv_html_href(h, RM_PAGE_APPS, query);
        sv_html(h, ">Newest</a> ");
    }
    if (last) {
        query[11] = last->id_str;
        sv_html(h, "<a rel=\"next\"");
        sv_html_href(h, RM_PAGE_APPS, query);
        sv_html(h, ">Older</a>");
    }
    sv_html(h, "</p>\n");
}

int rm_page_apps(const struct rm_viewer *who, const struct sv_http_request *req, const char *state,
                 struct sv_http_response *ret)
{
    const struct wanted w = { .state = is_set(state) ? state : sv_http_query(req, "state"),
                              .user = sv_http_query(req, "user"),
                              .queue = sv_http_query(req, "queue"),
                              .name = sv_http_query(req, "name") };
    const char *before = sv_http_query(req, "before");
    const struct rm_app *last;
    struct sv_html h;
    size_t shown;

    rm_page_begin(&h, req, "Applications", RM_PAGE_APPS);
    put_form(&h, &w);
    sv_html_follow(&h, RM_LIVE_APPS);
    sv_html_part(&h, "apps");
    begin_table(&h);
    last = put_rows(&h, who, start_of(who->rm, before), &w, rm_page_limit(req, ROWS), &shown);
    sv_html_table_end(&h);
    if (shown == 0)
        sv_html(&h, "<p class=\"dim\">%s</p>\n",
                last ? "None among those looked at; there are older ones."
                     : "No application is like that.");
    put_more(&h, req, &w, last, before);
    sv_html_part_end(&h);
    return sv_html_end(&h, 200, ret);
}
