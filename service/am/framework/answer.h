/* Answers of selvedge-services to a framework's master (service/framework/link.h). Pure. Hostile:
 * all of it, though its sender is trusted to be the user's cluster. */
#ifndef SELVEDGE_SERVICE_AM_FRAMEWORK_ANSWER_H
#define SELVEDGE_SERVICE_AM_FRAMEWORK_ANSWER_H

#include "service/framework/status.h"
#include "wire/ids.h"

#define SVC_ANSWER_MIGRATE_MAX                                                                     \
    10000 /* containers of one answer; more are left for the next one                              \
           */

struct svc_answer_role {
    const char *name;
    struct svc_fw_task *tasks;
    size_t n;
};
struct svc_answer { /* all of the arena */
    int64_t revision, sequence;
    int64_t pause_ms;                     /* until the next request that waits; 0: none */
    struct svc_fw_descriptor *descriptor; /* NULL: unchanged */
    struct yarn_container_id *migrate;
    size_t n_migrate;
    double progress;               /* the override, 0 to 1; < 0: none */
    const json_t *cluster;         /* clusterConfiguration; NULL: none; a reference of `tree` */
    const json_t *exits;           /* exitSpec; NULL: the defaults; likewise */
    struct svc_answer_role *roles; /* what the attempt before told */
    size_t n_roles;
    json_t *tree;
};
/* -EBADMSG: err says what is wrong. On success svc_answer_clear() frees the tree. */
int svc_answer_parse(const char *json, size_t len, struct sv_arena *a, struct svc_answer *ret,
                     struct sv_error *err) _must_use_;
void svc_answer_clear(struct svc_answer *answer);

#endif
