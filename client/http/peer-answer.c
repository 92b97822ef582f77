/* See peer-answer.h. */
#include "client/http/peer-answer.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/base.h"

enum kind {
    WORD,
    INTEGER,
    REAL,
    PERCENT /* PERCENT: converted to a share: 1.0 = 100% */,
    TRUTH,
    WORDS
};

struct pick {
    const char *key, *path; /* key in the result; path in the answer, "a.b.c" */
    enum kind kind;
};

#define WORDS_MAX 1000 /* per list */

static json_t *descend(json_t *from, const char *path)
{
    char name[64];

    while (from && *path) {
        size_t n = strcspn(path, ".");

        if (n >= sizeof(name))
            return NULL;
        memcpy(name, path, n);
        name[n] = '\0';
        from = json_object_get(from, name);
        path += n + (path[n] == '.');
    }
    return from;
}

static json_t *words(const json_t *v)
{
    json_t *list = json_array(), *item;
    size_t i;

    json_array_foreach(v, i, item)
    {
        if (i < WORDS_MAX && json_is_string(item))
            (void)json_array_append(list, item); /* out of memory: item omitted, ignoring */
    }
    return list;
}

/* Returns a new reference; null if the value has another type. */
static json_t *value_of(json_t *v, enum kind kind)
{
    double number = json_number_value(v);

    switch (kind) {
    case WORD:
        return json_is_string(v) ? json_incref(v) : json_null();
    case INTEGER:
        return json_is_integer(v) ? json_incref(v) : json_null();
    case REAL:
    case PERCENT:
        return json_is_number(v) && isfinite(number)
                   ? json_real(kind == PERCENT ? number / 100 : number)
                   : json_null();
    case TRUTH:
        return json_is_boolean(v) ? json_incref(v) : json_null();
    case WORDS:
        return json_is_array(v) ? words(v) : json_null();
    }
    return json_null();
}

static json_t *pick(json_t *from, const struct pick *rows, size_t n)
{
    json_t *ret = json_is_object(from) ? json_object() : NULL;

    for (size_t i = 0; ret && i < n; i++)
        (void)json_object_set_new(
            ret, rows[i].key,
            value_of(descend(from, rows[i].path), rows[i].kind)); /* else no such key, ignoring */
    return ret;
}

static json_t *pick_body(const char *body, size_t len, const char *object, const struct pick *rows,
                         size_t n)
{
    json_t *root = json_loadb(body, len, 0, NULL);
    json_t *ret = pick(json_object_get(root, object), rows, n);

    json_decref(root);
    return ret;
}

/* ---- Answers of ResourceManagers ---- */

json_t *cli_answer_app(const char *body, size_t len)
{
    static const struct pick rows[] = {
        { "priority", "priority", INTEGER },
        { "tags", "applicationTags", WORD },
        { "unmanaged", "unmanagedApplication", TRUTH },
        { "launchedTime", "launchTime", INTEGER },
        { "masterNode", "masterNodeId", WORD },
        { "masterHttp", "amHostHttpAddress", WORD },
        { "masterLogs", "amContainerLogs", WORD },
        { "memoryMbSeconds", "memorySeconds", INTEGER },
        { "vcoreSeconds", "vcoreSeconds", INTEGER },
        { "preemptedContainers", "numNonAMContainerPreempted", INTEGER },
        { "logAggregation", "logAggregationStatus", WORD },
    };

    return pick_body(body, len, "app", rows, SV_ARRAY_LEN(rows));
}

json_t *cli_answer_cluster(const char *body, size_t len)
{
    static const struct pick rows[] = {
        { "version", "resourceManagerBuildVersion", WORD },
        { "hadoopVersion", "hadoopVersion", WORD },
        { "state", "state", WORD },
        { "haState", "haState", WORD },
        { "startedTime", "startedOn", INTEGER },
    };

    return pick_body(body, len, "clusterInfo", rows, SV_ARRAY_LEN(rows));
}

/* ---- Answers of NodeManagers ---- */

json_t *cli_answer_node(const char *body, size_t len)
{
    static const struct pick rows[] = {
        { "version", "nodeManagerBuildVersion", WORD },
        { "hadoopVersion", "hadoopVersion", WORD },
        { "healthy", "nodeHealthy", TRUTH },
        { "startedTime", "nmStartupTime", INTEGER },
        { "lastHeartbeatTime", "lastNodeUpdateTime", INTEGER },
        { "limitsNotEnforced", "selvedge.limitsNotEnforced", WORDS },
        { "memoryBytes", "selvedge.containers.memoryBytes", INTEGER },
        { "cpuTimeMs", "selvedge.containers.cpuTimeMs", INTEGER },
        { "pids", "selvedge.containers.pids", INTEGER },
        { "cpuPressure", "selvedge.containers.pressure.cpu.some", PERCENT },
        { "memoryPressure", "selvedge.containers.pressure.memory.some", PERCENT },
        { "ioPressure", "selvedge.containers.pressure.io.some", PERCENT },
    };

    return pick_body(body, len, "nodeInfo", rows, SV_ARRAY_LEN(rows));
}

static const struct pick container_rows[] = {
    { "id", "id", WORD },
    { "state", "state", WORD },
    { "user", "user", WORD },
    { "node", "nodeId", WORD },
    { "exitCode", "exitCode", INTEGER },
    { "diagnostics", "diagnostics", WORD },
    { "memoryMb", "totalMemoryNeededMB", INTEGER },
    { "vcores", "totalVCoresNeeded", INTEGER },
    { "executionType", "executionType", WORD },
    { "logFiles", "containerLogFiles", WORDS },
    { "memoryBytes", "selvedge.memoryBytes", INTEGER },
    { "peakMemoryBytes", "selvedge.peakMemoryBytes", INTEGER },
    { "cpuCores", "selvedge.cpuCores", REAL },
    { "cpuTimeMs", "selvedge.cpuTimeMs", INTEGER },
    { "pids", "selvedge.pids", INTEGER },
    { "localizeMs", "selvedge.localizeMs", INTEGER },
    { "launchMs", "selvedge.launchMs", INTEGER },
    { "oomKills", "selvedge.usage.oomKills", INTEGER },
    { "throttledUs", "selvedge.usage.throttledUs", INTEGER },
    { "ioReadBytes", "selvedge.usage.ioReadBytes", INTEGER },
    { "ioWriteBytes", "selvedge.usage.ioWriteBytes", INTEGER },
    { "cpuPressure", "selvedge.usage.pressure.cpu.some", PERCENT },
    { "memoryPressure", "selvedge.usage.pressure.memory.some", PERCENT },
    { "ioPressure", "selvedge.usage.pressure.io.some", PERCENT },
    { "limitsNotEnforced", "selvedge.limitsNotEnforced", WORDS },
};

json_t *cli_answer_container(const char *body, size_t len)
{
    return pick_body(body, len, "container", container_rows, SV_ARRAY_LEN(container_rows));
}

static void append_container(json_t *list, json_t *from)
{
    json_t *one = pick(from, container_rows, SV_ARRAY_LEN(container_rows));

    if (one)
        (void)json_array_append_new(list, one); /* out of memory: item omitted, ignoring */
}

/* Hadoop 2 writes a list of one element without brackets. */
json_t *cli_answer_containers(const char *body, size_t len)
{
    json_t *root = json_loadb(body, len, 0, NULL);
    json_t *containers = json_object_get(root, "containers"), *item;
    json_t *found = json_object_get(containers, "container");
    json_t *list = json_is_object(root) && containers ? json_array() : NULL;
    size_t i;

    if (list && json_is_object(found))
        append_container(list, found);
    json_array_foreach(found, i, item)
    {
        if (list && i < CLI_ANSWER_ITEMS_MAX)
            append_container(list, item);
    }
    json_decref(root);
    return list;
}
