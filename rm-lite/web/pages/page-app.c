/* See page-app.h. Hostile: ids of paths, and every text of an application. */
#include "rm-lite/web/pages/page-app.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/exit-meaning.h"
#include "common/str.h"
#include "rm-lite/core/log-status.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/fsm/app-lifetime.h"
#include "rm-lite/requests/wait-reason.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/web/pages/live.h"
#include "rm-lite/web/pages/page-links.h"
#include "rm-lite/web/pages/page-past.h"
#include "rm-lite/web/pages/page-timeline.h"
#include "rm-lite/web/rest/web-json.h"

#define ATTEMPTS_MAX 100
#define CONTAINERS 200
#define TEXT_MAX "%.20000s" /* diagnostics */

static void begin_facts(struct sv_html *h)
{
    sv_html(h, "<div class=\"wide\"><table class=\"facts\"><tbody>\n");
}

static void put_diagnostics(struct sv_html *h, const char *text)
{
    if (text && *text)
        sv_html(h, "<h2>Diagnostics</h2>\n<pre>" TEXT_MAX "</pre>\n", text);
}

/* ---- Containers ---- */

static void put_exit(struct sv_html *h, const struct rm_container *c)
{
    const char *meaning = sv_exit_meaning(c->exit_status, c->diagnostics);

    if (!c->finish_ms)
        return;
    sv_html(h, "%d", c->exit_status);
    if (meaning)
        sv_html(h, ": %s", meaning);
}

static void put_container(struct sv_html *h, const struct rm_container *c)
{
    int64_t end = c->finish_ms ? c->finish_ms : sv_wall_ms();
    char text[SV_HTML_WORD], node[300];

    sv_html(h, "<tr><td class=\"id\">");
    sv_html_link_below(h, "/cluster/container/", c->id_str);
    sv_html(h, "</td><td>");
    rm_page_put_node(h, c->app->rm, c->node_http, yarn_node_id_text(&c->node_id, node));
    sv_html(h, "</td><td>");
    sv_html_state(h, rm_container_fsm.state_names[c->state]);
    sv_html(h, "</td><td class=\"n\">%s</td>", sv_html_mb(c->resource.mem, text));
    sv_html(h, "<td class=\"n x\">%lld</td>", (long long)c->resource.vcores);
    sv_html(h, "<td class=\"x t\">%s</td>", sv_html_time(c->created_ms, text));
    sv_html(h, "<td class=\"x t\">%s</td><td>", sv_html_span(end - c->created_ms, text));
    rm_page_put_logs(h, c->app->rm, c->node_http, c->id_str, c->app->user);
    sv_html(h, "</td></tr>\n");
}

/* The container at which ?after= continues. */
static const struct rm_container *first_container(const struct rm_app *app,
                                                  const struct sv_http_request *req)
{
    const char *after = sv_http_query(req, "after");
    const struct rm_container *c;
    struct yarn_container_id id;

    if (!after || yarn_container_id_parse(after, &id) < 0)
        return app->containers;
    c = rm_container_find(app->rm, id);
    return c && c->app == app ? c->p_next : app->containers;
}

/* The containers of one attempt, or of all if NULL; paged. */
static void put_containers(struct sv_html *h, const struct rm_app *app,
                           const struct rm_attempt *att, const struct sv_http_request *req,
                           const char *path)
{
    static const char *const heads[] = { "Container", "Node",   "State", "#Memory", "-Vcores",
                                         "-Started",  "-Lasts", "",      NULL };
    const struct rm_container *c = first_container(app, req), *last = NULL;
    size_t shown = 0, limit = rm_page_limit(req, CONTAINERS);

    sv_html(h, "<h2>Containers that have not ended: %d</h2>\n", app->n_live);
    sv_html_table(h, heads);
    for (size_t i = 0; c && shown < limit && i < RM_PAGE_WALK; i++, c = c->p_next) {
        last = c;
        if (att && c->attempt != att)
            continue;
        put_container(h, c);
        shown++;
    }
    sv_html_table_end(h);
    if (c && last) {
        const char *query[] = { "after", last->id_str, "limit", sv_http_query(req, "limit"), NULL };

        sv_html(h, "<p><a rel=\"next\"");
        sv_html_href(h, path, query);
        sv_html(h, ">More containers</a></p>\n");
    }
}

/* ---- Attempts ---- */

static void put_attempt(struct sv_html *h, const struct rm_attempt *att)
{
    char text[SV_HTML_WORD], node[300], container[YARN_ID_TEXT_MAX];

    sv_html(h, "<tr><td class=\"id\">");
    sv_html_link_below(h, "/cluster/appattempt/", att->id_str);
    sv_html(h, "</td><td>");
    sv_html_state(h, rm_attempt_fsm.state_names[att->state]);
    sv_html(h, "</td><td class=\"x t\">%s</td>", sv_html_time(att->start_ms, text));
    sv_html(h, "<td class=\"x t\">%s</td><td>", sv_html_time(att->finish_ms, text));
    if (att->has_master) {
        rm_page_put_node(h, att->rm, att->master_http, yarn_node_id_text(&att->master_node, node));
        sv_html(h, "</td><td>");
        rm_page_put_logs(h, att->rm, att->master_http,
                         yarn_container_id_text(att->master_id, container), att->app->user);
    } else
        sv_html(h, "</td><td>");
    sv_html(h, "</td></tr>\n");
}

static void put_attempts(struct sv_html *h, const struct rm_app *app)
{
    static const char *const heads[] = {
        "Attempt", "State", "-Started", "-Ended", "Node of its master", "", NULL
    };
    const struct rm_attempt *att = app->attempts ? app->attempts->prev : NULL;

    sv_html(h, "<h2>Attempts</h2>\n");
    sv_html_table(h, heads);
    for (size_t i = 0; att && i < ATTEMPTS_MAX; i++) {
        put_attempt(h, att);
        att = att == app->attempts ? NULL : att->prev;
    }
    sv_html_table_end(h);
}

/* ---- One application ---- */

static void put_public_facts(struct sv_html *h, const struct rm_app *app)
{
    sv_html(h, "<tr><th>Name</th><td>%.2000s</td></tr>\n", app->name);
    sv_html(h, "<tr><th>User</th><td>%.300s</td></tr>\n", app->user);
    sv_html(h, "<tr><th>Queue</th><td>%.1000s</td></tr>\n", app->queue);
    sv_html(h, "<tr><th>Type</th><td>%.300s</td></tr>\n", app->type);
    sv_html(h, "<tr><th>State</th><td>");
    sv_html_state(h, rm_app_wire_state_name(app));
    if (rm_app_final_stored(app)) {
        sv_html(h, " ");
        sv_html_state(h, rm_json_final(rm_app_wire_final(app)));
    }
    sv_html(h, "</td></tr>\n<tr><th>Priority</th><td>%d</td></tr>\n", app->priority);
    if (app->tags && app->tags[0]) {
        sv_html(h, "<tr><th>Tags</th><td>");
        for (size_t i = 0; app->tags[i] && i < 100; i++)
            sv_html(h, "%.200s ", app->tags[i]);
        sv_html(h, "</td></tr>\n");
    }
}

static void put_times(struct sv_html *h, const struct rm_app *app)
{
    int64_t end = app->finish_ms ? app->finish_ms : sv_wall_ms(), left_s;
    char text[SV_HTML_WORD], date[RM_LIFETIME_DATE_MAX];

    sv_html_fact(h, "Submitted", sv_html_time(app->start_ms, text));
    sv_html_fact(h, "Launched", sv_html_time(app->launch_ms, text));
    sv_html_fact(h, "Ended", sv_html_time(app->finish_ms, text));
    sv_html_fact(h, app->finish_ms ? "Lasted" : "Lasts", sv_html_span(end - app->start_ms, text));
    rm_lifetime_report(app, date, &left_s);
    if (left_s >= 0)
        sv_html_fact(h, "Killed if alive at", date);
}

static void put_use(struct sv_html *h, struct rm_app *app)
{
    struct rm_app_usage use = { .queue_path = NULL };
    char text[SV_HTML_WORD], waits[RM_WAIT_TEXT_MAX];
    int64_t mb_s, vcore_s;

    if (!rm_app_is_final(app) && rm_sched_app_usage(app->rm->sched, app->id, &use) >= 0) {
        sv_html(h, "<tr><th>Has</th><td>%d containers, %s, ", use.containers,
                sv_html_mb(use.used.mem, text));
        sv_html(h, "%lld vcores</td></tr>\n", (long long)use.used.vcores);
        sv_html(h, "<tr><th>Waits for</th><td>%s, ", sv_html_mb(use.pending.mem, text));
        sv_html(h, "%lld vcores</td></tr>\n", (long long)use.pending.vcores);
    }
    if (*rm_wait_reason(app, waits))
        sv_html(h, "<tr><th>Waits because</th><td class=\"warn\">" TEXT_MAX "</td></tr>\n", waits);
    rm_app_seconds(app, &mb_s, &vcore_s);
    sv_html(h, "<tr><th>Used in all</th><td>%lld MB·s, %lld vcore·s</td></tr>\n", (long long)mb_s,
            (long long)vcore_s);
    sv_html_fact(h, "Aggregated logs", rm_log_status_name(rm_log_status(app)));
    if (app->current && app->current->tracking_url && *app->current->tracking_url) {
        char path[YARN_ID_TEXT_MAX + 16];

        (void)snprintf(path, sizeof(path), "/proxy/%s/", app->id_str);
        sv_html(h, "<tr><th>Its own page</th><td>");
        sv_html_link(h, path, rm_app_is_final(app) ? "History" : "ApplicationMaster");
        sv_html(h, "</td></tr>\n");
    }
}

static void put_kill(struct sv_html *h, const struct rm_app *app)
{
    if (rm_app_final_stored(app) || !app->rm->conf.web_put)
        return;
    sv_html(h, "<form method=\"get\" action=\"/cluster/app/%s/kill\">", app->id_str);
    rm_page_keep_user(h);
    sv_html(h, "<button class=\"kill\">Kill…</button></form>\n");
}

static struct rm_app *find_app(const struct rm *rm, const char *text)
{
    struct yarn_app_id id;

    return yarn_app_id_parse(text, &id) < 0 ? NULL : rm_app_find(rm, id);
}

static int hidden(const struct rm_viewer *who, const struct sv_http_request *req,
                  const struct rm_app *app, struct sv_http_response *ret)
{
    return rm_page_refuse(req, 403, ret,
                          "User \"%s\" may not view %s: with yarn.acl.enable its owner, its "
                          "VIEW_APP list and administrators may. Without a signed cookie, "
                          "?user.name=NAME names the user.",
                          who->user, app->id_str);
}

/* The rest, for those alone who may view it; ends the table of facts. */
static void put_rest(struct sv_html *h, const struct rm_app *app, const struct sv_http_request *req)
{
    char path[YARN_ID_TEXT_MAX + sizeof(RM_LIVE_APP)];

    sv_html_table_end(h);
    put_kill(h, app);
    sv_html_part_end(h);
    if (!rm_app_final_stored(app)) {
        (void)snprintf(path, sizeof(path), RM_LIVE_APP "%s", app->id_str);
        sv_html_live(h, path);
    }
    sv_html_part(h, "containers");
    put_diagnostics(h, app->diagnostics);
    rm_page_put_failures(h, app);
    rm_page_put_timeline(h, app);
    put_attempts(h, app);
    if (!rm_app_is_final(app)) {
        (void)snprintf(path, sizeof(path), "/cluster/app/%s", app->id_str);
        put_containers(h, app, NULL, req, path);
    }
    sv_html_part_end(h);
}

int rm_page_app(const struct rm_viewer *who, const struct sv_http_request *req, const char *id,
                struct sv_http_response *ret)
{
    struct rm_app *app = find_app(who->rm, id);
    struct sv_html h;

    if (!app)
        return rm_page_past(who, req, id, ret);
    rm_page_begin(&h, req, app->id_str, RM_PAGE_APPS);
    sv_html_part(&h, "facts");
    begin_facts(&h);
    put_public_facts(&h, app);
    if (rm_viewer_sees(who, app)) {
        put_times(&h, app);
        put_use(&h, app);
        put_rest(&h, app, req);
    } else {
        sv_html_table_end(&h);
        sv_html(&h, "<p class=\"dim\">The rest is for its owner, its VIEW_APP list and "
                    "administrators.</p>\n");
        sv_html_part_end(&h);
    }
    return sv_html_end(&h, 200, ret);
}

/* ---- One attempt ---- */

int rm_page_attempt(const struct rm_viewer *who, const struct sv_http_request *req, const char *id,
                    struct sv_http_response *ret)
{
    struct yarn_attempt_id parsed;
    const struct rm_attempt *att =
        yarn_attempt_id_parse(id, &parsed) < 0 ? NULL : rm_attempt_find(who->rm, parsed);
    char text[SV_HTML_WORD], path[YARN_ID_TEXT_MAX + 24];
    struct sv_html h;

    if (!att)
        return rm_page_refuse(req, 404, ret,
                              "The ResourceManager does not know the attempt %.100s.", id);
    if (!rm_viewer_sees(who, att->app))
        return hidden(who, req, att->app, ret);
    rm_page_begin(&h, req, att->id_str, RM_PAGE_APPS);
    begin_facts(&h);
    sv_html(&h, "<tr><th>Application</th><td>");
    sv_html_link_below(&h, "/cluster/app/", att->app->id_str);
    sv_html(&h, "</td></tr>\n<tr><th>State</th><td>");
    sv_html_state(&h, rm_attempt_fsm.state_names[att->state]);
    sv_html(&h, "</td></tr>\n");
    sv_html_fact(&h, "Started", sv_html_time(att->start_ms, text));
    sv_html_fact(&h, "Ended", sv_html_time(att->finish_ms, text));
    if (att->has_master) {
        char container[YARN_ID_TEXT_MAX], node[300];

        yarn_container_id_text(att->master_id, container);
        sv_html(&h, "<tr><th>Its master</th><td>%s on ", container);
        rm_page_put_node(&h, att->rm, att->master_http, yarn_node_id_text(&att->master_node, node));
        sv_html(&h, " ");
        rm_page_put_logs(&h, att->rm, att->master_http, container, att->app->user);
        sv_html(&h, "</td></tr>\n");
    }
    sv_html_table_end(&h);
    put_diagnostics(&h, att->diagnostics);
    (void)snprintf(path, sizeof(path), "/cluster/appattempt/%s", att->id_str);
    put_containers(&h, att->app, att, req, path);
    return sv_html_end(&h, 200, ret);
}

/* ---- One container ---- */

/* One that has not ended, or one of the last ended ones of its application. */
static const struct rm_container *find_container(const struct rm *rm, const char *text)
{
    const struct rm_container *c;
    const struct rm_app *app;
    struct yarn_container_id id;

    if (yarn_container_id_parse(text, &id) < 0)
        return NULL;
    c = rm_container_find(rm, id);
    app = c ? NULL : rm_app_find(rm, id.attempt.app);
    for (c = app ? app->ended : c; app && c; c = c->p_next)
        if (yarn_container_id_cmp(c->id, id) == 0)
            break;
    return c;
}

int rm_page_container(const struct rm_viewer *who, const struct sv_http_request *req,
                      const char *id, struct sv_http_response *ret)
{
    const struct rm_container *c = find_container(who->rm, id);
    char text[SV_HTML_WORD], node[300];
    struct sv_html h;

    if (!c)
        return rm_page_refuse(req, 404, ret,
                              "The ResourceManager does not know the container %.100s: it keeps "
                              "those that have not ended and the last ended ones.",
                              id);
    if (!rm_viewer_sees(who, c->app))
        return hidden(who, req, c->app, ret);
    rm_page_begin(&h, req, c->id_str, RM_PAGE_APPS);
    begin_facts(&h);
    sv_html(&h, "<tr><th>Attempt</th><td>");
    sv_html_link_below(&h, "/cluster/appattempt/", c->attempt->id_str);
    sv_html(&h, "</td></tr>\n<tr><th>Node</th><td>");
    rm_page_put_node(&h, c->app->rm, c->node_http, yarn_node_id_text(&c->node_id, node));
    sv_html(&h, " ");
    rm_page_put_logs(&h, c->app->rm, c->node_http, c->id_str, c->app->user);
    sv_html(&h, "</td></tr>\n<tr><th>State</th><td>");
    sv_html_state(&h, rm_container_fsm.state_names[c->state]);
    sv_html(&h, "</td></tr>\n<tr><th>Exit status</th><td>");
    put_exit(&h, c);
    sv_html(&h, "</td></tr>\n<tr><th>Priority</th><td>%d</td></tr>\n", c->priority);
    sv_html_fact(&h, "Memory", sv_html_mb(c->resource.mem, text));
    sv_html(&h, "<tr><th>Vcores</th><td>%lld</td></tr>\n", (long long)c->resource.vcores);
    if (c->use.bytes) {
        sv_html_fact(&h, c->finish_ms ? "Memory last used" : "Memory used",
                     sv_html_bytes((uint64_t)c->use.bytes, text));
        sv_html_fact(&h, "Peak of memory", sv_html_bytes((uint64_t)c->use.peak_bytes, text));
    }
    sv_html_fact(&h, "Allocated", sv_html_time(c->created_ms, text));
    sv_html_fact(&h, "Reported by its node", sv_html_time(c->started_ms, text));
    sv_html_fact(&h, "Running", sv_html_time(c->running_ms, text));
    sv_html_fact(&h, "Ended", sv_html_time(c->finish_ms, text));
    sv_html_table_end(&h);
    put_diagnostics(&h, c->diagnostics);
    return sv_html_end(&h, 200, ret);
}
