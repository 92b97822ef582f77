/* See web-apps.h. Hostile: paths and queries; names in the answers are chosen by users. */
#include "rm-lite/web/rest/web-apps.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/requests/viewer.h"
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

int rm_web_apps(struct rm *rm, const struct sv_http_request *req, const char *rest,
                struct sv_http_response *ret)
{
    static const struct rm_list_kind kind = { "apps", "app", app_entry };
    struct sv_error err = { 0 };
    struct rm_list_item *items;
    struct rm_viewer who;
    struct rm_app *app;
    int64_t limit;
    size_t n = 0;

    (void)rest;
    rm_viewer_of_request(rm, req, &who);
    if (rm_query_check_apps(req, &limit, &err) < 0)
        return rm_web_bad_request(ret, "%s", err.text);
    items = calloc(HASH_COUNT(rm->apps) + 1, sizeof(*items));
    if (!items)
        return -ENOMEM;
    DL_FOREACH (rm->app_list, app)
        if ((int64_t)n < limit && rm_query_takes_app(req, app))
            items[n++] =
                (struct rm_list_item){ .app = app->id, .whole = rm_viewer_sees(&who, app) };
    if (!rm_viewer_waits(&who))
        return rm_web_list(rm, req, ret, &kind, items, n);
    rm_list_free(items, n);
    return -EAGAIN;
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
        return rm_web_not_found(ret, "app with id: %s not found", id);
    if (rm_web_control(rm, app, req, rest, ret, &r))
        return r;
    rm_viewer_of_request(rm, req, &who);
    if (!*rest)
        return rm_web_json(ret, 200,
                           json_pack("{s:o}", "app", shown_app(rm_viewer_sees(&who, app), app)));
    if (!rm_viewer_sees(&who, app))
        return rm_web_hidden(who.user, app->id_str, ret);
    return rm_web_attempts(rm, app, rest + strlen("/appattempts"), ret);
}
