/* See exit-table.h. */
#include "service/engine/exit-table.h"

#include <string.h>

#include "service/engine/exit-file.h"

/* Codes whose raw status is another, and codes that are given. */
#define RAW(c, n, r, t, d)                                                                         \
    {                                                                                              \
        .exit = { .code = (c), .type = SVC_FW_##t, .name = (n), .description = (d) },              \
        .has_raw = true, .raw = (r)                                                                \
    }
#define TEXT(c, n, r, p, t, d)                                                                     \
    {                                                                                              \
        .exit = { .code = (c), .type = SVC_FW_##t, .name = (n), .description = (d) },              \
        .has_raw = true, .raw = (r), .pattern = (p)                                                \
    }
#define OWN(c, n, t, d)                                                                            \
    {                                                                                              \
        .exit = {.code = (c), .type = SVC_FW_##t, .name = (n), .description = (d) }                \
    }

/* Ascending: the first row that fits counts. */
static const struct svc_fw_exit_row rows[] = {
    OWN(-7400, "TASK_STOPPED_ON_APP_COMPLETION", NON_TRANSIENT,
        "The task was stopped: the framework's application completed"),
    OWN(-7353, "APP_AM_DIAGNOSTICS_DESERIALIZATION_FAILED", TRANSIENT_NORMAL,
        "What the master said at its end cannot be read"),
    OWN(-7352, "APP_AM_DIAGNOSTICS_LOST", TRANSIENT_NORMAL, "The master said nothing at its end"),
    OWN(-7351, "APP_STOP_FRAMEWORK_REQUESTED", NON_TRANSIENT,
        "The framework was stopped as its user asked"),
    OWN(-7350, "APP_RM_RESYNC_LOST", TRANSIENT_NORMAL,
        "The ResourceManager does not know the application any more"),
    OWN(-7303, "APP_KILLED_UNEXPECTEDLY", TRANSIENT_NORMAL,
        "The application was killed, and not by the launcher"),
    OWN(-7302, "APP_SUBMISSION_UNKNOWN_EXCEPTION", UNKNOWN,
        "The application's submission failed for an unknown reason"),
    OWN(-7301, "APP_SUBMISSION_IO_EXCEPTION", TRANSIENT_NORMAL,
        "The application's submission failed on its way"),
    OWN(-7300, "APP_SUBMISSION_YARN_EXCEPTION", NON_TRANSIENT,
        "The ResourceManager refused the application"),
    OWN(-7252, "AM_GANG_ALLOCATION_TIMEOUT", TRANSIENT_CONFLICT,
        "Not all tasks of the gang got a container in time"),
    OWN(-7251, "AM_NON_TRANSIENT_EXCEPTION", NON_TRANSIENT,
        "The master failed, and would fail again"),
    OWN(-7250, "AM_UNKNOWN_EXCEPTION", TRANSIENT_NORMAL, "The master failed"),
    OWN(-7203, "AM_RM_HEARTBEAT_SHUTDOWN_REQUESTED", TRANSIENT_NORMAL,
        "The ResourceManager told the master to end"),
    OWN(-7202, "AM_RM_HEARTBEAT_UNKNOWN_EXCEPTION", TRANSIENT_NORMAL,
        "A heartbeat of the master to the ResourceManager failed for an unknown reason"),
    OWN(-7201, "AM_RM_HEARTBEAT_IO_EXCEPTION", TRANSIENT_NORMAL,
        "A heartbeat of the master did not reach the ResourceManager"),
    OWN(-7200, "AM_RM_HEARTBEAT_YARN_EXCEPTION", NON_TRANSIENT,
        "The ResourceManager refused a heartbeat of the master"),
    OWN(-7154, "CONTAINER_AGENT_EXPIRED", TRANSIENT_NORMAL, "The container's agent fell silent"),
    OWN(-7153, "CONTAINER_MIGRATE_TASK_REQUESTED", TRANSIENT_NORMAL,
        "The container was ended since the task's migration was requested"),
    OWN(-7152, "CONTAINER_RM_RESYNC_EXCEEDED", NON_TRANSIENT,
        "The ResourceManager knows a container that is no task's"),
    OWN(-7151, "CONTAINER_RM_RESYNC_LOST", TRANSIENT_NORMAL,
        "The ResourceManager does not know the container any more"),
    OWN(-7150, "CONTAINER_NM_LAUNCH_FAILED", TRANSIENT_NORMAL,
        "The NodeManager did not start the container"),
    RAW(-7126, "CONTAINER_EXTERNAL_UTILIZATION_SPIKED", -200, TRANSIENT_NORMAL,
        "The container was ended since other load of its node rose"),
    RAW(-7125, "CONTAINER_KILLED_ON_APP_COMPLETION", -107, TRANSIENT_NORMAL,
        "The container was killed since the application completed"),
    RAW(-7124, "CONTAINER_KILLED_BY_RM", -106, TRANSIENT_NORMAL,
        "The ResourceManager killed the container"),
    RAW(-7123, "CONTAINER_KILLED_BY_AM", -105, TRANSIENT_NORMAL, "The master killed the container"),
    RAW(-7122, "CONTAINER_PHYSICAL_MEMORY_EXCEEDED", -104, NON_TRANSIENT,
        "The container used more memory than it asked for"),
    RAW(-7121, "CONTAINER_VIRTUAL_MEMORY_EXCEEDED", -103, NON_TRANSIENT,
        "The container used more virtual memory than it may"),
    RAW(-7120, "CONTAINER_PREEMPTED", -102, TRANSIENT_NORMAL,
        "The container was preempted: its place was needed for another queue"),
    TEXT(-7113, "CONTAINER_ABORTED_ON_AM_RESTART", -100, "Container of a completed application",
         TRANSIENT_CONFLICT, "The container was given back while the master restarted"),
    TEXT(-7112, "CONTAINER_EXPIRED", -100, "Container expired since it was unused",
         TRANSIENT_CONFLICT, "The container was not started in time and given back"),
    TEXT(-7111, "CONTAINER_NODE_LOST", -100, "Container released on a *lost* node",
         TRANSIENT_NORMAL, "The container's node was lost"),
    RAW(-7110, "CONTAINER_ABORTED", -100, TRANSIENT_NORMAL, "The container was given back"),
    RAW(-7103, "CONTAINER_PORT_CONFLICT", -210, TRANSIENT_NORMAL,
        "A port of the container was taken when it started"),
    RAW(-7102, "CONTAINER_NODE_DISKS_FAILED", -101, TRANSIENT_NORMAL,
        "Too many disks of the container's node failed"),
    RAW(-7101, "CONTAINER_NOT_AVAILABLE_EXIT_STATUS", -2517, TRANSIENT_NORMAL,
        "The container's exit status is not available"),
    RAW(-7100, "CONTAINER_INVALID_EXIT_STATUS", -1000, TRANSIENT_NORMAL,
        "The container has no exit status"),
    RAW(0, "SUCCEEDED", 0, SUCCEEDED, "It succeeded"),
};

/* Codes of tasks where no file gives them. */
static const struct svc_fw_exit task_codes[] = {
    { 130, SVC_FW_TRANSIENT_NORMAL, "", "Interrupted (SIGINT)" },
    { 132, SVC_FW_NON_TRANSIENT, "", "Illegal instruction (SIGILL)" },
    { 134, SVC_FW_UNKNOWN, "", "It aborted (SIGABRT)" },
    { 135, SVC_FW_NON_TRANSIENT, "", "Bus error (SIGBUS)" },
    { 136, SVC_FW_NON_TRANSIENT, "", "Arithmetic error (SIGFPE)" },
    { 137, SVC_FW_TRANSIENT_NORMAL, "", "Killed (SIGKILL)" },
    { 139, SVC_FW_NON_TRANSIENT, "", "Invalid memory access (SIGSEGV)" },
    { 141, SVC_FW_NON_TRANSIENT, "", "Broken pipe (SIGPIPE)" },
    { 143, SVC_FW_TRANSIENT_NORMAL, "", "Terminated (SIGTERM)" },
    { 154, SVC_FW_TRANSIENT_NORMAL, "", "The NodeManager lost the container's exit status" },
    { 193, SVC_FW_TRANSIENT_NORMAL, "", "A failure that the task says is transient" },
    { 194, SVC_FW_NON_TRANSIENT, "", "A failure that the task says is not transient" },
};

/* ---- Lookups ---- */

static const struct svc_fw_exit *task_code(const struct svc_fw_exits *user, int32_t code)
{
    if (user)
        return svc_fw_exits_find(user, code);
    for (size_t i = 0; i < SV_ARRAY_LEN(task_codes); i++)
        if (task_codes[i].code == code)
            return &task_codes[i];
    return NULL;
}

static struct svc_fw_exit unknown(int32_t code)
{
    return (struct svc_fw_exit){
        .code = code,
        .type = SVC_FW_UNKNOWN,
        .name = "",
        .description = code >= 0 ? "An exit code of the task's own, which is not known"
                                 : "An exit status of YARN's, which is not known",
    };
}

static bool fits(const struct svc_fw_exit_row *row, int32_t raw, const char *diagnostics)
{
    return row->has_raw && row->raw == raw &&
           (!row->pattern || strcasestr(diagnostics, row->pattern));
}

void svc_fw_exit_of_raw(const struct svc_fw_exits *user, int32_t raw, const char *diagnostics,
                        struct svc_fw_exit *ret)
{
    const struct svc_fw_exit *x = task_code(user, raw);

    for (size_t i = 0; i < SV_ARRAY_LEN(rows) && !x; i++)
        if (fits(&rows[i], raw, diagnostics ?: ""))
            x = &rows[i].exit;
    *ret = x ? *x : unknown(raw);
}

void svc_fw_exit_of_code(const struct svc_fw_exits *user, int32_t code, struct svc_fw_exit *ret)
{
    const struct svc_fw_exit *x = task_code(user, code);

    for (size_t i = 0; i < SV_ARRAY_LEN(rows) && !x; i++)
        if (rows[i].exit.code == code)
            x = &rows[i].exit;
    *ret = x ? *x : unknown(code);
}

bool svc_fw_exit_walk(const struct svc_fw_exits *user, size_t *cursor, struct svc_fw_exit_row *ret)
{
    if (*cursor < SV_ARRAY_LEN(rows)) {
        *ret = rows[(*cursor)++];
        return true;
    }
    for (int32_t code = (int32_t)(*cursor - SV_ARRAY_LEN(rows)) + 1; code <= SVC_FW_TASK_CODE_MAX;
         code++) {
        const struct svc_fw_exit *x = task_code(user, code);

        if (!x)
            continue;
        *cursor = SV_ARRAY_LEN(rows) + (size_t)code;
        *ret = (struct svc_fw_exit_row){ .exit = *x, .has_raw = true, .raw = code };
        return true;
    }
    return false;
}

int svc_fw_exit_status(enum svc_fw_type type)
{
    switch (type) {
    case SVC_FW_SUCCEEDED:
        return 0;
    case SVC_FW_TRANSIENT_NORMAL:
    case SVC_FW_TRANSIENT_CONFLICT:
        return 201;
    case SVC_FW_NON_TRANSIENT:
        return 202;
    default:
        return 200;
    }
}
