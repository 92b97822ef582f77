/* Job description of `selvedge run`: a JSON file that the command line writes and its
 * ApplicationMaster reads, localized with it. Both run as the same user. */
#ifndef SELVEDGE_CLIENT_JOB_JOB_H
#define SELVEDGE_CLIENT_JOB_JOB_H

#include "client/lib/client.h"
#include "common/arena.h"

#define CLI_JOB_FILE "selvedge-job.json" /* names of the links in the work directory */
#define CLI_AM_FILE "selvedge-am"
#define CLI_TABLE_FILE "containers.json" /* the final table, among the AM's logs */
#define CLI_TASK_FILE "selvedge-task"    /* bash script that each container runs */
#define CLI_SECRET_HEADER "X-Selvedge-Secret"
#define CLI_INSTANCES_MAX 10000
#define CLI_RESOURCES_MAX 256

struct cli_job {
    const char *name;
    int32_t instances;
    struct yarn_resource resource; /* of each container */
    int32_t tries;                 /* maximum starts of an instance whose node is lost */
    int32_t restarts;              /* maximum restarts of a failed instance */
    struct cli_server *schedulers; /* one per ResourceManager */
    size_t n_schedulers;
    bool detached;                     /* no client waits for the final table */
    const char *secret;                /* hex: authorizes POST /end */
    const char *view_acl, *modify_acl; /* ACLs in each container's launch; NULL: none */
    struct cli_resource *resources;
    size_t n_resources;
};

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
