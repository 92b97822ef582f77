/* container-executor: one request, one operation, one answer. The order is fixed: put the process
 * right, read the policy, see who calls, read the request, see that the policy is still in force,
 * see who the job's user is, run the operation. Everything before the operation refuses by
 * hlp_fail. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

#define FRESH_MS                                                                                   \
    100 /* so old may be what the policy and its sources were when they were compared */

static struct hlp self;
static uid_t caller;      /* real user id */
static int64_t proved_ms; /* 0: the policy has not been read */
static int fail_pipe = -1;
static void (*undo)(void *);
static void *undo_argument;

void hlp_reply(enum exe_status status, int error, const char *text)
{
    const size_t n = strlen(text);
    struct exe_reply_head head = {
        .magic = EXE_REPLY_MAGIC,
        .version = EXE_PROTOCOL_VERSION,
        .status = (uint16_t)status,
        .request_id = self.req.request_id,
        .error = error,
        .text_len = (uint16_t)(n > EXE_REPLY_TEXT_MAX ? EXE_REPLY_TEXT_MAX : n),
    };
    struct iovec iov[2] = { { &head, sizeof(head) }, { (void *)(uintptr_t)text, head.text_len } };
    const struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
    /* A request that was never read, or the word after it, would reach the caller as a reset in
     * place of this answer. */
    for (int i = 0; i < 2; i++)
        (void)recv(0, (char[1]){ 0 }, 1, MSG_DONTWAIT);
    /* A caller that is gone or does not read loses its answer, nothing else. */
    (void)sendmsg(0, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* One line for the machine's log, so that a daemon that was taken over leaves traces: fixed words
 * and numbers only. Best effort, and only while still root. */
static void audit(enum exe_status status, int error)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = "/dev/log" };
    char line[160];
    int n = snprintf(line, sizeof(line),
                     "<84>container-executor[%d]: refused: status=%d errno=%d op=%u request=%llu",
                     (int)getpid(), status, error, self.req.op,
                     (unsigned long long)self.req.request_id);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && n > 0 && geteuid() == 0)
        (void)sendto(fd, line, (size_t)n, MSG_NOSIGNAL, (struct sockaddr *)&to, sizeof(to));
    if (fd >= 0)
        (void)close(fd);
}

void hlp_fail_to_pipe(int fd)
{
    fail_pipe = fd;
}

void hlp_on_fail(void (*fn)(void *), void *argument)
{
    undo = fn;
    undo_argument = argument;
}

void hlp_fail(enum exe_status status, int error, const char *what)
{
    if (fail_pipe >= 0) { /* the launched child: the monitor answers */
        struct hlp_message m = { (int32_t)status, error, "" };
        size_t n = strlen(what);
        memcpy(m.what, what, n < sizeof(m.what) ? n : sizeof(m.what) - 1);
        (void)!write(fail_pipe, &m, sizeof(m));
        _exit((int)status);
    }
    void (*run)(void *) = undo;
    const int home = self.home;
    undo = NULL;
    self.home = 0; /* once: this step may fail, too */
    if (run)
        run(undo_argument);
    if (home && geteuid() == 0)
        hlp_enter(home); /* the machine's log is there */
    audit(status, error);
    hlp_reply(status, error, what);
    _exit((int)status);
}

static int64_t monotonic_ms(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_BOOTTIME, &t) < 0)
        hlp_fail(EXE_STATUS_KERNEL, errno, "clock_gettime");
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Descriptor 0 must be a SEQPACKET socket whose other end the daemon's account made; the caller
 * must be that account, or root (systemd, socket activation). Needs the configuration: who is it?
 */
static void check_caller(void)
{
    struct ucred peer = { .uid = (uid_t)-1 };
    socklen_t len = sizeof(peer);
    if (getsockopt(0, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 || peer.uid != self.nm.uid ||
        (caller != self.nm.uid && !self.activated))
        hlp_fail(EXE_STATUS_CALLER, EPERM, "caller");
}

bool hlp_is_channel(int fd)
{
    int domain = 0, type = 0;
    socklen_t len = sizeof(int);
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET;
}

/* systemd may come to a connection long after it was made, and a busy machine to this process: who
 * has gone meanwhile takes for granted that nothing comes of it, and may be asking another one by
 * now. */
static bool asker_is_gone(void)
{
    struct pollfd p = { .fd = 0 };
    return poll(&p, 1, 0) != 0; /* nothing else is asked for; nor does it go on without an answer */
}

/* What root's configuration comes to; container-prepare makes it, where it is not up to date. */
void hlp_load_policy(struct hlp *h)
{
    static const struct hlp_program prepare = { .name = "container-prepare",
                                                .fds = { 2, -1, 2, -1, -1 },
                                                .net_namespace = -1,
                                                .status = EXE_STATUS_STATE };
    struct hlp_message m = { .status = EXE_STATUS_STATE, .error = EPROTO };
    size_t got;
    for (int tries = 0;
         (h->table = hlp_policy_read(&h->cfg)) < 0 || (tries == 0 && h->cfg.unfiltered[0]);
         tries++) {
        if (h->table >= 0) /* the kernel may take the filters now */
            (void)close(h->table);
        if (tries == 8)
            hlp_fail(EXE_STATUS_STATE, ESTALE,
                     "policy: not of this release, or changing all the time");
        if (hlp_run_program(&prepare, &m, sizeof(m), &got) != 0) {
            m.what[sizeof(m.what) - 1] = '\0';
            hlp_fail((enum exe_status)m.status, m.error, m.what);
        }
    }
    h->nm = h->cfg.nm;
    h->monitor = h->cfg.monitor;
    h->public = h->cfg.public;
    h->nm_gid = h->cfg.nm_gid;
}

/* The file that runs: root:<group> and exactly 4750, so that nobody but the daemon starts it. */
static void check_binary(void)
{
    struct stat st;
    int fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        hlp_fail(EXE_STATUS_BINARY_OWNER, errno, "/proc/self/exe");
    (void)close(fd);
    if (self.activated) /* others' hands off is what counts; it needs no setuid bit */
        st.st_mode = st.st_mode & 022 ? 0 : S_IFREG | 04750;
    if (st.st_uid != 0 || (!self.activated && st.st_gid != self.nm_gid) ||
        st.st_mode != (S_IFREG | 04750))
        hlp_fail(EXE_STATUS_BINARY_OWNER, EPERM, "container-executor");
}

/* Root's configuration as it is now, and what it says of the caller and of the file that runs. */
static void prove(void)
{
    if (proved_ms != 0 && !hlp_policy_in_force(&self.cfg, self.table)) {
        if (self.req.op) { /* it was decided by the old one, and nothing done: another helper may be
                              asked */
            self.req.request_id = 0;
            hlp_fail(EXE_STATUS_STATE, ESTALE, "policy: changed during the launch");
        }
        (void)close(self.table);
        if (self.ahead)
            (void)close(self.ahead);
        self.ahead = 0;
        proved_ms = 0;
    }
    if (proved_ms == 0)
        hlp_load_policy(&self);
    check_caller();
    check_binary();
    proved_ms = monotonic_ms();
}

/* One datagram. Nothing, and the other end closed: nobody asks for anything. */
static size_t receive(struct msghdr *msg)
{
    ssize_t n;
    do /* the kernel ends a wait with a limit for who was stopped and goes on, as all are when a
          machine sleeps */
        n = recvmsg(0, msg, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        self.req.request_id =
            0; /* nothing was done: a daemon that was busy for long may ask another helper */
        hlp_fail(EXE_STATUS_REQUEST, errno, "recvmsg");
    }
    if (n == 0)
        _exit(EXE_STATUS_REQUEST);
    return (size_t)n;
}

/* Takes the datagram and its descriptors; everything surplus is closed by the exit. A helper that
 * was started before it is needed waits here. */
static void read_request(void)
{
    uint8_t buf[EXE_REQUEST_SIZE + 1];
    union {
        char space[CMSG_SPACE(sizeof(int) * (EXE_FDS_MAX + 1))];
        struct cmsghdr align;
    } control;
    struct iovec iov = { .iov_base = buf, .iov_len = sizeof(buf) };
    struct msghdr msg = { .msg_iov = &iov,
                          .msg_iovlen = 1,
                          .msg_control = control.space,
                          .msg_controllen = sizeof(control.space) };
    struct timeval patience = { .tv_sec = 10 };
    struct pollfd nothing = { .fd = 0, .events = POLLIN };
    (void)setsockopt(0, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (poll(&nothing, 1, 0) == 0) /* it waits */
        hlp_build_ahead(&self);
    size_t n = receive(&msg);
    int got = 0;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    if (c) {
        const size_t bytes = c->cmsg_len - CMSG_LEN(0);
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || bytes > sizeof(self.fds) ||
            msg.msg_controllen > CMSG_SPACE(bytes)) /* and no other */
            hlp_fail(EXE_STATUS_REQUEST_FDS, EBADMSG, "control message");
        memcpy(self.fds, CMSG_DATA(c), bytes);
        got = (int)(bytes / sizeof(int));
    }
    if (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
        hlp_fail(EXE_STATUS_REQUEST, EMSGSIZE, "request");
    if (monotonic_ms() - proved_ms > FRESH_MS)
        prove(); /* the caller was slow, or this helper was ready before */
    int r = exe_request_decode(buf, n, &self.req);
    if (r < 0)
        hlp_fail(r == -EPROTONOSUPPORT ? EXE_STATUS_VERSION : EXE_STATUS_REQUEST, -r, "request");
    if (got != exe_request_fds(self.req.op))
        hlp_fail(EXE_STATUS_REQUEST_FDS, EBADMSG, "descriptors");
    exe_app_text(&self.req, self.app);
    exe_container_text(&self.req, self.container);
}

void hlp_wait_for_group(void)
{
    char word[2];
    struct iovec iov = { .iov_base = word, .iov_len = sizeof(word) };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
    if (receive(&msg) != 1 || word[0] != EXE_GROUP_READY ||
        (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        hlp_fail(EXE_STATUS_REQUEST, EBADMSG, "word that the group is made");
    if (monotonic_ms() - proved_ms > FRESH_MS)
        prove();
}

/* Answers the policy in force, for the daemon to compare with its own. */
_Noreturn static void check(struct hlp *h)
{
    if (h->req.what == EXE_CHECK_REBUILD) {
        if (unlink(EXECUTOR_STATE "/policy") < 0 && errno != ENOENT)
            hlp_fail(EXE_STATUS_STATE, errno, EXECUTOR_STATE "/policy");
        (void)close(h->table);
        hlp_load_policy(h);
    }
    hlp_reply(EXE_STATUS_OK, 0, h->cfg.answer);
    _exit(0);
}

int main(int argc, char **argv)
{
    static void (*const operations[])(struct hlp *) = {
        [EXE_OP_CHECK] = check,       [EXE_OP_INIT_APP] = hlp_init_app,
        [EXE_OP_LAUNCH] = hlp_launch, [EXE_OP_LOCALIZE] = hlp_launch,
        [EXE_OP_SIGNAL] = hlp_signal, [EXE_OP_DELETE] = hlp_delete,
    };
    (void)argv;
    hlp_hygiene(argc);
    caller = getuid();
    self.activated = caller == 0;
    if (!hlp_is_channel(0))
        _exit(EXE_STATUS_DESCRIPTORS); /* no answer goes to what is no request socket */
    hlp_become_server();
    prove();
    read_request();
    if (asker_is_gone())
        _exit(0);
    for (unsigned i = 0; i < EXE_DIRS_MAX; i++)
        if ((i >= self.cfg.local_dirs.n && self.req.local_mask >> i & 1) ||
            (i >= self.cfg.log_dirs.n && self.req.log_mask >> i & 1))
            hlp_fail(EXE_STATUS_REQUEST, ENOENT, "directory index");
    if (self.req.user[0])
        hlp_job_user(&self);
    else
        self.user = self.public;
    operations[self.req.op](&self);
    _exit(EXE_STATUS_REQUEST); /* an operation does not come back */
}
