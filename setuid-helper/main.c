/* container-executor: one request, one operation, one answer.
 *
 * The order is fixed. The process MUST be sanitized before a byte from outside is read; the policy
 * MUST be compared with its sources after the request has arrived, so that no delayed helper uses
 * an old one; the caller and this program's file MUST be checked against that policy before the
 * request is decoded; the capabilities MUST be cut to the operation's as soon as it is known, and
 * the job's user MUST be checked before it runs. All steps before the operation refuse by
 * hlp_fail. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

static struct hlp self = { .req.version = EXE_PROTOCOL_VERSION, /* until one is decoded */
                           .table = -1,
                           .host_ns = -1,
                           .monitor_program = -1,
                           .hidden = -1 };

static void refuse(enum exe_status status, int error, const char *what)
{
    const int host_ns = self.host_ns;
    self.host_ns = -1; /* once: this step may fail, too */
    if (host_ns >= 0 && geteuid() == 0)
        hlp_enter_mount_ns(host_ns); /* which has /dev/log */
    hlp_audit(&self, status, error);
    hlp_reply(&self.req, status, error, what);
}

/* The other end of descriptor 0 MUST have been made by the daemon's account; the caller MUST be
 * that account, or root (systemd, socket activation). */
static void check_caller(uid_t caller)
{
    struct ucred peer = { .uid = (uid_t)-1 };
    socklen_t len = sizeof(peer);
    if (getsockopt(0, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 || peer.uid != self.cfg.nm.uid ||
        (caller != self.cfg.nm.uid && !self.activated))
        hlp_fail(EXE_STATUS_CALLER, EPERM, "caller");
}

/* The running file: root:<group> and exactly 4750, so that only the daemon can start it; under the
 * installed name and no other, so that no link or copy outlives an upgrade. A file just replaced by
 * an upgrade has no name any more. */
static void check_binary(void)
{
    static const char path[] = LIBEXECDIR "/container-executor";
    struct stat st, installed;
    int fd = hlp_open_trusted(path, O_PATH, EXE_STATUS_BINARY_OWNER, EXE_STATUS_BINARY_OWNER);
    if (stat("/proc/self/exe", &st) < 0 || fstat(fd, &installed) < 0)
        hlp_fail(EXE_STATUS_BINARY_OWNER, errno, "/proc/self/exe");
    (void)close(fd);
    if (st.st_nlink != 0 && (st.st_dev != installed.st_dev || st.st_ino != installed.st_ino))
        hlp_fail(EXE_STATUS_BINARY_OWNER, EXDEV, path);
    if (!self.activated && /* no setuid bit is needed there: only write access of others matters */
        (st.st_uid != 0 || st.st_gid != self.cfg.nm_gid || st.st_mode != (S_IFREG | 04750)))
        hlp_fail(EXE_STATUS_BINARY_OWNER, EPERM, "container-executor");
}

static void decode(const uint8_t *buf, size_t len, int n_fds)
{
    int r = exe_request_decode(buf, len, &self.req);
    if (r < 0)
        hlp_fail(r == -EPROTONOSUPPORT ? EXE_STATUS_VERSION : EXE_STATUS_REQUEST, -r, "request");
    if (n_fds != exe_request_fds(&self.req))
        hlp_fail(EXE_STATUS_REQUEST_FDS, EBADMSG, "descriptors");
    for (unsigned i = 0; i < EXE_DIRS_MAX; i++)
        if ((i >= self.cfg.local_dirs.n && self.req.local_mask >> i & 1) ||
            (i >= self.cfg.log_dirs.n && self.req.log_mask >> i & 1))
            hlp_fail(EXE_STATUS_REQUEST, ENOENT, "directory index");
    exe_app_text(&self.req, self.app);
    exe_container_text(&self.req, self.container);
}

/* systemd may accept a connection long after it was made, and a busy machine may run this process
 * late: a caller that has hung up meanwhile may have sent the request to another helper. */
static bool caller_is_gone(void)
{
    struct pollfd p = { .fd = 0 };
    return poll(&p, 1, 0) != 0; /* POLLHUP and POLLERR, which are always reported */
}

/* Returns the policy in force, for the daemon to compare with its own. */
_Noreturn static void check(struct hlp *h)
{
    hlp_reply(&h->req, EXE_STATUS_OK, 0, h->cfg.answer);
    _exit(0);
}

int main(int argc, char **argv)
{
    static void (*const operations[])(struct hlp *) = {
        [EXE_OP_CHECK] = check,       [EXE_OP_INIT_APP] = hlp_init_app,
        [EXE_OP_LAUNCH] = hlp_launch, [EXE_OP_LOCALIZE] = hlp_launch,
        [EXE_OP_SIGNAL] = hlp_signal, [EXE_OP_DELETE] = hlp_delete,
        [EXE_OP_LINK] = hlp_delete,
    };
    uint8_t request[EXE_REQUEST_SIZE + 1];
    int n_fds;
    (void)argv;
    hlp_fail_to(refuse);
    hlp_sanitize(argc);
    const uid_t caller = getuid();
    self.activated = caller == 0;
    if (!hlp_is_channel(0))
        _exit(EXE_STATUS_DESCRIPTORS); /* no answer to a descriptor that is no request socket */
    hlp_become_server();
    const size_t len = hlp_receive(request, sizeof(request), self.fds, &n_fds);
    hlp_load_policy(&self);
    check_caller(caller);
    check_binary();
    decode(request, len, n_fds);
    if (caller_is_gone())
        _exit(0);
    if (self.req.op == EXE_OP_CHECK && self.req.what == EXE_CHECK_REBUILD) {
        if (unlink(EXECUTOR_STATE "/policy") < 0 && errno != ENOENT)
            hlp_fail(EXE_STATUS_STATE, errno, EXECUTOR_STATE "/policy");
        (void)close(self.table);
        hlp_load_policy(&self);
    }
    hlp_cut_caps(&self);
    if (self.req.user[0])
        hlp_job_user(&self);
    else
        self.user = self.cfg.public;
    operations[self.req.op](&self);
    _exit(EXE_STATUS_REQUEST); /* an operation does not return */
}
