/* TaskStatus of the FrameworkLauncher's REST API: what a master tells of one task, and what clients
 * of the API read. The master prints it, the launcher checks it.
 *
 * A told status is hostile: a master runs as a user. Texts are the arena's. */
#ifndef SELVEDGE_SERVICE_FRAMEWORK_STATUS_H
#define SELVEDGE_SERVICE_FRAMEWORK_STATUS_H

#include <jansson.h>

#include "common/arena.h"
#include "common/error.h"
#include "service/framework/descriptor.h"

#define SVC_FW_DIAGNOSTICS_TASK_MAX 4096 /* bytes of a task's diagnostics, which are cut */
#define SVC_FW_PORTS_TEXT_MAX 16384      /* bytes of containerPorts */
#define SVC_FW_HOST_MAX 255              /* bytes of a host */
#define SVC_FW_LINK_TEXT_MAX 1024        /* bytes of a URL or an address */
#define SVC_FW_DESCRIPTION_MAX 1024      /* bytes of an exit's description */

enum svc_fw_task_state { /* TaskState */
                         SVC_FW_TASK_WAITING,
                         SVC_FW_CONTAINER_REQUESTED,
                         SVC_FW_CONTAINER_ALLOCATED,
                         SVC_FW_CONTAINER_LAUNCHED,
                         SVC_FW_CONTAINER_RUNNING,
                         SVC_FW_CONTAINER_COMPLETED,
                         SVC_FW_TASK_COMPLETED,
                         SVC_FW_N_TASK_STATES
};

struct svc_fw_task {
    int32_t index;
    bool removed; /* the task is gone: nothing else is set */
    enum svc_fw_task_state state;
    struct svc_fw_retries retries;
    int32_t service_version;
    int64_t created_ms, completed_ms; /* wall clock; completed_ms 0 = null */
    /* The container's: NULL, 0 or false = null. */
    const char *container, *host, *ip, *ports, *log_url;
    bool has_gpus;
    int64_t gpus; /* a mask */
    int32_t lost; /* containerConnectionLostCount; < 0 = null */
    int64_t launched_ms, ended_ms;
    bool exited;
    int32_t exit_code;
    const char *exit_description, *exit_diagnostics;
    enum svc_fw_type exit_type;
};

/* Reads one; `o` must be of the role. -EINVAL: err has field and rule. */
int svc_fw_task_read(const json_t *o, const char *role, struct sv_arena *a, struct svc_fw_task *ret,
                     struct sv_error *err) _must_use_;
/* All fields, absent values as null; or {"taskIndex", "removed"}. Longer texts are cut. NULL: no
 * memory. */
json_t *svc_fw_task_json(const struct svc_fw_task *t, const char *role);
/* A state in which the task has a container. */
bool svc_fw_task_has_container(enum svc_fw_task_state s);

json_t *svc_fw_retries_json(const struct svc_fw_retries *r);
int svc_fw_retries_read(const json_t *o, struct svc_fw_retries *ret) _must_use_;

const char *svc_fw_task_state_text(enum svc_fw_task_state s);
const char *svc_fw_type_text(enum svc_fw_type t);
/* -ENOENT: no such name. */
int svc_fw_type_named(const char *name, enum svc_fw_type *ret) _must_use_;

#endif
