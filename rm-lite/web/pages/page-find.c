/* See page-find.h. Hostile: the text. */
#include "rm-lite/web/pages/page-find.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/scheduler/scheduler.h"

#define TEXT_MAX 256 /* longer than any id */

static int go(const struct sv_http_request *req, const char *below, const char *name,
              struct sv_http_response *ret)
{
    char path[TEXT_MAX + 64];

    (void)snprintf(path, sizeof(path), "%s%s", below, name);
    return sv_html_redirect(req, path, NULL, ret);
}

static int go_query(const struct sv_http_request *req, const char *path, const char *key,
                    const char *value, struct sv_http_response *ret)
{
    const char *const query[] = { key, value, NULL };

    return sv_html_redirect(req, path, query, ret);
}

/* A whole id: its own page, or that of its application. False: it is none. */
static bool find_id(const struct rm *rm, const struct sv_http_request *req, const char *text,
                    struct sv_http_response *ret, int *ret_result)
{
    struct yarn_container_id container;
    struct yarn_attempt_id attempt;
    struct yarn_app_id app;
    char id[YARN_ID_TEXT_MAX];

    if (yarn_container_id_parse(text, &container) >= 0) {
        if (rm_container_find(rm, container))
            *ret_result = go(req, "/cluster/container/", text, ret);
        else
            *ret_result =
                go(req, "/cluster/app/", yarn_app_id_text(container.attempt.app, id), ret);
    } else if (yarn_attempt_id_parse(text, &attempt) >= 0)
        *ret_result = go(req, "/cluster/appattempt/", text, ret);
    else if (yarn_app_id_parse(text, &app) >= 0)
        *ret_result = go(req, "/cluster/app/", yarn_app_id_text(app, id), ret);
    else
        return false;
    return true;
}

/* How well an application fits the text: 2 by its number, 1 by the beginning of its id or its
 * name. */
static int fits(const struct rm_app *app, const char *text, uint64_t number)
{
    if (number > 0 && (uint64_t)app->id.id == number)
        return 2;
    return sv_has_prefix(app->id_str, text) || strcmp(app->name, text) == 0;
}

/* The newest application that fits best; *ret_others: others fit as well. */
static const struct rm_app *find_app(const struct rm *rm, const char *text, bool *ret_others)
{
    const struct rm_app *app = rm->app_list ? rm->app_list->prev : NULL, *best = NULL;
    uint64_t number = 0;
    int best_fit = 0;

    if (sv_parse_u64(text, 1, INT32_MAX, &number) < 0)
        number = 0;
    *ret_others = false;
    for (size_t i = 0; app && i < RM_PAGE_WALK; i++) {
        int fit = fits(app, text, number);

        *ret_others = fit > 0 && fit == best_fit ? true : fit > best_fit ? false : *ret_others;
        if (fit > best_fit) {
            best_fit = fit;
            best = app;
        }
        app = app == rm->app_list ? NULL : app->prev;
    }
    return best;
}

static const struct rm_node *node_in(const struct rm_node *nodes, const char *text)
{
    size_t walked = 0;

    for (const struct rm_node *n = nodes; n && walked < RM_PAGE_WALK; n = n->hh.next, walked++)
        if (strcasestr(n->key, text))
            return n;
    return NULL;
}

int rm_page_find(const struct rm_viewer *who, const struct sv_http_request *req,
                 struct sv_http_response *ret)
{
    const char *asked = sv_http_query(req, "id");
    const struct rm_app *app;
    struct rm_queue_info q;
    char text[TEXT_MAX];
    bool others;
    int r;

    if (!asked || !*asked)
        return sv_html_redirect(req, RM_PAGE_APPS, NULL, ret);
    asked += strspn(asked, " \t");
    (void)snprintf(text, sizeof(text), "%.*s", (int)SV_MIN(strcspn(asked, " \t"), sizeof(text) - 1),
                   asked);
    if (find_id(who->rm, req, text, ret, &r))
        return r;
    if (rm_sched_queue(who->rm->sched, text, &q) >= 0)
        return go_query(req, RM_PAGE_QUEUES, "queue", q.path, ret);
    app = find_app(who->rm, text, &others);
    if (app && !others)
        return go(req, "/cluster/app/", app->id_str, ret);
    if (!app && (node_in(who->rm->nodes, text) || node_in(who->rm->inactive_nodes, text)))
        return go_query(req, RM_PAGE_NODES, "host", text, ret);
    return go_query(req, RM_PAGE_APPS, "name", text, ret); /* where ids count as names */
}
