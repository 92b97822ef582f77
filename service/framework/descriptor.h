/* Frameworks, as a user asks the FrameworkLauncher for them: a framework of task roles, each of
 * equal tasks, as JSON in the launcher's field names. Read, checked with all violations and their
 * paths, printed with defaults filled in and absent values as null.
 *
 * A descriptor is hostile. All memory is the arena's; texts are UTF-8; NULL = null or absent where
 * a comment says so, else never NULL. */
#ifndef SELVEDGE_SERVICE_FRAMEWORK_DESCRIPTOR_H
#define SELVEDGE_SERVICE_FRAMEWORK_DESCRIPTOR_H

#include <jansson.h>

#include "common/arena.h"
#include "common/error.h"

#define SVC_FW_JSON_MAX                                                                            \
    ((size_t)1 << 20)       /* bytes of a body: a descriptor of the launcher's fits a node         \
                             * of ZooKeeper */
#define SVC_FW_NAME_MAX 256 /* bytes of a name: [A-Za-z0-9._~-]{1,256} */
#define SVC_FW_ROLES_MAX 256
#define SVC_FW_TASKS_MAX 50000 /* of one role, as the launcher */
#define SVC_FW_PORTS_MAX 256   /* labels of one role */
#define SVC_FW_SOURCES_MAX 256 /* locations of one role */
#define SVC_FW_ENTRY_MAX 65536 /* bytes of an entry point */
#define SVC_FW_SOURCE_MAX 4096 /* bytes of a location, of a web address */
#define SVC_FW_RETRY_ALWAYS -2 /* max_retries: also after success */
#define SVC_FW_RETRY_FAILED -1 /* without an end, after failures */

enum svc_fw_type { /* ExitType */
                   SVC_FW_SUCCEEDED,
                   SVC_FW_TRANSIENT_NORMAL,
                   SVC_FW_TRANSIENT_CONFLICT,
                   SVC_FW_NON_TRANSIENT,
                   SVC_FW_UNKNOWN,
                   SVC_FW_N_TYPES
};

struct svc_fw_retry_policy { /* RetryPolicyDescriptor */
    bool fancy;
    int32_t max_retries; /* >= -2 */
};
struct svc_fw_retries { /* RetryPolicyState */
    int32_t retried, succeeded, transient_normal, transient_conflict, non_transient, unknown;
};

struct svc_fw_ports { /* a label of portDefinitions */
    const char *label;
    int32_t start, count; /* start 0: any ports */
};
struct svc_fw_resource {
    int32_t cpus, memory_mb, gpus, disk_mb;
    int64_t gpu_mask;           /* 0: any; else as many bits as gpus */
    bool ssd;                   /* diskType; not scheduled by, as by the launcher */
    struct svc_fw_ports *ports; /* sorted by label */
    size_t n_ports;
};
struct svc_fw_role {
    const char *name;
    int32_t tasks; /* taskNumber */
    int32_t scale_unit, scale_timeout_s;
    struct svc_fw_retry_policy retry;
    int32_t min_failed, min_succeeded; /* 0 = null: the condition is off */
    int32_t service_version;
    const char *entry_point;
    const char **sources; /* urls: file:, hdfs:, http:, https: */
    size_t n_sources;
    struct svc_fw_resource resource;
    const char *label, *gpu_type; /* NULL: the framework's */
    bool same_ports;
};

/* Fields that the launcher reads, prints and does not act on: its agent, which was never open
 * source. */
struct svc_fw_check { /* HealthCheck */
    bool web, non_transient;
    const char *entry_point, *url; /* NULL = null */
    int32_t delay_s, interval_s, timeout_s, failures, grace_s;
};
struct svc_fw_agent {
    bool agent, heartbeat, health_check; /* amType AGENT, agentUse… */
    int32_t heartbeat_s, expiry_s;
    struct svc_fw_check *check; /* NULL = null */
};

struct svc_fw_descriptor {
    const char *description; /* NULL = null */
    int32_t version;
    bool stop; /* executionType STOP */
    struct svc_fw_retry_policy retry;
    const char *parent; /* NULL: none */
    bool deleted_with_parent, stopped_with_parent;
    const char *user, *queue;
    struct svc_fw_role *roles; /* sorted by name */
    size_t n_roles;
    struct svc_fw_resource master;               /* amResource */
    const char *master_label, *label, *gpu_type; /* NULL = null */
    int32_t max_lost, max_exceed; /* containerConnectionMax…Count; max_lost -2: the default */
    bool anti_affine, gang, skip_tried;
    struct svc_fw_agent agent;
};

/* -EINVAL: *ret_violations has all of them, one a line, each with its path
 * ("taskRoles[W].taskService.resource.cpuNumber: may not be null"); malloc'd. -EFBIG. `gpus`: the
 * cluster has them. */
int svc_fw_parse(const char *json, size_t len, bool gpus, struct sv_arena *a,
                 struct svc_fw_descriptor **ret, char **ret_violations) _must_use_;
/* The JSON that svc_fw_parse() reads back into the same; a new reference. NULL: no memory. */
json_t *svc_fw_json(const struct svc_fw_descriptor *d);
bool svc_fw_name_valid(const char *name);
/* "NAMESPACE~NAME" with one ~: the namespace's length; 0: it has none. */
size_t svc_fw_namespace(const char *name);
struct svc_fw_role *svc_fw_role_named(const struct svc_fw_descriptor *d, const char *name);
int64_t svc_fw_total_tasks(const struct svc_fw_descriptor *d);
/* Whether the addresses of a gang's tasks, which each of them has in a file, are few enough, with
 * hosts whose names have 64 bytes. True of what is no gang. */
#define SVC_FW_ADDRESSES_MAX ((size_t)32 << 20)
bool svc_fw_gang_fits(const struct svc_fw_descriptor *d);

#endif
