/* See tasks.h. */
#include "client/am/tasks.h"

#include <stdio.h>
#include <string.h>

#include "client/job/diagnostics.h"
#include "common/clock.h"

#define EXIT_ABORTED (-100)
#define EXIT_DISKS_FAILED (-101)
#define EXIT_PREEMPTED (-102)
#define NEVER_ASKED_MS 10000 /* limit for the first poll of a client */
#define STOPPED_ASKING_MS 4000
#define LINGER_MAX_MS 60000

struct cli_tasks {
    const struct cli_job *job;
    int32_t n, done;
    struct group {
        int32_t first;           /* index of its first instance in the list */
        int32_t waiting, active; /* active: STARTING or RUNNING */
    } groups[CLI_GROUPS_MAX];
    struct cli_task list[];
};

struct cli_tasks *cli_tasks_new(const struct cli_job *job)
{
    const int32_t n = cli_job_runs(job);
    struct cli_tasks *t = calloc(1, sizeof(*t) + (size_t)n * sizeof(t->list[0]));

    if (!t)
        return NULL;
    t->job = job;
    for (size_t g = 0; g < job->n_groups; g++) {
        const struct cli_job_group *from = &job->groups[g];

        t->groups[g] = (struct group){ .first = t->n, .waiting = cli_group_runs(from) };
        for (int32_t i = 0; i < cli_group_runs(from); i++, t->n++)
            t->list[t->n] = (struct cli_task){ .instance = t->n,
                                               .number = from->only ? from->only[i] : i,
                                               .group = g,
                                               .state = CLI_TASK_WAITING };
    }
    return t;
}

struct cli_tasks *cli_tasks_free(struct cli_tasks *t)
{
    free(t);
    return NULL;
}

int32_t cli_tasks_count(const struct cli_tasks *t)
{
    return t->n;
}

const struct cli_task *cli_tasks_get(const struct cli_tasks *t, int32_t instance)
{
    return &t->list[instance];
}

/* How many more containers `group` may have at a time; `active`: those of all groups. */
static int32_t room_of(const struct cli_tasks *t, size_t group, int32_t active)
{
    const struct cli_job_group *g = &t->job->groups[group];
    int32_t room = INT32_MAX;

    if (g->at_once > 0)
        room = g->at_once - t->groups[group].active;
    if (t->job->at_once > 0)
        room = SV_MIN(room, t->job->at_once - active);
    return SV_MAX(room, 0);
}

static int32_t active_of_all(const struct cli_tasks *t)
{
    int32_t n = 0;

    for (size_t g = 0; g < t->job->n_groups; g++)
        n += t->groups[g].active;
    return n;
}

void cli_tasks_wanted(const struct cli_tasks *t, int32_t ret[CLI_GROUPS_MAX])
{
    int32_t active = active_of_all(t);

    for (size_t g = 0; g < t->job->n_groups; g++) {
        ret[g] = SV_MIN(t->groups[g].waiting, room_of(t, g, active));
        active += ret[g];
    }
}

int32_t cli_tasks_done(const struct cli_tasks *t)
{
    return t->done;
}

static bool is_active(enum cli_task_state state)
{
    return state == CLI_TASK_STARTING || state == CLI_TASK_RUNNING;
}

static struct cli_task *by_container(struct cli_tasks *t, struct yarn_container_id id)
{
    for (int32_t i = 0; i < t->n; i++) {
        struct cli_task *task = &t->list[i];

        if (is_active(task->state) && yarn_container_id_cmp(task->container, id) == 0)
            return task;
    }
    return NULL;
}

static void set_state(struct cli_tasks *t, struct cli_task *task, enum cli_task_state state)
{
    struct group *g = &t->groups[task->group];

    g->waiting += (state == CLI_TASK_WAITING) - (task->state == CLI_TASK_WAITING);
    g->active += is_active(state) - is_active(task->state);
    task->state = state;
}

const struct cli_task *cli_tasks_assign(struct cli_tasks *t, size_t group,
                                        const struct cli_allocation *c)
{
    if (group >= t->job->n_groups || room_of(t, group, active_of_all(t)) == 0)
        return NULL;
    for (int32_t i = t->groups[group].first; i < t->n && t->list[i].group == group; i++) {
        struct cli_task *task = &t->list[i];

        if (task->state != CLI_TASK_WAITING)
            continue;
        set_state(t, task, CLI_TASK_STARTING);
        task->tries++;
        task->container = c->id;
        yarn_node_id_text(&c->node, task->node);
        snprintf(task->http, sizeof(task->http), "%s", c->http_address);
        task->started_ms = sv_wall_ms();
        return task;
    }
    return NULL;
}

static void end(struct cli_tasks *t, struct cli_task *task, int32_t exit_status)
{
    set_state(t, task, CLI_TASK_DONE);
    task->exit_status = exit_status;
    task->ended_ms = sv_wall_ms();
    t->done++;
}

/* Resets the retries, which count lost containers. */
static void start_again(struct cli_tasks *t, struct cli_task *task)
{
    task->failures++;
    task->tries = 0;
    set_state(t, task, CLI_TASK_WAITING);
}

static void retry_or_end(struct cli_tasks *t, struct cli_task *task, int32_t exit_status)
{
    if (task->tries < t->job->tries)
        set_state(t, task, CLI_TASK_WAITING);
    else
        end(t, task, exit_status);
}

const struct cli_task *cli_tasks_started(struct cli_tasks *t, struct yarn_container_id id,
                                         int status, const char *why)
{
    struct cli_task *task = by_container(t, id);

    if (!task)
        return NULL;
    if (status == 0) {
        set_state(t, task, CLI_TASK_RUNNING);
        return task;
    }
    snprintf(task->diagnostics, sizeof(task->diagnostics), "%s", why ? why : "");
    retry_or_end(t, task, EXIT_ABORTED);
    return task;
}

const struct cli_task *cli_tasks_completed(struct cli_tasks *t, struct yarn_container_id id,
                                           int32_t exit_status, const char *diagnostics)
{
    struct cli_task *task = by_container(t, id);

    if (!task)
        return NULL;
    cli_diagnostics_copy(task->diagnostics, sizeof(task->diagnostics), diagnostics);
    if (exit_status == EXIT_ABORTED || exit_status == EXIT_DISKS_FAILED ||
        exit_status == EXIT_PREEMPTED)
        retry_or_end(t, task, exit_status);
    else if (exit_status != 0 && task->failures < t->job->groups[task->group].restarts)
        start_again(t, task);
    else
        end(t, task, exit_status);
    return task;
}

int cli_tasks_exit_code(const struct cli_tasks *t, int32_t *ret_failed,
                        const struct cli_task **ret_first)
{
    const struct cli_task *first = NULL;
    int32_t failed = 0;

    for (int32_t i = 0; i < t->n; i++) {
        if (t->list[i].state != CLI_TASK_DONE || t->list[i].exit_status == 0)
            continue;
        failed++;
        if (!first)
            first = &t->list[i];
    }
    *ret_failed = failed;
    if (ret_first)
        *ret_first = first;
    return first ? cli_exit_code(first->exit_status) : 0;
}

bool cli_table_awaited(int64_t now, int64_t all_done_at, int64_t asked_at)
{
    if (now - all_done_at > LINGER_MAX_MS)
        return false;
    return asked_at ? now - asked_at <= STOPPED_ASKING_MS : now - all_done_at <= NEVER_ASKED_MS;
}
