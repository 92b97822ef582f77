/* See init-sessions.h. Runs in pid 1 of the container, as the job's user and behind the job's
 * filter. Nothing of the job can connect here: a peer that has a number in this pid namespace is a
 * process of the container, and MUST be refused.
 *
 * A child MUST NOT hold a descriptor of this process but its own three when it executes. Until then
 * it is as untraceable as this process, whose memory it has (ADR 28). */
#include "setuid-helper/init-sessions.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "setuid-helper/handoff.h"

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif
#define PIPES 3
#define PASSED CMSG_SPACE(sizeof(int) * PIPES) /* of which the kernel may fill all */

struct session {
    bool used;
    int fd;    /* the connection, while `used` */
    pid_t pid; /* 0: not started */
};
static struct session sessions[EXE_SESSIONS_MAX];

/* A child's descriptors 0 to 2, three or one for all; master: a terminal's other side, or -1. */
struct ends {
    int child[PASSED / sizeof(int)], n, master;
};

static void close_ends(const struct ends *e)
{
    for (int i = 0; i < e->n; i++)
        (void)close(e->child[i]);
    if (e->master >= 0)
        (void)close(e->master);
}

/* A daemon that has ended or does not read loses its answer, nothing else. */
static void tell(int to, enum exe_session_word word, int value, int master)
{
    struct exe_session_answer a = { EXE_SESSION_MAGIC, (uint32_t)word, value };
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = { 0 };
    struct iovec iov = { &a, sizeof(a) };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
    if (master >= 0) {
        msg.msg_control = control.space;
        msg.msg_controllen = sizeof(control.space);
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &master, sizeof(int));
    }
    (void)sendmsg(to, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A new terminal of the container's own devpts. The slave comes from the master, not by a name. */
static int open_terminal(const struct exe_session_start *s, struct ends *e)
{
    const struct winsize size = { .ws_row = s->rows, .ws_col = s->columns };
    int unlocked = 0;
    e->master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (e->master < 0 || ioctl(e->master, TIOCSPTLCK, &unlocked) < 0 ||
        ioctl(e->master, TIOCSWINSZ, &size) < 0)
        return -errno;
    e->child[0] = ioctl(e->master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (e->child[0] < 0)
        return -errno;
    e->n = 1;
    return 0;
}

/* On the program's descriptor 2. */
static void complain(const char *what, int error)
{
    const char *const words[] = { "selvedge: ", what, ": ", strerror(error), "\n" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        (void)!write(2, words[i], strlen(words[i])); /* nobody may read it, ignoring */
}

static bool read_label(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        (void)close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    return true;
}

/* With SELinux, or another module whose labels are written there, the program MUST get the main
 * process' label and not this one's. False: it cannot, or it is not known whether it would; without
 * such a module the first file cannot be read. */
static bool take_label(void)
{
    char mine[256], job[256];
    if (!read_label("/proc/self/attr/current", mine, sizeof(mine)))
        return true;
    if (!read_label("/proc/2/attr/current", job, sizeof(job)))
        return false;
    if (strcmp(mine, job) == 0)
        return true;
    int fd = open("/proc/thread-self/attr/exec", O_WRONLY | O_CLOEXEC);
    const bool taken = fd >= 0 && write(fd, job, strlen(job)) == (ssize_t)strlen(job);
    if (fd >= 0)
        (void)close(fd);
    return taken;
}

_Noreturn static void run(const struct ends *e, char **arguments, char **variables)
{
    sigset_t none;
    (void)sigemptyset(&none);
    bool good = setsid() > 0;
    if (e->master >= 0)
        good = good && ioctl(e->child[0], TIOCSCTTY, 0) == 0;
    /* Their numbers are above 2: this process has 0 to 2 itself. */
    for (int i = 0; i < PIPES; i++)
        good = good && dup2(e->child[e->n == 1 ? 0 : i], i) == i;
    if (!good || syscall(SYS_close_range, 3, ~0U, 0) < 0)
        _exit(126);
    if (!take_label()) {
        complain("the container's label", errno);
        _exit(126);
    }
    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    environ = variables; /* with the PATH that the program is looked for in */
    (void)execvp(arguments[0], arguments);
    const int error = errno;
    complain(arguments[0], error);
    _exit(error == ENOENT ? 127 : 126);
}

/* Splits the texts into words; false if they are not what the head announces. */
static bool split(const struct exe_session_start *s, char *text, size_t n,
                  char *words[EXE_SESSION_WORDS_MAX + 2])
{
    const unsigned all = (unsigned)s->n_arguments + s->n_variables;
    unsigned at = 0;
    if (s->n_arguments == 0 || all > EXE_SESSION_WORDS_MAX || n == 0 || text[n - 1] != '\0')
        return false;
    for (char *p = text; p < text + n; p += strlen(p) + 1) {
        if (at == s->n_arguments)
            words[at++] = NULL; /* behind the arguments */
        if (at > all)
            return false;
        words[at++] = p;
    }
    if (at == s->n_arguments)
        words[at++] = NULL;
    words[at] = NULL;
    return at == all + 1;
}

/* Starts the program; 0 or an errno. */
static int start(struct session *x, const struct exe_session_start *s, char *text, size_t n,
                 struct ends *e)
{
    static char *words[EXE_SESSION_WORDS_MAX + 2];
    if (s->magic != EXE_SESSION_MAGIC || s->version != EXE_SESSION_VERSION)
        return EPROTONOSUPPORT;
    if (s->terminal > 1 || e->n != (s->terminal ? 0 : PIPES) || !split(s, text, n, words))
        return EBADMSG;
    const int r = s->terminal ? open_terminal(s, e) : 0;
    if (r < 0)
        return -r;
    x->pid = fork();
    if (x->pid == 0)
        run(e, words, words + s->n_arguments + 1);
    if (x->pid > 0)
        return 0;
    x->pid = 0;
    return errno;
}

static void leave(struct session *x)
{
    (void)close(x->fd);
    *x = (struct session){ .used = false };
}

/* The daemon's request has come, or it has gone. */
static void receive(struct session *x)
{
    static struct {
        struct exe_session_start s;
        char text[EXE_SESSION_TEXT_MAX + 1]; /* one more: too long */
    } m;
    union {
        char space[PASSED];
        struct cmsghdr align;
    } control;
    struct iovec iov = { &m, sizeof(m.s) + sizeof(m.text) };
    struct msghdr msg = { .msg_iov = &iov,
                          .msg_iovlen = 1,
                          .msg_control = control.space,
                          .msg_controllen = sizeof(control.space) };
    struct pollfd gone = { .fd = x->fd };
    struct ends e = { .master = -1 };
    ssize_t n = recvmsg(x->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EAGAIN)
        return;
    const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
        e.n = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(e.child, CMSG_DATA(c), (size_t)e.n * sizeof(int));
    }
    int error = n < (ssize_t)sizeof(m.s) || n > (ssize_t)(sizeof(m.s) + EXE_SESSION_TEXT_MAX) ||
                        msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)
                    ? EBADMSG
                    : 0;
    if (poll(&gone, 1, 0) != 0) /* it hung up while this container was frozen or busy */
        error = ESRCH;
    if (error == 0)
        error = start(x, &m.s, m.text, (size_t)n - sizeof(m.s), &e);
    tell(x->fd, error ? EXE_SESSION_FAILED : EXE_SESSION_STARTED, error, error ? -1 : e.master);
    close_ends(&e);
    if (error)
        leave(x);
}

/* Hangs up on peers of this pid namespace; one more than EXE_SESSIONS_MAX is told so. */
static void admit(void)
{
    struct ucred peer = { .pid = -1 };
    socklen_t len = sizeof(peer);
    struct session *x = NULL;
    int fd = accept4(HLP_INIT_DOOR, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    for (int i = 0; i < EXE_SESSIONS_MAX && !x; i++)
        x = sessions[i].used ? NULL : &sessions[i];
    if (fd >= 0 && x && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
        peer.pid == 0) {
        *x = (struct session){ .used = true, .fd = fd };
        return;
    }
    if (fd >= 0 && !x)
        tell(fd, EXE_SESSION_FAILED, EBUSY, -1);
    if (fd >= 0)
        (void)close(fd);
}

void init_sessions_prepare(struct pollfd p[INIT_SESSIONS_POLL])
{
    static int door = HLP_INIT_DOOR;
    if (door >= 0 && fcntl(door, F_GETFD) < 0)
        door = -1;
    p[0] = (struct pollfd){ .fd = door, .events = POLLIN };
    for (int i = 0; i < EXE_SESSIONS_MAX; i++)
        p[1 + i] =
            (struct pollfd){ .fd = sessions[i].used ? sessions[i].fd : -1, .events = POLLIN };
}

void init_sessions_serve(const struct pollfd p[INIT_SESSIONS_POLL])
{
    for (int i = 0; i < EXE_SESSIONS_MAX; i++) {
        struct session *x = &sessions[i];
        if (!p[1 + i].revents || !x->used)
            continue;
        if (x->pid == 0) {
            receive(x);
            continue;
        }
        (void)kill(-x->pid, SIGKILL); /* the daemon has hung up; it has nothing more to say */
        (void)kill(x->pid, SIGKILL);  /* before its setsid() */
        leave(x);
    }
    if (p[0].revents)
        admit();
}

void init_sessions_ended(pid_t pid, int status)
{
    for (int i = 0; i < EXE_SESSIONS_MAX; i++)
        if (sessions[i].used && sessions[i].pid == pid) {
            tell(sessions[i].fd, EXE_SESSION_ENDED, HLP_SHELL_STATUS(status), -1);
            leave(&sessions[i]);
        }
}
