/* See nodes.h. */
#include "service/ha/nodes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "service/framework/descriptor.h"
#include "service/framework/reader.h"

#define BUCKET 1000 /* tasks of a role whose nodes are together */

enum { META, REQUESTS, STATUSES, TASKS, KILLS, N_DIRECTORIES };
static const struct svc_ha_directory directories[N_DIRECTORIES] = {
    [META] = { "Launcher", 1 },      [REQUESTS] = { "Requests", 1 }, [STATUSES] = { "Statuses", 1 },
    [TASKS] = { "TaskStatuses", 3 }, [KILLS] = { "Kills", 1 },
};

const struct svc_ha_directory *svc_ha_directories(size_t *ret_n)
{
    *ret_n = N_DIRECTORIES;
    return directories;
}

/* ---- Names ---- */

/* ZooKeeper has no nodes named so. */
static const struct {
    const char *name, *node;
} dots[] = { { ".", "%2E" }, { "..", "%2E%2E" } };

static const char *node_of(const char *name)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(dots); i++)
        if (strcmp(name, dots[i].name) == 0)
            return dots[i].node;
    return name;
}

static const char *name_of(const char *node)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(dots); i++)
        if (strcmp(node, dots[i].node) == 0)
            return dots[i].name;
    return node;
}

/* ---- Writing ---- */

static const int of_kind[SVC_LR_N_ROWS] = {
    [SVC_LR_ROW_REQUEST] = REQUESTS, [SVC_LR_ROW_STATUS] = STATUSES, [SVC_LR_ROW_REMOVE] = -1,
    [SVC_LR_ROW_TASK] = TASKS,       [SVC_LR_ROW_NO_TASK] = TASKS,   [SVC_LR_ROW_DROP] = -1,
    [SVC_LR_ROW_KILL] = KILLS,       [SVC_LR_ROW_KILLED] = KILLS,    [SVC_LR_ROW_META] = META,
};

int svc_ha_node_path(const struct svc_lr_row *row, char ret[SVC_HA_PATH_MAX])
{
    int d = of_kind[row->kind], n;

    if (d < 0)
        return -EINVAL;
    if (d == TASKS)
        n = snprintf(ret, SVC_HA_PATH_MAX, "%s/%" PRId64 "/%s:%d/%d", directories[d].name,
                     row->tasks, row->role, row->index / BUCKET, row->index);
    else
        n = snprintf(ret, SVC_HA_PATH_MAX, "%s/%s", directories[d].name, node_of(row->name));
    return n < SVC_HA_PATH_MAX ? 0 : -EINVAL;
}

int svc_ha_node_value(const struct svc_lr_row *row, struct sv_buf *ret)
{
    int r = 0;

    if (row->kind == SVC_LR_ROW_REQUEST)
        r = sv_buf_printf(ret, "%" PRId64 "\n", row->tasks);
    if (r == 0)
        r = sv_buf_put_str(ret, row->value);
    if (r == 0 && row->kind == SVC_LR_ROW_KILL)
        r = sv_buf_printf(ret, "\n%s", row->more);
    return r;
}

void svc_ha_set_path(int64_t tasks, char ret[SVC_HA_PATH_MAX])
{
    (void)snprintf(ret, SVC_HA_PATH_MAX, "%s/%" PRId64, directories[TASKS].name, tasks);
}

/* ---- Reading ---- */

/* A number as it was printed: without a sign, a space, a zero before it. */
static bool whole(const char *text, int64_t max, int64_t *ret)
{
    char again[32];
    char *end;

    errno = 0;
    *ret = strtoll(text, &end, 10);
    (void)snprintf(again, sizeof(again), "%" PRId64, *ret);
    return errno == 0 && *ret >= 0 && *ret <= max && strcmp(text, again) == 0;
}

static int read_task(char *path, struct svc_lr_row *ret)
{
    char *set = strsep(&path, "/"), *bucket = strsep(&path, "/"), *colon;
    int64_t index, n;

    colon = bucket ? strrchr(bucket, ':') : NULL;
    if (!colon || !path || !whole(set, INT64_MAX, &ret->tasks) ||
        !whole(path, SVC_FW_TASKS_MAX, &index) || !whole(colon + 1, SVC_FW_TASKS_MAX, &n) ||
        n != index / BUCKET)
        return -EUCLEAN;
    *colon = '\0';
    if (!svc_fw_name_valid(bucket))
        return -EUCLEAN;
    ret->kind = SVC_LR_ROW_TASK;
    ret->role = bucket;
    ret->index = (int32_t)index;
    return 0;
}

static int read_request(char *value, struct svc_lr_row *ret)
{
    char *end = strchr(value, '\n');

    if (!end)
        return -EUCLEAN;
    *end = '\0';
    ret->kind = SVC_LR_ROW_REQUEST;
    ret->value = end + 1;
    return whole(value, INT64_MAX, &ret->tasks) ? 0 : -EUCLEAN;
}

static int read_kill(char *value, struct svc_lr_row *ret)
{
    char *end = strchr(value, '\n');

    if (!end || end == value || (end[1] && !svc_fw_name_valid(end + 1)))
        return -EUCLEAN;
    *end = '\0';
    ret->kind = SVC_LR_ROW_KILL;
    ret->more = end + 1;
    return 0;
}

int svc_ha_node_read(char *path, char *value, size_t len, struct svc_lr_row *ret)
{
    char *top = strsep(&path, "/");
    int d = 0;

    *ret = (struct svc_lr_row){ .name = path, .value = value };
    while (d < N_DIRECTORIES && strcmp(directories[d].name, top) != 0)
        d++;
    if (d == N_DIRECTORIES || !path || !*path || strlen(value) != len)
        return -EUCLEAN;
    if (d == TASKS)
        return read_task(path, ret);
    if (strchr(path, '/') || node_of(path) != path)
        return -EUCLEAN;
    ret->name = name_of(path);
    if (d == KILLS)
        return read_kill(value, ret);
    ret->kind = d == META ? SVC_LR_ROW_META : SVC_LR_ROW_STATUS;
    if (d != META && !svc_fw_name_valid(ret->name))
        return -EUCLEAN;
    return d == REQUESTS ? read_request(value, ret) : 0;
}
