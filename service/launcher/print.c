/* See print.h. */
#include "service/launcher/print.h"

#include <stdlib.h>

#include "common/str.h"
#include "common/web/json-text.h"
#include "service/engine/exit-table.h"
#include "service/framework/status.h"

static json_t *time_or_null(int64_t ms)
{
    return ms > 0 ? json_integer(ms) : json_null();
}

static json_t *text_or_null(const char *s)
{
    return s ? sv_json_text(s) : json_null();
}

static json_t *id_or_null(struct yarn_app_id app)
{
    char text[YARN_ID_TEXT_MAX];

    return app.id ? json_string(yarn_app_id_text(app, text)) : json_null();
}

/* An application that has not said so has made none. */
static json_t *shown_progress(const struct svc_lr_status *s)
{
    if (!s->app.id)
        return json_null();
    return json_real(s->progress < 0 ? 0 : s->progress);
}

int svc_lr_shown_state(const struct svc_framework *f)
{
    int s = f->st.state;

    if (s == SVC_LR_APP_WAITING || s == SVC_LR_APP_RUNNING)
        return f->running > 0 ? SVC_LR_APP_RUNNING : SVC_LR_APP_WAITING;
    return s;
}

json_t *svc_lr_framework_status(const struct svc_framework *f)
{
    const struct svc_lr_status *s = &f->st;
    const struct svc_lr_exit *x = &s->exit;
    bool told = x->known;

    return json_pack(
        "{s:s, s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o}",
        "frameworkName", f->name, "frameworkVersion", f->d->version, "frameworkState",
        svc_lr_state_name(svc_lr_shown_state(f)), "frameworkRetryPolicyState",
        svc_fw_retries_json(&s->retries), "frameworkCreatedTimestamp", json_integer(s->created_ms),
        "frameworkCompletedTimestamp", time_or_null(s->completed_ms), "applicationId",
        id_or_null(s->app), "applicationProgress", shown_progress(s), "applicationTrackingUrl",
        text_or_null(s->tracking_url), "applicationLaunchedTimestamp", time_or_null(s->launched_ms),
        "applicationCompletedTimestamp", time_or_null(s->app_completed_ms), "applicationExitCode",
        told ? json_integer(x->code) : json_null(), "applicationExitDescription",
        text_or_null(x->description), "applicationExitDiagnostics", text_or_null(x->diagnostics),
        "applicationExitType", told ? json_string(svc_fw_type_text(x->type)) : json_null(),
        "applicationExitTriggerMessage", text_or_null(x->trigger),
        "applicationExitTriggerTaskRoleName", text_or_null(x->trigger_role),
        "applicationExitTriggerTaskIndex",
        x->trigger_index < 0 ? json_null() : json_integer(x->trigger_index));
}

static char *dump(json_t *o)
{
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

    json_decref(o);
    return text;
}

/* The name needs no escape. */
char *svc_lr_framework_request(const struct svc_framework *f)
{
    _cleanup_free_ char *rest = dump(
        json_pack("{s:s, s:o, s:o, s:I, s:I}", "launchClientType", svc_lr_client_name(f->client),
                  "launchClientHostName", text_or_null(f->client_host), "launchClientUserName",
                  text_or_null(f->client_user), "firstRequestTimestamp", (json_int_t)f->first_ms,
                  "lastRequestTimestamp", (json_int_t)f->last_ms));
    char *ret = NULL;

    if (!rest || sv_asprintf(&ret, "{\"frameworkName\":\"%s\",\"frameworkDescriptor\":%s,%s",
                             f->name, f->text, rest + 1) < 0)
        return NULL;
    return ret;
}

static json_t *migrates(const struct svc_framework *f)
{
    json_t *map = f->n_migrates ? json_object() : json_null();
    int bad = !map;

    for (size_t i = 0; i < f->n_migrates; i++)
        bad |= json_object_set_new(map, f->migrates[i],
                                   json_pack("{s:s}", "antiAffinityLevel", "ANY"));
    if (!bad)
        return map;
    json_decref(map);
    return NULL;
}

char *svc_lr_aggregated_request(const struct svc_framework *f)
{
    _cleanup_free_ char *request = svc_lr_framework_request(f);
    json_t *progress =
        f->progress < 0 ? json_null() : json_pack("{s:f}", "applicationProgress", f->progress);
    _cleanup_free_ char *rest = dump(json_pack("{s:o, s:o}", "overrideApplicationProgressRequest",
                                               progress, "migrateTaskRequests", migrates(f)));
    char *ret = NULL;

    if (!request || !rest ||
        sv_asprintf(&ret, "{\"frameworkRequest\":%s,%s", request, rest + 1) < 0)
        return NULL;
    return ret;
}

json_t *svc_lr_summary(const struct svc_framework *f)
{
    const struct svc_lr_status *s = &f->st;
    int64_t gpus = 0;

    for (size_t i = 0; i < f->d->n_roles; i++)
        gpus += (int64_t)f->d->roles[i].tasks * f->d->roles[i].resource.gpus;
    return json_pack("{s:s, s:i, s:s, s:o, s:s, s:o, s:I, s:I, s:i, s:I, s:I, s:s, s:o, s:o, s:o}",
                     "frameworkName", f->name, "frameworkVersion", f->d->version, "executionType",
                     f->d->stop ? "STOP" : "START", "frameworkDescription",
                     text_or_null(f->d->description), "userName", f->d->user, "queue",
                     text_or_null(f->d->queue), "totalGpuNumber", (json_int_t)gpus,
                     "totalTaskNumber", (json_int_t)svc_fw_total_tasks(f->d), "totalTaskRoleNumber",
                     (int)f->d->n_roles, "firstRequestTimestamp", (json_int_t)f->first_ms,
                     "lastRequestTimestamp", (json_int_t)f->last_ms, "frameworkState",
                     svc_lr_state_name(svc_lr_shown_state(f)), "frameworkRetryPolicyState",
                     svc_fw_retries_json(&s->retries), "frameworkCompletedTimestamp",
                     time_or_null(s->completed_ms), "applicationExitCode",
                     s->exit.known ? json_integer(s->exit.code) : json_null());
}

json_t *svc_lr_role_status(const struct svc_framework *f, const char *role)
{
    return json_pack("{s:s, s:{s:n, s:s, s:n, s:n, s:n, s:n, s:s, s:n, s:n}, s:i}", "taskRoleName",
                     role, "taskRoleRolloutStatus", "overallRolloutServiceVersion",
                     "overallRolloutStatus", "UNKNOWN", "overallRolloutStartTimestamp",
                     "overallRolloutEndTimestamp", "currentRolloutScaleUnit",
                     "currentRolloutTaskIndexes", "currentRolloutStatus", "UNKNOWN",
                     "currentRolloutStartTimestamp", "currentRolloutEndTimestamp",
                     "frameworkVersion", f->d->version);
}

/* Tasks that had not ended did so with the application. */
char *svc_lr_ended_task(const struct svc_framework *f, const char *text)
{
    json_t *o = json_loads(text, 0, NULL);
    const int64_t at = f->st.app_completed_ms;
    struct svc_fw_exit x;
    char *ret = NULL;
    int bad = !o;

    svc_fw_exit_of_code(NULL, SVC_FW_EXIT_STOPPED_WITH_APP, &x);
    bad |= json_object_set_new(o, "taskState", json_string("TASK_COMPLETED"));
    bad |= json_object_set_new(o, "taskCompletedTimestamp", json_integer(at));
    if (json_is_string(json_object_get(o, "containerId")))
        bad |= json_object_set_new(o, "containerCompletedTimestamp", json_integer(at));
    bad |= json_object_set_new(o, "containerExitCode", json_integer(x.code));
    bad |= json_object_set_new(o, "containerExitDescription", json_string(x.description));
    bad |= json_object_set_new(o, "containerExitDiagnostics", json_null());
    bad |= json_object_set_new(o, "containerExitType", json_string(svc_fw_type_text(x.type)));
    if (!bad)
        ret = json_dumps(o, JSON_COMPACT);
    json_decref(o);
    return ret;
}
