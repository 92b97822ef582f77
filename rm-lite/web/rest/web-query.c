/* See web-query.h. Queries are hostile. */
#include "rm-lite/web/rest/web-query.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/web/rest/web-json.h"

static const char *const app_states[] = { "NEW",     "NEW_SAVING", "SUBMITTED", "ACCEPTED",
                                          "RUNNING", "FINISHED",   "FAILED",    "KILLED" };
static const char *const final_states[] = { "UNDEFINED", "SUCCEEDED", "FAILED", "KILLED", "ENDED" };
static const char *const node_states[] = { "NEW",  "RUNNING",  "UNHEALTHY",       "DECOMMISSIONED",
                                           "LOST", "REBOOTED", "DECOMMISSIONING", "SHUTDOWN" };

/* Trims blanks on both sides. */
static char *trim(char *s)
{
    s += strspn(s, " \t");
    for (size_t n = strlen(s); n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t'); n--)
        s[n - 1] = 0;
    return s;
}

static bool in_csv(const char *csv, const char *value)
{
    _cleanup_strv_ char **parts = NULL;

    if (!csv || !*csv)
        return true;
    if (sv_strv_split(csv, ',', &parts) < 0)
        return false;
    for (char **p = parts; p && *p; p++)
        if (strcasecmp(trim(*p), value) == 0)
            return true;
    return false;
}

/* Every name of the list must be one of `known`. */
static int check_names(const char *csv, const char *what, const char *const known[], size_t n,
                       struct sv_error *err)
{
    _cleanup_strv_ char **parts = NULL;
    char all[256] = "";

    if (!csv || !*csv)
        return 0;
    if (sv_strv_split(csv, ',', &parts) < 0)
        return sv_error_set(err, -ENOMEM, "out of memory");
    for (char **p = parts; p && *p; p++) {
        bool found = !*trim(*p);

        for (size_t i = 0; i < n && !found; i++)
            found = strcasecmp(trim(*p), known[i]) == 0;
        if (found)
            continue;
        for (size_t i = 0, at = 0; i < n; i++)
            at += (size_t)snprintf(all + at, sizeof(all) - at, "%s%s", i ? ", " : "", known[i]);
        return sv_error_set(err, -EINVAL, "Invalid %s %.64s specified. It should be one of [%s]",
                            what, trim(*p), all);
    }
    return 0;
}

static int check_time(const struct sv_http_request *req, const char *key, struct sv_error *err)
{
    const char *text = sv_http_query(req, key);
    int64_t v;

    if (!text || !*text)
        return 0;
    if (sv_parse_i64(text, INT64_MIN, INT64_MAX, &v) < 0)
        return sv_error_set(err, -EINVAL, "%s: \"%.64s\" is not a number", key, text);
    return v < 0 ? sv_error_set(err, -EINVAL, "%s must be greater than 0", key) : 0;
}

int rm_query_check_apps(const struct sv_http_request *req, int64_t *ret_limit, struct sv_error *err)
{
    static const char *const times[] = { "startedTimeBegin", "startedTimeEnd", "finishedTimeBegin",
                                         "finishedTimeEnd" };
    const char *limit = sv_http_query(req, "limit");
    int64_t most = INT64_MAX;
    int r;

    if (limit && *limit && sv_parse_i64(limit, 1, INT64_MAX, &most) < 0)
        return sv_error_set(err, -EINVAL, "limit value must be greater then 0");
    if ((r = check_names(sv_http_query(req, "state"), "application-state", app_states,
                         SV_ARRAY_LEN(app_states), err)) < 0 ||
        (r = check_names(sv_http_query(req, "states"), "application-state", app_states,
                         SV_ARRAY_LEN(app_states), err)) < 0 ||
        (r = check_names(sv_http_query(req, "finalStatus"), "final-status", final_states,
                         SV_ARRAY_LEN(final_states), err)) < 0)
        return r;
    for (size_t i = 0; i < SV_ARRAY_LEN(times); i++)
        if ((r = check_time(req, times[i], err)) < 0)
            return r;
    *ret_limit = most;
    return 0;
}

int rm_query_check_nodes(const struct sv_http_request *req, struct sv_error *err)
{
    return check_names(sv_http_query(req, "states"), "node-state", node_states,
                       SV_ARRAY_LEN(node_states), err);
}

/* ----------------------------------------------------------------- selection */

static bool in_time(const struct sv_http_request *req, const char *from, const char *to, int64_t t)
{
    const char *f = sv_http_query(req, from), *l = sv_http_query(req, to);
    int64_t v;

    if (f && sv_parse_i64(f, 0, INT64_MAX, &v) >= 0 && t < v)
        return false;
    return !(l && sv_parse_i64(l, 0, INT64_MAX, &v) >= 0 && t > v);
}

static bool tag_matches(const char *csv, const struct rm_app *app)
{
    if (!csv || !*csv)
        return true;
    for (char **t = app->tags; t && *t; t++)
        if (in_csv(csv, *t))
            return true;
    return false;
}

/* Full path or last part. */
static bool queue_matches(const char *csv, const struct rm_app *app)
{
    const char *last = strrchr(app->queue, '.');

    return in_csv(csv, app->queue) || (last && in_csv(csv, last + 1));
}

bool rm_query_takes_app(const struct sv_http_request *req, const struct rm_app *app)
{
    const char *state = sv_http_query(req, "state"), *name = sv_http_query(req, "name");

    return in_csv(sv_http_query(req, "states"), rm_app_wire_state_name(app)) &&
           in_csv(state, rm_app_wire_state_name(app)) &&
           in_csv(sv_http_query(req, "finalStatus"), rm_json_final(rm_app_wire_final(app))) &&
           in_csv(sv_http_query(req, "user"), app->user) &&
           queue_matches(sv_http_query(req, "queue"), app) &&
           queue_matches(sv_http_query(req, "queues"), app) &&
           in_csv(sv_http_query(req, "applicationTypes"), app->type) &&
           tag_matches(sv_http_query(req, "applicationTags"), app) &&
           (!name || sv_streq(name, app->name)) &&
           in_time(req, "startedTimeBegin", "startedTimeEnd", app->start_ms) &&
           in_time(req, "finishedTimeBegin", "finishedTimeEnd", app->finish_ms);
}

bool rm_query_takes_node(const struct sv_http_request *req, const struct rm_node *node)
{
    const char *states = sv_http_query(req, "states");

    return states && *states ? in_csv(states, rm_node_fsm.state_names[node->state])
                             : rm_node_is_active(node);
}
