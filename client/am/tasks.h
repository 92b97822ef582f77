/* The ApplicationMaster's table of instances, without I/O: each one's container and exit status,
 * and which to restart. selvedge-am feeds it YARN's events. */
#ifndef SELVEDGE_CLIENT_AM_TASKS_H
#define SELVEDGE_CLIENT_AM_TASKS_H

#include "client/job/job.h"

enum cli_task_state {
    CLI_TASK_WAITING = 1, /* waiting for a container */
    CLI_TASK_STARTING,    /* a node was asked to start it */
    CLI_TASK_RUNNING,
    CLI_TASK_DONE,
};

struct cli_task {
    int32_t instance; /* 0…, of the job */
    int32_t number;   /* 0…, of the group: what the container is told */
    size_t group;
    enum cli_task_state state;
    int32_t tries;                      /* containers assigned so far */
    struct yarn_container_id container; /* the last one */
    char node[264], http[264];          /* "host:port" */
    int32_t failures;                   /* failures of the job's command */
    int32_t exit_status;                /* valid if DONE */
    char diagnostics[1024];
    int64_t started_ms, ended_ms; /* wall clock, as seen by the ApplicationMaster */
};

struct cli_tasks;

/* Makes the table of the job's instances that run. One restarts after a lost container, up to
 * `tries` starts in all, and after a failure of its command, up to its group's `restarts` times.
 * `job` is borrowed.
 */
struct cli_tasks *cli_tasks_new(const struct cli_job *job);
struct cli_tasks *cli_tasks_free(struct cli_tasks *t);
int32_t cli_tasks_count(const struct cli_tasks *t);
const struct cli_task *cli_tasks_get(const struct cli_tasks *t, int32_t instance);

/* Containers that each group misses now, within the limits of containers at a time. */
void cli_tasks_wanted(const struct cli_tasks *t, int32_t ret[CLI_GROUPS_MAX]);
int32_t cli_tasks_done(const struct cli_tasks *t);
static inline bool cli_tasks_all_done(const struct cli_tasks *t)
{
    return cli_tasks_done(t) == cli_tasks_count(t);
}

/* Assigns the container to a waiting instance of the group; NULL: none may start now, so release
 * it. */
const struct cli_task *cli_tasks_assign(struct cli_tasks *t, size_t group,
                                        const struct cli_allocation *c);
/* The node's answer to the start. A failure returns the instance to waiting, or ends it after the
 * last try. Unknown containers change nothing and return NULL. */
const struct cli_task *cli_tasks_started(struct cli_tasks *t, struct yarn_container_id id,
                                         int status, const char *why);
/* Records the end of a container. Lost ones (-100, -101, -102) are restarted, failed ones up to
 * `restarts` times. */
const struct cli_task *cli_tasks_completed(struct cli_tasks *t, struct yarn_container_id id,
                                           int32_t exit_status, const char *diagnostics);

/* Returns the job's exit code: 0, or that of the first failed instance in the table; *ret_failed is
 * the number of failed ones and *ret_first (may be NULL) the first of them or NULL. */
int cli_tasks_exit_code(const struct cli_tasks *t, int32_t *ret_failed,
                        const struct cli_task **ret_first);

/* False once the final table need not wait for its reader any longer: 4 s after the last poll, 10 s
 * without one, and a minute in any case, since anybody may poll. Monotonic times in ms; asked_at 0:
 * nobody has polled. */
bool cli_table_awaited(int64_t now, int64_t all_done_at, int64_t asked_at);

#endif
