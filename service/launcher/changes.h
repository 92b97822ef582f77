/* Changes that users ask for: checked against what there is, written, then done. Each returns the
 * status of an answer: 202, or another with *ret_why, which is static or the settings'. */
#ifndef SELVEDGE_SERVICE_LAUNCHER_CHANGES_H
#define SELVEDGE_SERVICE_LAUNCHER_CHANGES_H

#include "service/launcher/launcher.h"

struct svc_lr_put {
    const char *name;
    struct sv_arena *arena; /* of the descriptor; taken on success */
    struct svc_fw_descriptor *d;
    char *text; /* its JSON, malloc'd; likewise */
    enum svc_lr_client client;
    const char *host, *user; /* of the client */
};
unsigned svc_lr_put(struct svc_lr *l, struct svc_lr_put *p, const char **ret_why);
unsigned svc_lr_delete(struct svc_lr *l, const char *name, const char **ret_why);
unsigned svc_lr_set_number(struct svc_lr *l, const char *name, const char *role, int32_t n,
                           const char **ret_why);
unsigned svc_lr_set_execution(struct svc_lr *l, const char *name, bool stop, const char **ret_why);
unsigned svc_lr_set_progress(struct svc_lr *l, const char *name, double progress,
                             const char **ret_why);
unsigned svc_lr_migrate(struct svc_lr *l, const char *name, const char *container,
                        const char **ret_why);
unsigned svc_lr_unmigrate(struct svc_lr *l, const char *name, const char *container,
                          const char **ret_why);
/* `key`: "cluster", "acl", "launching", "launched"; `value` is taken. */
unsigned svc_lr_set_meta(struct svc_lr *l, const char *key, json_t *value, const char **ret_why);

#endif
