/* Job description of `selvedge run`: a JSON file that the command line writes and its
 * ApplicationMaster reads, localized with it. Both run as the same user. */
#ifndef SELVEDGE_CLIENT_JOB_JOB_H
#define SELVEDGE_CLIENT_JOB_JOB_H

#include "client/lib/client.h"
#include "common/arena.h"

#define CLI_JOB_FILE "selvedge-job.json" /* names of the links in the work directory */
#define CLI_AM_FILE "selvedge-am"
#define CLI_TABLE_FILE "containers.json" /* the final table, among the AM's logs */
#define CLI_TASK_FILE "selvedge-task"    /* bash script of a group without a command */
#define CLI_COMMAND_MAX 4096             /* bytes of a group's command, with its NUL */
#define CLI_SECRET_HEADER "X-Selvedge-Secret"
#define CLI_INSTANCES_MAX 10000
#define CLI_RESOURCES_MAX 256

#define CLI_GROUPS_MAX 64
#define CLI_GROUP_NAME_MAX 64 /* with its NUL */

struct cli_job_group {             /* instances of one size and one command */
    const char *name;              /* "": the only group of a job that names none */
    const char *command;           /* of each container, for any NodeManager; NULL: CLI_TASK_FILE */
    struct yarn_resource resource; /* of each container */
    int32_t instances;
    int32_t restarts; /* maximum restarts of a failed instance */
    int32_t at_once;  /* containers at a time; 0: no limit */
    int32_t *only;    /* the instances to run, ascending; NULL: all */
    size_t n_only;
    struct cli_resource *resources; /* besides the job's */
    size_t n_resources;
};
/* How many of its instances run. */
static inline int32_t cli_group_runs(const struct cli_job_group *g)
{
    return g->only ? (int32_t)g->n_only : g->instances;
}

struct cli_job {
    const char *name;
    int32_t tries;   /* maximum starts of an instance whose node is lost */
    int32_t at_once; /* containers of all groups at a time; 0: no limit */
    struct cli_job_group *groups;
    size_t n_groups;
    struct cli_server *schedulers; /* one per ResourceManager */
    size_t n_schedulers;
    bool detached;                     /* no client waits for the final table */
    const char *secret;                /* hex: authorizes POST /end */
    const char *view_acl, *modify_acl; /* ACLs in each container's launch; NULL: none */
    struct cli_resource *resources;
    size_t n_resources;
};

/* Instances of all groups that run. */
int32_t cli_job_runs(const struct cli_job *job);

/* Allocates everything in the arena. */
int cli_job_parse(const char *json, size_t len, struct sv_arena *a, struct cli_job *ret,
                  struct sv_error *err) _must_use_;
int cli_job_print(const struct cli_job *job, char **ret) _must_use_; /* malloc'd */

/* An exit code as a shell sees it: YARN's negative ones become 1. */
static inline int cli_exit_code(int32_t status)
{
    return status >= 0 && status <= 255 ? (int)status : 1;
}

#endif
