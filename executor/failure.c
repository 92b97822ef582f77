/* Translates a helper's status into a message, an exit code and the node's health. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "common/str.h"
#include "executor/internal.h"

static const struct {
    enum exe_status status;
    int exit_code;      /* of Hadoop's container-executor for the same failure */
    bool node;          /* the node's set-up */
    const char *remedy; /* appended, or NULL */
} table[] = {
    { EXE_STATUS_DESCRIPTORS, 1, true, NULL },
    { EXE_STATUS_CALLER, 22, true,
      "selvedge.nodemanager.user must be the account that runs the NodeManager" },
    { EXE_STATUS_NOT_ROOT, 22, true,
      "check owner and mode, the mount's nosuid, and NoNewPrivileges= of the unit" },
    { EXE_STATUS_CONFINED, 22, true,
      "options of the unit that set a system call filter or a user namespace exclude a setuid "
      "helper" },
    { EXE_STATUS_LIMITS, 22, true, "raise the limit for the NodeManager (Limit…= of the unit)" },
    { EXE_STATUS_PRIVILEGE, 6, true, NULL },
    { EXE_STATUS_KERNEL, 22, true, "Linux 5.14 or newer is needed" },
    { EXE_STATUS_SOCKET, 22, true,
      "systemctl status selvedge-executor.socket 'selvedge-executor@*'; it must be active, for the "
      "NodeManager's account" },
    { EXE_STATUS_REQUEST, 3, false, NULL },
    { EXE_STATUS_VERSION, 3, true, "daemon and helper must be of one release" },
    { EXE_STATUS_CONFIG_OPEN, 24, true, NULL },
    { EXE_STATUS_CONFIG_OWNER, 24, true,
      "the file and every directory above it must be root's and writable by root alone" },
    { EXE_STATUS_CONFIG_SYNTAX, 24, true, NULL },
    { EXE_STATUS_BINARY_OWNER, 22, true,
      "chown root:<group>, chmod 4750; start the installed file, which must have one name" },
    { EXE_STATUS_SERVICE_ACCOUNT, 24, true, "create it, or name another in the configuration" },
    { EXE_STATUS_USER_UNKNOWN, 20, false, "the account must exist on every node" },
    { EXE_STATUS_USER_REFUSED, 20, false, NULL },
    { EXE_STATUS_USER_LOOKUP, 20, false, NULL },
    { EXE_STATUS_PROFILE, 3, false, "root allows more there in container-executor.cfg" },
    { EXE_STATUS_NETWORK_MODE, 3, false, "root allows more there in container-executor.cfg" },
    { EXE_STATUS_DEVICE, 27, false,
      "the sections [gpu] and [devices] of container-executor.cfg name what may be assigned" },
    { EXE_STATUS_LOCAL_DIR, 5, false, NULL },
    { EXE_STATUS_LOG_DIR, 5, false, NULL },
    { EXE_STATUS_USER_DIR, 20, false, NULL },
    { EXE_STATUS_APP_DIR, 20, false, NULL },
    { EXE_STATUS_CONTAINER_DIR, 35, false, NULL },
    { EXE_STATUS_RECORD, 26, false, NULL },
    { EXE_STATUS_CGROUP, 27, false, NULL },
    { EXE_STATUS_CGROUP_BUSY, 27, false, NULL },
    { EXE_STATUS_CGROUP_LIMITS, 27, true,
      "delegate memory and pids to the NodeManager, or allow containers without limits in both "
      "configurations" },
    { EXE_STATUS_DEVICE_FILTER, 27, true,
      "the kernel must have CONFIG_CGROUP_BPF, and let root load such filters" },
    { EXE_STATUS_CLONE, 27, false, NULL },
    { EXE_STATUS_NETWORK, 28, false, NULL },
    { EXE_STATUS_SCRIPT_FILE, 33, false, NULL },
    { EXE_STATUS_CREDENTIALS_FILE, 34, false, NULL },
    { EXE_STATUS_WORK_DIR, 35, false, NULL },
    { EXE_STATUS_FILTER, 22, true, "install the filters again" },
    { EXE_STATUS_EXEC, 7, false, NULL },
    { EXE_STATUS_DROP, 6, true, NULL },
    { EXE_STATUS_LABEL, 22, true,
      "SELinux must be on with Selvedge's policy module, and the daemon must give categories: see "
      "selvedge.sandbox.selinux and selvedge.nodemanager.selinux.labels" },
    { EXE_STATUS_SIGNAL, 8, false, NULL },
    { EXE_STATUS_SIGNAL_TARGET, 9, false, NULL },
};

void exe_failure_set(struct exe_failure *f, enum exe_status status, int error, const char *object,
                     const char *text)
{
    char what[256];
    const char *remedy = NULL;
    /* processes that still depend on another filter prevent it: not the node's fault */
    const bool held = status == EXE_STATUS_DEVICE_FILTER && error == EBUSY;
    memset(f, 0, sizeof(*f));
    f->status = status;
    f->error = error;
    f->exit_code = 35;
    for (size_t i = 0; i < SV_ARRAY_LEN(table); i++)
        if (table[i].status == status) {
            f->exit_code = table[i].exit_code;
            f->node_unhealthy = table[i].node && !held;
            remedy = held ? NULL : table[i].remedy;
        }
    sv_escape(what, sizeof(what), text ? text : "");
    (void)snprintf(f->text, sizeof(f->text), "%s: %s%s%s%s%s%s%s", object, exe_status_text(status),
                   what[0] ? ": " : "", what, error ? ": " : "", error ? strerror(error) : "",
                   remedy ? "; " : "", remedy ? remedy : "");
}

static bool is_of_disk_or_memory(int error)
{
    return error == EIO || error == EROFS || error == ENOSPC || error == ENOMEM ||
           error == ENFILE || error == EMFILE || error == ENODEV || error == ENXIO;
}

bool exe_failure_is_nodes(const struct exe_failure *f)
{
    switch (f->status) {
    case EXE_STATUS_ARGUMENTS: /* or the program is not our helper */
    case EXE_STATUS_STATE:
    case EXE_STATUS_LOCAL_DIR:
    case EXE_STATUS_LOG_DIR:
    case EXE_STATUS_RECORD:
    case EXE_STATUS_CGROUP:
    case EXE_STATUS_CGROUP_BUSY:
    case EXE_STATUS_CLONE:
    case EXE_STATUS_NETWORK:
    case EXE_STATUS_MOUNT:
    case EXE_STATUS_SESSION:
    case EXE_STATUS_LOST:
        return true;
    default: /* a user's directories are the user's, and so are the values of a request */
        return f->node_unhealthy || is_of_disk_or_memory(f->error);
    }
}

void exe_failure_from(const struct exe_reply *reply, int status, const char *object,
                      struct exe_failure *ret)
{
    char text[512];
    if (!reply && WIFSIGNALED(status)) {
        (void)snprintf(text, sizeof(text), "container-executor was killed by signal %d",
                       WTERMSIG(status));
        exe_failure_set(ret, EXE_STATUS_LOST, 0, object, text);
        return;
    }
    if (!reply) {
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        if (code > 0 && code <= EXE_STATUS_NOT_ROOT)
            exe_failure_set(ret, (enum exe_status)code, 0, object, "");
        else
            exe_failure_set(ret, EXE_STATUS_LOST, 0, object,
                            code == 127 ? "container-executor cannot be executed"
                                        : "container-executor ended without an answer");
        return;
    }
    if (reply->status == EXE_STATUS_VERSION) {
        (void)snprintf(text, sizeof(text), "the helper's is %u, the daemon's %d", reply->version,
                       EXE_PROTOCOL_VERSION);
        exe_failure_set(ret, EXE_STATUS_VERSION, 0, object, text);
        return;
    }
    size_t n = SV_MIN((size_t)reply->text_len, sizeof(text) - 1);
    memcpy(text, reply->text, n);
    text[n] = '\0';
    exe_failure_set(ret, (enum exe_status)reply->status, reply->error, object, text);
}
