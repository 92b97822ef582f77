/* The launch of a task: files from its source locations, environment and command. By a job of the
 * worker, which asks file systems and the name service. Hostile: the descriptor, which a user
 * wrote, and all that file systems tell. */
#ifndef SELVEDGE_SERVICE_AM_FRAMEWORK_TASK_LAUNCH_H
#define SELVEDGE_SERVICE_AM_FRAMEWORK_TASK_LAUNCH_H

#include "service/am/launch/files.h"
#include "service/framework/descriptor.h"

#define SVC_TASK_ADDRESSES_FILE "task-addresses" /* in the work directory of a gang's tasks */
#define SVC_TASK_INFO_FILE "FrameworkInfo.json"  /* in the framework's directory */
#define SVC_TASK_IP_MAX 64

/* Text that jobs share. */
struct svc_shared_text {
    unsigned users; /* atomic */
    size_t len;
    char text[];
};
struct svc_shared_text *svc_shared_text_new(const char *text, size_t len);
struct svc_shared_text *svc_shared_text_ref(struct svc_shared_text *t);
struct svc_shared_text *svc_shared_text_unref(struct svc_shared_text *t); /* NULL: NULL */

struct svc_task_launch_request {
    const char *framework, *user, *launcher; /* launcher: URL */
    int32_t version;
    const struct svc_fw_role *role;
    int32_t index;
    const char *application, *attempt;       /* ids */
    const char *host;                        /* of the container's node */
    const char *ports;                       /* "" = none */
    const struct svc_shared_text *addresses; /* of all tasks; NULL: no gang */
    const uint8_t *credentials;
    size_t credentials_len;
};

/* In the arena. `ret_ip`: the host's address, "" if its name has none. */
int svc_task_launch_prepare(struct svc_files *files, const struct svc_task_launch_request *q,
                            struct sv_arena *a, struct cli_launch *ret,
                            char ret_ip[SVC_TASK_IP_MAX], struct sv_error *err) _must_use_;
/* The command alone, with the streams and what the GPUs need. Pure. NULL: no memory. */
const char *svc_task_command(const struct svc_fw_role *role, struct sv_arena *a);

#endif
