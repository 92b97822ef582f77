/* See views.h. */
#include "client/framework/views.h"

#include <string.h>

#include "client/framework/call.h"
#include "common/str.h"

#define ROLES "aggregatedFrameworkStatus.aggregatedTaskRoleStatuses"
#define WANTED "aggregatedFrameworkRequest.frameworkRequest.frameworkDescriptor.taskRoles"
#define STOPPED (-7351)

static const json_t *tasks_of(const json_t *role)
{
    return cli_member(role, "taskStatuses.taskStatusArray");
}

static int64_t retries_of(const json_t *task)
{
    static const char *const keys[] = { "retriedCount", "transientNormalRetriedCount",
                                        "transientConflictRetriedCount" };
    int64_t sum = 0;

    for (size_t i = 0; i < SV_ARRAY_LEN(keys); i++) {
        const json_t *state = cli_member(task, "taskRetryPolicyState");
        int64_t n = json_integer_value(json_object_get(state, keys[i]));

        sum = n > 0 && n < INT32_MAX ? SV_MAX(sum, n) : sum;
    }
    return sum;
}

static void count(const json_t *task, struct cli_framework_counts *ret)
{
    const char *state = cli_member_text(task, "taskState");

    ret->retried += retries_of(task);
    if (strcmp(state, "TASK_COMPLETED") == 0) {
        bool good = strcmp(cli_member_text(task, "containerExitType"), "SUCCEEDED") == 0;

        ret->succeeded += good;
        ret->failed += !good;
    } else if (strcmp(state, "CONTAINER_RUNNING") == 0) {
        ret->running++;
    } else if (strcmp(state, "CONTAINER_ALLOCATED") == 0 ||
               strcmp(state, "CONTAINER_LAUNCHED") == 0) {
        ret->allocated++;
    } else {
        ret->waiting++;
    }
}

static void count_role(const json_t *info, const char *name, struct cli_framework_counts *ret)
{
    const json_t *wanted = json_object_get(cli_member(info, WANTED), name);
    const json_t *role = json_object_get(cli_member(info, ROLES), name), *task;
    int64_t n = json_integer_value(json_object_get(wanted, "taskNumber"));
    size_t i;

    ret->wanted += SV_MIN(SV_MAX(n, (int64_t)0), (int64_t)INT32_MAX);
    json_array_foreach(tasks_of(role), i, task) count(task, ret);
}

void cli_framework_counts(const json_t *info, const char *role, struct cli_framework_counts *ret)
{
    const char *name;
    json_t *one;

    *ret = (struct cli_framework_counts){ 0 };
    if (role) {
        count_role(info, role, ret);
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)cli_member(info, WANTED), name, one)
        count_role(info, name, ret);
}

json_t *cli_framework_roles(const json_t *info)
{
    json_t *rows = json_array(), *one;
    const char *name;

    json_object_foreach((json_t *)(uintptr_t)cli_member(info, WANTED), name, one)
    {
        struct cli_framework_counts n;

        cli_framework_counts(info, name, &n);
        if (json_array_append_new(
                rows,
                json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "role",
                          cli_json_string(name), "tasks", (json_int_t)n.wanted, "waiting",
                          (json_int_t)n.waiting, "starting", (json_int_t)n.allocated, "running",
                          (json_int_t)n.running, "succeeded", (json_int_t)n.succeeded, "failed",
                          (json_int_t)n.failed, "retried", (json_int_t)n.retried, "memoryMb",
                          cli_member_json(one, "taskService.resource.memoryMB"), "command",
                          cli_member_json(one, "taskService.entryPoint"))) < 0) {
            json_decref(rows);
            return NULL;
        }
    }
    return rows;
}

/* "CONTAINER_RUNNING" as "RUNNING"; an ended one as what it ended with. */
static json_t *state_of(const json_t *task)
{
    const char *state = cli_member_text(task, "taskState");
    const char *type = cli_member_text(task, "containerExitType");

    if (strcmp(state, "TASK_COMPLETED") == 0)
        return json_string(strcmp(type, "SUCCEEDED") == 0 ? "SUCCEEDED" : "FAILED");
    if (sv_has_prefix(state, "CONTAINER_"))
        state += strlen("CONTAINER_");
    else if (sv_has_prefix(state, "TASK_"))
        state += strlen("TASK_");
    return cli_json_string(state);
}

/* Why it ended; else why it has no container yet. */
static json_t *why_of(const json_t *task)
{
    json_t *why = cli_member_json(task, "containerExitDescription");

    if (why && !json_is_null(why))
        return why;
    json_decref(why);
    return cli_member_json(task, "containerExitDiagnostics");
}

const char *cli_framework_waits(const json_t *info)
{
    const char *name, *why = "";
    json_t *role, *task;
    size_t i;

    json_object_foreach((json_t *)(uintptr_t)cli_member(info, ROLES), name, role)
    {
        json_array_foreach(tasks_of(role), i, task)
        {
            const char *state = cli_member_text(task, "taskState");

            if (strcmp(state, "TASK_WAITING") != 0 && strcmp(state, "CONTAINER_REQUESTED") != 0)
                continue;
            why = cli_member_text(task, "containerExitDiagnostics");
            if (*why)
                return why;
        }
    }
    return why;
}

static json_t *task_row(const char *role, const json_t *task)
{
    char name[400];

    snprintf(name, sizeof(name), "%s-%lld", role,
             (long long)json_integer_value(json_object_get(task, "taskIndex")));
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "task",
        cli_json_string(name), "state", state_of(task), "host",
        cli_member_json(task, "containerHost"), "ip", cli_member_json(task, "containerIp"), "ports",
        cli_member_json(task, "containerPorts"), "gpus", cli_member_json(task, "containerGpus"),
        "retries", (json_int_t)retries_of(task), "exitCode",
        cli_member_json(task, "containerExitCode"), "exitType",
        cli_member_json(task, "containerExitType"), "container",
        cli_member_json(task, "containerId"), "started",
        cli_member_json(task, "containerLaunchedTimestamp"), "logs",
        cli_member_json(task, "containerLogHttpAddress"), "why", why_of(task));
}

static bool is_among(const json_t *row, const char *states)
{
    _cleanup_strv_ char **all = NULL;
    const char *state = json_string_value(json_object_get(row, "state"));

    if (!states || !state || sv_strv_split(states, ',', &all) < 0)
        return true;
    for (size_t i = 0; all[i]; i++)
        if (strcasecmp(all[i], state) == 0)
            return true;
    return false;
}

json_t *cli_framework_tasks(const json_t *info, const char *role, const char *states)
{
    json_t *rows = json_array(), *one, *task, *row;
    const char *name;
    size_t i;

    json_object_foreach((json_t *)(uintptr_t)cli_member(info, ROLES), name, one)
    {
        if (role && strcmp(role, name) != 0)
            continue;
        json_array_foreach(tasks_of(one), i, task)
        {
            row = task_row(name, task);
            if (!is_among(row, states))
                json_decref(row);
            else if (json_array_append_new(rows, row) < 0) {
                json_decref(rows);
                return NULL;
            }
        }
    }
    return rows;
}

const char *cli_framework_state(const json_t *info)
{
    const json_t *status = cli_member(info, "aggregatedFrameworkStatus.frameworkStatus");
    const char *state = cli_member_text(status, "frameworkState");
    int64_t code = json_integer_value(json_object_get(status, "applicationExitCode"));

    if (strcmp(state, "FRAMEWORK_COMPLETED") != 0)
        return state;
    return code == 0 ? "SUCCEEDED" : code == STOPPED ? "STOPPED" : "FAILED";
}
