/* See helper-protocol.h. Hostile input: the exit record, which is read from a disk. */
#include <errno.h>
#include <string.h>

#include "executor/helper-protocol.h"

static const char *const texts[] = {
    [EXE_STATUS_OK] = "done",
    [EXE_STATUS_ARGUMENTS] = "argument count is not one",
    [EXE_STATUS_DESCRIPTORS] =
        "standard descriptors cannot be set up, or descriptor 0 is no request "
        "socket",
    [EXE_STATUS_CALLER] = "caller is not the NodeManager's account",
    [EXE_STATUS_NOT_ROOT] = "helper runs without root: it must be root:<group> 4750, not under "
                            "NoNewPrivileges or on a nosuid mount",
    [EXE_STATUS_CONFINED] = "helper runs inside a user namespace, chroot or seccomp filter",
    [EXE_STATUS_LIMITS] = "inherited resource limits are too low",
    [EXE_STATUS_PRIVILEGE] = "a change of identity, capability or securebits failed",
    [EXE_STATUS_KERNEL] = "kernel lacks something that is needed",
    [EXE_STATUS_SOCKET] = "container-executor's socket cannot be reached",
    [EXE_STATUS_REQUEST] = "request is malformed",
    [EXE_STATUS_VERSION] = "request has another protocol version",
    [EXE_STATUS_REQUEST_FDS] = "request has the wrong descriptors",
    [EXE_STATUS_REQUEST_FILE] = "script or credentials are no sealed memfd, or too large",
    [EXE_STATUS_CONFIG_OPEN] = "configuration file cannot be opened",
    [EXE_STATUS_CONFIG_OWNER] =
        "configuration file or a directory above it is not safe from others "
        "than root",
    [EXE_STATUS_CONFIG_SYNTAX] = "configuration file has an error",
    [EXE_STATUS_BINARY_OWNER] =
        "helper's own file is not the installed one, root:<group> 4750, with one name",
    [EXE_STATUS_SERVICE_ACCOUNT] = "an account named in the configuration does not exist or is not "
                                   "usable",
    [EXE_STATUS_STATE] = "prepared state cannot be made, or its directory is not safe from "
                         "others than root",
    [EXE_STATUS_USER_UNKNOWN] = "user does not exist",
    [EXE_STATUS_USER_REFUSED] =
        "user must not run containers: root, service account, banned or below "
        "min.user.id",
    [EXE_STATUS_USER_LOOKUP] = "account database cannot be read",
    [EXE_STATUS_PROFILE] = "sandbox profile is not one of selvedge.sandbox.profiles",
    [EXE_STATUS_NETWORK_MODE] = "network mode is not one of selvedge.sandbox.networks",
    [EXE_STATUS_DEVICE] = "device is not one that the configuration allows, or its node is missing",
    [EXE_STATUS_LOCAL_DIR] = "local directory is missing or not safe",
    [EXE_STATUS_LOG_DIR] = "log directory is missing or not safe",
    [EXE_STATUS_USER_DIR] = "user directory exists with a foreign owner or type",
    [EXE_STATUS_APP_DIR] = "application directory cannot be made or is not the user's",
    [EXE_STATUS_CONTAINER_DIR] = "container directory cannot be made",
    [EXE_STATUS_RECORD] = "exit record cannot be made",
    [EXE_STATUS_CGROUP] = "container's cgroup is missing or not the NodeManager's",
    [EXE_STATUS_CGROUP_BUSY] = "container's cgroup has processes already",
    [EXE_STATUS_CGROUP_LIMITS] =
        "container's cgroup has no memory or pids limit, or other ones than "
        "requested",
    [EXE_STATUS_DEVICE_FILTER] = "device or connect filter cannot be attached",
    [EXE_STATUS_CLONE] = "container process cannot be started in its cgroup and namespaces",
    [EXE_STATUS_NETWORK] = "container's network cannot be made",
    [EXE_STATUS_MOUNT] = "container's file system cannot be built",
    [EXE_STATUS_SESSION] = "session, keyring or host name cannot be set",
    [EXE_STATUS_DROP] = "privileges cannot be dropped",
    [EXE_STATUS_SCRIPT_FILE] = "launch script cannot be written to the work dir",
    [EXE_STATUS_CREDENTIALS_FILE] = "credentials cannot be written to the work dir",
    [EXE_STATUS_WORK_DIR] = "work dir cannot be entered",
    [EXE_STATUS_FILTER] = "system call filter is missing, not safe or cannot be loaded",
    [EXE_STATUS_EXEC] = "program cannot be executed",
    [EXE_STATUS_LOST] = "container process died during the launch",
    [EXE_STATUS_LABEL] = "SELinux label cannot be set",
    [EXE_STATUS_SIGNAL] = "signal cannot be sent",
    [EXE_STATUS_SIGNAL_TARGET] = "process is not of this container",
    [EXE_STATUS_DELETE] = "something could not be deleted",
    [EXE_STATUS_LINK] = "a link cannot be made in the work dir",
};

const char *exe_status_text(int status)
{
    const int n = sizeof(texts) / sizeof(texts[0]);
    return status >= 0 && status < n && texts[status] ? texts[status] : "unknown status";
}

bool exe_version_ok(uint16_t version)
{
    return version >= EXE_PROTOCOL_OLDEST && version <= EXE_PROTOCOL_VERSION;
}

int exe_request_encode(const struct exe_request *r, uint8_t *buf, size_t size)
{
    struct exe_request out = *r;
    if (size < sizeof(out) || !exe_request_ok(r))
        return -EINVAL;
    out.magic = EXE_REQUEST_MAGIC;
    if (out.version == 0)
        out.version = EXE_PROTOCOL_VERSION;
    else if (!exe_version_ok(out.version))
        return -EINVAL;
    memcpy(buf, &out, sizeof(out));
    return (int)sizeof(out);
}

int exe_reply_decode(const uint8_t *buf, size_t len, struct exe_reply *ret)
{
    struct exe_reply_head h = { 0 };
    if (len < offsetof(struct exe_reply_head, status))
        return -EBADMSG;
    memcpy(&h, buf, SV_MIN(len, sizeof(h)));
    if (h.magic != EXE_REPLY_MAGIC)
        return -EBADMSG;
    if (!exe_version_ok(h.version)) {
        *ret = (struct exe_reply){ .version = h.version,
                                   .status = EXE_STATUS_VERSION,
                                   .error = EPROTONOSUPPORT,
                                   .text = (const char *)buf + len };
        return 0;
    }
    if (len < sizeof(h) || len != sizeof(h) + h.text_len)
        return -EBADMSG;
    *ret = (struct exe_reply){ .version = h.version,
                               .status = h.status,
                               .error = h.error,
                               .request_id = h.request_id,
                               .pid = h.pid,
                               .text = (const char *)buf + sizeof(h),
                               .text_len = h.text_len };
    return 0;
}

int exe_record_decode(const uint8_t *buf, size_t len, struct exe_record *ret)
{
    struct exe_record r;
    if (len != sizeof(r))
        return -EBADMSG;
    memcpy(&r, buf, sizeof(r));
    if (r.magic != EXE_RECORD_MAGIC || r.version != EXE_RECORD_VERSION ||
        r.crc != exe_crc32(&r, offsetof(struct exe_record, crc)) || r.state < EXE_RECORD_RUNNING ||
        r.state > EXE_RECORD_FAILED)
        return -EBADMSG;
    *ret = r;
    return 0;
}

void exe_request_app(struct exe_request *r, struct yarn_app_id app)
{
    r->cluster_ts = app.cluster_ts;
    r->app = app.id;
}

void exe_request_container(struct exe_request *r, struct yarn_container_id id)
{
    exe_request_app(r, id.attempt.app);
    r->attempt = id.attempt.attempt;
    r->container = id.id;
}

void exe_request_categories(struct exe_request *r, const uint16_t *categories)
{
    if (categories)
        memcpy(r->categories, categories, sizeof(r->categories));
}

int exe_request_user(struct exe_request *r, const char *user)
{
    size_t n = strlen(user);
    if (n > EXE_USER_MAX)
        return -EINVAL;
    memcpy(r->user, user, n + 1);
    return 0;
}

int exe_request_owner(struct exe_request *r, const char *user, const char *submitter)
{
    size_t n = strlen(submitter);
    if (n > EXE_SUBMITTER_MAX)
        return -EINVAL;
    memcpy(r->submitter, submitter, n + 1);
    return exe_request_user(r, user);
}
