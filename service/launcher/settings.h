/* Configuration of the FrameworkLauncher: the keys of its LauncherConfiguration that mean something
 * here, one row each, read once at start. */
#ifndef SELVEDGE_SERVICE_LAUNCHER_SETTINGS_H
#define SELVEDGE_SERVICE_LAUNCHER_SETTINGS_H

#include <jansson.h>

#include "common/conf.h"
#include "common/zookeeper/zk-conf.h"
#include "service/engine/exit-table.h"

#define SVC_LR_URLS_MAX 16        /* servers */
#define SVC_LR_URLS_TEXT_MAX 2000 /* bytes of the URLs of all */

struct svc_lr_settings {
    bool enabled;
    const char *dir;     /* of the store */
    const char *address; /* URL of this server as masters reach it, or NULL; of all, where shared */
    bool shared;         /* the store is in ZooKeeper */
    const char *zk_root; /* likewise: the node that everything is below */
    struct sv_zk_settings zk; /* owned, likewise */
    int64_t resync_s, diagnostics_retries;
    int64_t conflict_min_s, conflict_max_s;
    int64_t retain_s;              /* completed frameworks */
    int64_t max_tasks, user_share; /* percent */
    int64_t am_attempts, am_validity_s, am_priority;
    bool acl, acl_without_namespace;
    char **admins;              /* owned: rootAdminUsers */
    bool gpus;                  /* the cluster has yarn.io/gpu */
    struct svc_fw_exits *exits; /* owned: exit codes of tasks; NULL: the defaults */
    struct sv_conf *conf;       /* borrowed */
};

int svc_lr_settings_read(struct sv_conf *conf, struct svc_lr_settings *ret, struct sv_error *err)
    _must_use_;
void svc_lr_settings_free(struct svc_lr_settings *s);
const struct sv_conf_key *svc_lr_keys(size_t *ret_n);
/* LauncherConfiguration, as clients know it. NULL: no memory. */
json_t *svc_lr_settings_json(const struct svc_lr_settings *s);

#endif
