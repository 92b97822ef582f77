/* Bodies of the FrameworkLauncher's REST API beside the descriptor. Hostile: all of them. Each
 * function: -EINVAL with the violations, -EFBIG, -ENOMEM. */
#ifndef SELVEDGE_SERVICE_FRAMEWORK_BODIES_H
#define SELVEDGE_SERVICE_FRAMEWORK_BODIES_H

#include <jansson.h>

#include "common/base.h"

#define SVC_FW_NODES_MAX 20000 /* of a ClusterConfiguration */

int svc_fw_read_task_number(const char *json, size_t len, int32_t *ret, char **ret_violations)
    _must_use_;
int svc_fw_read_execution(const char *json, size_t len, bool *ret_stop, char **ret_violations)
    _must_use_;
int svc_fw_read_migrate(const char *json, size_t len, char **ret_violations) _must_use_;
int svc_fw_read_progress(const char *json, size_t len, double *ret, char **ret_violations)
    _must_use_;
/* UpdateDataDeploymentVersionRequest; the version is malloc'd. */
int svc_fw_read_data_version(const char *json, size_t len, bool *ret_launched, char **ret_version,
                             char **ret_violations) _must_use_;
/* ClusterConfiguration and AclConfiguration with their defaults: new references. */
int svc_fw_read_cluster(const char *json, size_t len, json_t **ret, char **ret_violations)
    _must_use_;
int svc_fw_read_acl(const char *json, size_t len, json_t **ret, char **ret_violations) _must_use_;

#endif
