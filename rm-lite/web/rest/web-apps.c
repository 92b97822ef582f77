/* See web-apps.h. Hostile: paths and queries; names in the answers are chosen by users. */
#include "rm-lite/web/rest/web-apps.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/requests/past-apps.h"
#include "rm-lite/requests/viewer.h"
#include "rm-lite/web/rest/history-json.h"
#include "rm-lite/web/rest/web-attempts.h"
#include "rm-lite/web/rest/web-control.h"
#include "rm-lite/web/rest/web-json.h"
#include "rm-lite/web/rest/web-list.h"
#include "rm-lite/web/rest/web-query.h"
#include "rm-lite/web/rest/web-reply.h"

/* Only these fields are visible to others: no diagnostics, addresses, times or usage. */
static json_t *shown_app(bool all, struct rm_app *app)
{
    static const char *const shown[] = {
        "id",          "user",       "name",      "queue",           "state",    "progress",
        "finalStatus", "trackingUI", "clusterId", "applicationType", "priority", "applicationTags"
    };
    json_t *whole = rm_json_app(app), *part;

    if (!whole || all)
        return whole;
    part = json_object();
    for (size_t i = 0; i < SV_ARRAY_LEN(shown); i++) /* no memory: the field is missing, ignoring */
        (void)json_object_set(part, shown[i], json_object_get(whole, shown[i]));
    (void)json_object_set_new(part, "diagnostics", json_string("")); /* as above, ignoring */
    json_decref(whole);
    return part;
}

static json_t *app_entry(struct rm *rm, const struct rm_list_item *item)
{
    struct rm_app *app = rm_app_find(rm, item->app);

    return app ? shown_app(item->whole, app) : NULL;
}

/* ---- The list ---- */

struct wanted {
    struct rm_app_filter filter;
    struct rm_viewer who;
};

static void free_wanted(void *wanted)
{
    struct wanted *w = wanted;

    rm_app_filter_free(&w->filter);
    free(w);
}

static bool gather(struct rm *rm, const void *wanted, struct rm_list_items *ret)
{
    struct rm_app *app;

    (void)wanted;
    if (!rm_list_items_new(ret, HASH_COUNT(rm->apps)))
        return false;
    DL_FOREACH (rm->app_list, app)
        ret->items[ret->n++].app = app->id;
    return true;
}

static bool takes(struct rm *rm, const void *wanted, struct rm_list_item *item)
{
    const struct rm_app *app = rm_app_find(rm, item->app);
    const struct wanted *w = wanted;

    if (!app || !rm_app_filter_takes(&w->filter, app))
        return false;
    item->whole = rm_viewer_sees(&w->who, app);
    return true;
}

int rm_web_apps(struct rm *rm, const struct sv_http_request *req, const char *rest,
                struct sv_http_response *ret)
{
    static const struct rm_list_kind kind = { .outer = "apps",
                                              .inner = "app",
                                              .gather = gather,
                                              .takes = takes,
                                              .entry = app_entry,
                                              .free_wanted = free_wanted };
    struct rm_list list = { .kind = &kind, .most = HASH_COUNT(rm->apps) };
    struct wanted *w = calloc(1, sizeof(*w));
    struct sv_error err = { 0 };
    int r;

    (void)rest;
    if (!w)
        return -ENOMEM;
    list.wanted = w;
    rm_viewer_of_request(rm, req, &w->who);
    r = rm_query_apps(req, &w->filter, &list.limit, &err);
    if (r >= 0)
        r = rm_viewer_groups(&w->who);
    if (r >= 0)
        return rm_web_list(rm, req, ret, &list);
    free_wanted(w);
    if (r == -EDOM)
        return rm_web_illegal_argument(ret, "%s", err.text);
    return r == -EINVAL ? rm_web_bad_request(ret, "%s", err.text) : r;
}

/* An application that the ResourceManager has forgotten, if the store has a row of it: the row, and
 * nothing below it. */
static int answer_past(struct rm *rm, const char *text, const struct sv_http_request *req,
                       bool below, struct sv_http_response *ret)
{
    struct sv_arena *a = below ? NULL : sv_arena_new(0);
    struct rm_past_app past;
    struct yarn_app_id id;
    struct rm_viewer who;
    json_t *o = NULL;

    rm_viewer_of_request(rm, req, &who);
    if (a && yarn_app_id_parse(text, &id) >= 0 && rm_store_history_find(rm, id, a, &past) >= 0)
        o = rm_json_past(&past, rm_viewer_sees_past(&who, &past));
    sv_arena_free(a);
    return o ? rm_web_json(ret, 200, json_pack("{s:o}", "app", o))
             : rm_web_not_found(ret, "app with id: %s not found", text);
}

int rm_web_app(struct rm *rm, const struct sv_http_request *req, const char *rest,
               struct sv_http_response *ret)
{
    char id[YARN_ID_TEXT_MAX];
    size_t n = strcspn(rest, "/");
    struct yarn_app_id aid;
    struct rm_viewer who;
    struct rm_app *app;
    int r;

    if (n >= sizeof(id))
        return rm_web_bad_request(ret, "application id is too long");
    memcpy(id, rest, n);
    id[n] = 0;
    rest += n;
    if (yarn_app_id_parse(id, &aid) < 0)
        return rm_web_bad_request(ret, "Invalid ApplicationId: %s", id);
    app = rm_app_find(rm, aid);
    if (!app)
        return answer_past(rm, id, req, *rest != '\0', ret);
    if (rm_web_control(rm, app, req, rest, ret, &r))
        return r;
    rm_viewer_of_request(rm, req, &who);
    if (!*rest)
        return rm_web_json(ret, 200,
                           json_pack("{s:o}", "app", shown_app(rm_viewer_sees(&who, app), app)));
    if (!rm_viewer_sees(&who, app))
        return rm_web_hidden(who.user, app->id_str, ret);
    return rm_web_attempts(rm, app, req, rest + strlen("/appattempts"), ret);
}
