/* `selvedge doctor`: container-executor: its file, and the policy that it reports (CHECK, the
 * operation without side effects). */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/doctor/doctor.h"
#include "common/fd.h"
#include "common/str.h"
#include "executor/exe.h"

#define AREA "helper"

/* Socket-activated mode: owned by root and writable by root alone. */
static bool file_of_systemd(struct doctor *d, const struct stat *st)
{
    if (st->st_uid != 0 || st->st_mode & 022) {
        cli_doctor_report(
            d, DOCTOR_BAD, AREA, "chown root, chmod 0750",
            "%s: uid %u, mode %04o; systemd starts it as root, so it must be root's and "
            "writable by root alone",
            d->helper, st->st_uid, (unsigned)(st->st_mode & 07777));
        return false;
    }
    if (st->st_mode & 06000)
        cli_doctor_report(d, DOCTOR_NOTE, AREA,
                          "chmod 0750, and tell the package manager (dpkg-statoverride)",
                          "%s: mode %04o; started through %s it needs no setuid bit", d->helper,
                          (unsigned)(st->st_mode & 07777), d->socket);
    return true;
}

/* Setuid mode: checks the mode bits that let only the daemon's group run the helper as root. */
static bool file(struct doctor *d)
{
    struct statvfs fs;
    struct stat st;
    char buf[4096];
    const char *unsafe;

    if (stat(d->helper, &st) < 0) {
        cli_doctor_report(d, DOCTOR_BAD, AREA,
                          "install it (make install, or the package), or name it in "
                          "selvedge.nodemanager.executor.path",
                          "%s: %s", d->helper, strerror(errno));
        return false;
    }
    if (d->socket)
        return file_of_systemd(d, &st);
    if (st.st_uid != 0 || (st.st_mode & 07777) != 04750 ||
        (d->have_daemon && st.st_gid != d->daemon_gid)) {
        const struct group *g = getgrgid(st.st_gid);
        cli_doctor_report(
            d, DOCTOR_BAD, AREA,
            "chown root:<group of the NodeManager>, then chmod 4750; or use "
            "selvedge-executor.socket "
            "and set selvedge.nodemanager.executor.socket",
            "%s: uid %u, group %s, mode %04o; it must be root's, of the NodeManager's group, "
            "4750",
            d->helper, st.st_uid, g ? g->gr_name : "?", (unsigned)(st.st_mode & 07777));
        return false;
    }
    unsafe = cli_doctor_find_unsafe(d->helper, 0, buf, sizeof(buf));
    if (unsafe)
        cli_doctor_report(d, DOCTOR_BAD, AREA, "chown root, chmod go-w",
                          "%s: others than root can write there and replace the helper", unsafe);
    if (statvfs(d->helper, &fs) == 0 && fs.f_flag & ST_NOSUID) {
        cli_doctor_report(d, DOCTOR_BAD, AREA, "mount it without nosuid, or install elsewhere",
                          "%s: on a mount with nosuid, which disables setuid", d->helper);
        return false;
    }
    return true;
}

/* Creates the socket pair with the daemon's ids: the helper checks its creator. */
static int pair(const struct doctor *d, int ret[2])
{
    const uid_t uid = geteuid();
    const gid_t gid = getegid();
    int r;

    if (uid == 0 && (setegid(d->daemon_gid) < 0 || seteuid(d->daemon_uid) < 0))
        return -errno;
    r = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret) < 0 ? -errno : 0;
    if (uid == 0 && (seteuid(uid) < 0 || setegid(gid) < 0))
        return -errno;
    return r;
}

/* Connects with the daemon's ids, which systemd and the helper check. */
static int connect_to(const struct doctor *d, int *ret)
{
    const uid_t uid = geteuid();
    const gid_t gid = getegid();
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (fd < 0 || strlen(d->socket) >= sizeof(to.sun_path))
        return fd < 0 ? -errno : -ENAMETOOLONG;
    memcpy(to.sun_path, d->socket, strlen(d->socket));
    if (uid == 0 && (setegid(d->daemon_gid) < 0 || seteuid(d->daemon_uid) < 0))
        return -errno;
    int r = connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 ? -errno : 0;
    if (uid == 0 && (seteuid(uid) < 0 || setegid(gid) < 0))
        return -errno;
    if (r == 0)
        *ret = sv_take_fd(&fd);
    return r;
}

static pid_t start(const struct doctor *d, int theirs)
{
    char *argv[] = { (char *)"container-executor", NULL }, *envp[] = { NULL };
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    if (getuid() == 0 &&
        (setgroups(0, NULL) < 0 || setresgid(d->daemon_gid, d->daemon_gid, d->daemon_gid) < 0 ||
         setresuid(d->daemon_uid, d->daemon_uid, d->daemon_uid) < 0))
        _exit(126);
    if (dup2(theirs, 0) == 0)
        (void)execve(d->helper, argv, envp);
    _exit(127);
}

static char *value(const char *line, const char *key)
{
    size_t n = strlen(key);

    return strncmp(line, key, n) == 0 && line[n] == '=' ? strdup(line + n + 1) : NULL;
}

static void add(char ***list, char *s)
{
    size_t n = sv_strv_len(*list);
    char **grown = reallocarray(*list, n + 2, sizeof(char *));

    if (!grown) {
        free(s);
        return;
    }
    grown[n] = s;
    grown[n + 1] = NULL;
    *list = grown;
}

static void read_policy(struct doctor *d, const char *text, size_t len)
{
    _cleanup_free_ char *copy = strndup(text, len);
    _cleanup_strv_ char **lines = NULL;
    char *v;

    if (!copy || sv_strv_split(copy, '\n', &lines) < 0)
        return;
    for (char **l = lines; *l; l++) {
        if ((v = value(*l, "local-dir")))
            add(&d->policy.local_dirs, v);
        else if ((v = value(*l, "log-dir")))
            add(&d->policy.log_dirs, v);
        else if ((v = value(*l, "profile")))
            add(&d->policy.profiles, v);
        else if ((v = value(*l, "network")))
            add(&d->policy.networks, v);
        else if (strncmp(*l, "network-", 8) == 0 && (v = strchr(*l, '='))) {
            *v = '\0';
            exe_network_line(&d->policy.net, *l, v + 1);
        } else if (!d->policy.cgroup_root && (v = value(*l, "cgroup-root")))
            d->policy.cgroup_root = v;
        else if (!d->policy.user && (v = value(*l, "user")))
            d->policy.user = v;
        else if (!d->policy.refused_ports && (v = value(*l, "refused-ports")))
            d->policy.refused_ports = v;
        else if ((v = value(*l, "unenforced-limits-allowed"))) {
            d->policy.unenforced_allowed = strcmp(v, "true") == 0;
            free(v);
        } else if ((v = value(*l, "min-user-id"))) {
            uint64_t uid;

            if (sv_parse_u64(v, 0, UINT32_MAX, &uid) == 0)
                d->policy.min_uid = (uid_t)uid;
            free(v);
        } else if ((v = value(*l, "no-filter"))) {
            cli_doctor_report(d, DOCTOR_BAD, AREA,
                              "a kernel with CONFIG_CGROUP_BPF, whose root may load such filters",
                              "no filter can be attached: %s; no container starts", v);
            free(v);
        } else if ((v = value(*l, "selinux"))) {
            d->policy.labels = strcmp(v, "off") != 0;
            d->policy.enforcing = strcmp(v, "enforcing") == 0;
            free(v);
        }
    }
    d->policy.known = true;
}

/* A wait with a timeout ends with EINTR when the process is stopped and continued (Ctrl-Z): retry
 * it. */
static ssize_t receive(int fd, uint8_t *in, size_t size)
{
    ssize_t n;
    do
        n = recv(fd, in, size, 0);
    while (n < 0 && errno == EINTR);
    return n;
}

struct answer {
    uint8_t bytes[EXE_REPLY_SIZE_MAX];
    struct exe_reply reply; /* points into `bytes` */
    bool there;
    int status; /* setuid mode: the helper's wait status */
};

/* Sends one CHECK in this version of the protocol; fails only if no helper could be started. */
static int ask(struct doctor *d, uint16_t version, struct answer *a)
{
    const struct exe_request request = { .version = version, .op = EXE_OP_CHECK, .request_id = 1 };
    const struct timeval patience = { .tv_sec = 20 };
    uint8_t out[EXE_REQUEST_SIZE];
    int fds[2] = { -1, -1 }, n = exe_request_encode(&request, out, sizeof(out));
    int r = n < 0 ? n : d->socket ? connect_to(d, &fds[0]) : pair(d, fds);

    a->there = false;
    a->status = 0;
    if (r < 0)
        return r;
    _cleanup_close_ int ours = fds[0];
    (void)setsockopt(ours, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    (void)!send(ours, out, (size_t)n,
                MSG_NOSIGNAL); /* a helper that has exited shows in the answer, ignoring */
    pid_t pid = d->socket ? 0 : start(d, fds[1]);
    (void)sv_close(fds[1]);
    ssize_t got = pid < 0 ? -1 : receive(ours, a->bytes, sizeof(a->bytes));
    if (got < 0 &&
        errno == ECONNRESET) /* it exited without reading the request; an answer may be there */
        got = receive(ours, a->bytes, sizeof(a->bytes));
    if (pid > 0)
        (void)waitpid(pid, &a->status, 0);
    a->there = got > 0 && exe_reply_decode(a->bytes, (size_t)got, &a->reply) == 0;
    return 0;
}

static void query_policy(struct doctor *d)
{
    struct answer a;
    struct exe_failure failure;

    int r = ask(d, EXE_PROTOCOL_VERSION, &a);
    if (r == 0 && a.there && a.reply.status == EXE_STATUS_VERSION &&
        exe_version_ok(a.reply.version)) /* same check as in the daemon */
        r = ask(d, a.reply.version, &a);
    if (r < 0 && d->socket) {
        cli_doctor_report(d, DOCTOR_BAD, AREA, "systemctl enable --now selvedge-executor.socket",
                          "%s: %s cannot connect: %s; no container starts", d->socket, d->daemon,
                          strerror(-r));
        return;
    }
    if (r < 0) {
        cli_doctor_report(d, DOCTOR_WEAK, AREA, NULL, "%s: does not answer: %s", d->helper,
                          strerror(-r));
        return;
    }
    if (a.there && a.reply.status == EXE_STATUS_OK) {
        read_policy(d, a.reply.text, a.reply.text_len);
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL,
                          "%s: root's, %s%s, answers; its configuration and filters are in order",
                          d->helper, d->socket ? "started by systemd through " : "4750",
                          d->socket ? d->socket : "");
        return;
    }
    exe_failure_from(a.there ? &a.reply : NULL, a.status, "container-executor", &failure);
    cli_doctor_report(d, DOCTOR_BAD, AREA,
                      a.there && a.reply.status == EXE_STATUS_CONFIG_SYNTAX
                          ? "correct what the text names in container-executor.cfg"
                          : "see the text, and \"Status of container-executor\" in "
                            "troubleshooting.md",
                      "%s", failure.text);
}

static bool same(char *const *a, char *const *b)
{
    if (sv_strv_len(a) != sv_strv_len(b))
        return false;
    for (; a && *a; a++, b++)
        if (strcmp(*a, *b) != 0)
            return false;
    return true;
}

/* Compares profile and networks of each launch; the daemon makes the same comparison and refuses to
 * start. */
static void check_allowed(struct doctor *d, const char *ours, const char *value, const char *theirs,
                          char *const *list)
{
    char have[256] = "", remedy[256];
    size_t n = 0;

    for (char *const *one = list; one && *one && n < sizeof(have); one++) {
        if (strcmp(*one, value) == 0)
            return;
        n += (size_t)snprintf(have + n, sizeof(have) - n, "%s%s", n ? "," : "", *one);
    }
    (void)snprintf(remedy, sizeof(remedy),
                   "add %s to %s in container-executor.cfg, or set %s to one that is listed", value,
                   theirs, ours);
    cli_doctor_report(d, DOCTOR_BAD, AREA, remedy,
                      "%s is %s, root allows %s=%s: every launch would be refused", ours, value,
                      theirs, have);
}

/* Both sides refer to directories by index: the lists must be equal. */
static void compare(struct doctor *d)
{
    const struct doctor_policy *p = &d->policy;

    if (!p->known || !d->have_conf)
        return;
    if (!same(p->local_dirs, d->conf.local_dirs))
        cli_doctor_report(
            d, DOCTOR_BAD, AREA, "write the same list in the same order into both files",
            "yarn.nodemanager.local-dirs of yarn-site.xml and of container-executor.cfg differ");
    if (!same(p->log_dirs, d->conf.log_dirs))
        cli_doctor_report(
            d, DOCTOR_BAD, AREA, "write the same list in the same order into both files",
            "yarn.nodemanager.log-dirs of yarn-site.xml and of container-executor.cfg differ");
    if (d->conf.cgroup_root && !sv_streq(d->conf.cgroup_root, p->cgroup_root))
        cli_doctor_report(
            d, DOCTOR_BAD, AREA,
            "selvedge.nodemanager.cgroup.root (yarn-site.xml) and selvedge.cgroup.root "
            "(container-executor.cfg) must be one path",
            "containers' cgroup: %s here, %s there", d->conf.cgroup_root, p->cgroup_root);
    check_allowed(d, "selvedge.nodemanager.sandbox.profile", exe_profile_name(d->conf.profile),
                  "selvedge.sandbox.profiles", p->profiles);
    check_allowed(d, "selvedge.nodemanager.network", exe_network_name(d->conf.network),
                  "selvedge.sandbox.networks", p->networks);
    if (d->conf.unenforced_allowed && p->unenforced_allowed)
        cli_doctor_report(
            d, DOCTOR_WEAK, AREA, "set it to false on both sides once the controllers are there",
            "unenforced-limits.allowed is true on both sides: where the kernel has no "
            "controllers, containers run without limits");
    else if (d->conf.unenforced_allowed != p->unenforced_allowed)
        cli_doctor_report(
            d, DOCTOR_NOTE, AREA, NULL,
            "unenforced-limits.allowed is true on one side only, which has no effect");
}

void cli_doctor_helper(struct doctor *d)
{
    if (d->absent || !file(d))
        return;
    if (!d->have_daemon || (geteuid() != 0 && geteuid() != d->daemon_uid)) {
        cli_doctor_report(
            d, DOCTOR_NOTE, AREA, "run this as root, or as the NodeManager's account",
            "%s: file is in order; only root and the NodeManager's account may query its "
            "configuration",
            d->helper);
        return;
    }
    query_policy(d);
    compare(d);
}
