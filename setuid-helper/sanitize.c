/* Sanitizes the process, and drops its privileges. Everything that a setuid program inherits from
 * its caller (descriptors, environment, signals, limits, namespaces) MUST be reset or refused
 * before a byte of the request is read. The drop MUST be irreversible and is verified. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <linux/stat.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

/* 1 and 2 become /dev/null; 0 MUST be open (main.c checks its type); all others are closed. A file
 * opened later can never become 0, 1 or 2. */
static void descriptors(void)
{
    if (fcntl(0, F_GETFD) < 0)
        _exit(EXE_STATUS_DESCRIPTORS); /* no caller to answer */
    if (syscall(SYS_close_range, 1, ~0U, 0) < 0)
        hlp_fail(EXE_STATUS_KERNEL, errno, "close_range");
    if (open("/dev/null", O_RDWR | O_NOCTTY) != 1 || dup(1) != 2 ||
        fcntl(0, F_SETFD, FD_CLOEXEC) < 0)
        hlp_fail(EXE_STATUS_DESCRIPTORS, errno, "/dev/null");
}

void hlp_keep_only(int *const *keep, int n)
{
    if (syscall(SYS_close_range, HLP_HIGH, ~0U, 0) < 0)
        hlp_fail(EXE_STATUS_KERNEL, errno, "close_range");
    for (int i = 0; i < n; i++)
        if (*keep[i] >= 0 && (*keep[i] = fcntl(*keep[i], F_DUPFD_CLOEXEC, HLP_HIGH)) < 0)
            hlp_fail(EXE_STATUS_DESCRIPTORS, errno, "fcntl");
    if (syscall(SYS_close_range, 3, HLP_HIGH - 1, 0) < 0)
        hlp_fail(EXE_STATUS_KERNEL, errno, "close_range");
}

static void signals(void)
{
    /* The kernel's own struct, all zero: SIG_DFL without flags. The C library's signal() refuses
     * its two, 32 and 33, which GNU make 4.3 passes down ignored. */
    const struct {
        unsigned long handler, flags, restorer, mask;
    } ign = { .handler = 1 }, dfl = { 0 };
    const struct itimerval none = { 0 };
    sigset_t empty, pending;
    for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++)
        (void)setitimer(which, &none, NULL);
    /* A signal inherited blocked and pending, such as a caller's SIGALRM, would kill when it is
     * unblocked below: ignoring it for a moment discards it. */
    (void)sigpending(&pending);
    for (int sig = 1; sig < NSIG; sig++)
        if (sig != SIGKILL && sig != SIGSTOP) {
            if (sigismember(&pending, sig) == 1)
                (void)syscall(SYS_rt_sigaction, sig, &ign, NULL, sizeof(ign.mask));
            (void)syscall(SYS_rt_sigaction, sig, &dfl, NULL, sizeof(dfl.mask));
        }
    /* A reply to a caller that has ended must be an error, not death within a step. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigemptyset(&empty);
    (void)sigprocmask(SIG_SETMASK, &empty, NULL);
}

struct limit {
    int resource;
    rlim_t least, soft, hard; /* values below `least` are refused; the hard limit is never raised */
    const char *name;
};

static void set_limits(const struct limit *set, size_t n)
{
    for (; n > 0; set++, n--) {
        struct rlimit l;
        if (getrlimit(set->resource, &l) < 0 || l.rlim_max < set->least)
            hlp_fail(EXE_STATUS_LIMITS, EPERM, set->name);
        l.rlim_max = l.rlim_max < set->hard ? l.rlim_max : set->hard;
        l.rlim_cur = l.rlim_max < set->soft ? l.rlim_max : set->soft;
        if (setrlimit(set->resource, &l) < 0)
            hlp_fail(EXE_STATUS_LIMITS, errno, set->name);
    }
}

#define ALL RLIM_INFINITY
#define LIMIT(which, least, soft, hard)                                                            \
    {                                                                                              \
        RLIMIT_##which, least, soft, hard, "RLIMIT_" #which                                        \
    }
#define SET_LIMITS(set) set_limits(set, sizeof(set) / sizeof(set[0]))

/* Raises soft limits to the hard ones, and refuses too low hard limits, so that no step fails half
 * way. Raising hard limits would need another capability. */
static void limits(void)
{
    static const struct limit own[] = {
        LIMIT(CORE, 0, 0, 0),       LIMIT(FSIZE, ALL, ALL, ALL),
        LIMIT(CPU, ALL, ALL, ALL),  LIMIT(AS, ALL, ALL, ALL),
        LIMIT(DATA, ALL, ALL, ALL), LIMIT(NOFILE, 256, ALL, ALL),
        LIMIT(NPROC, 64, ALL, ALL), LIMIT(STACK, 1 << 20, 8 << 20, ALL),
    };
    SET_LIMITS(own);
}

/* For the job: no core files, the usual soft values, no real-time priority. */
void hlp_rlimits(void)
{
    static const struct limit job[] = {
        LIMIT(CORE, 0, 0, 0),
        LIMIT(NOFILE, 0, 1024, 65536),
        LIMIT(MEMLOCK, 0, 8 << 20, 8 << 20),
        LIMIT(NICE, 0, 0, 0),
        LIMIT(MSGQUEUE, 0, 819200, 819200),
        LIMIT(SIGPENDING, 0, 4096, 4096),
        LIMIT(RTPRIO, 0, 0, 0),
        LIMIT(STACK, 0, 8 << 20, 64 << 20),
    };
    SET_LIMITS(job);
    if (getpriority(PRIO_PROCESS, 0) < 0 && setpriority(PRIO_PROCESS, 0, 0) < 0)
        hlp_fail(EXE_STATUS_LIMITS, errno, "nice value");
}

/* Requires the initial user and pid namespaces, by their fixed inode numbers; no chroot: after
 * entering a mount namespace, here its own, a process is at its root; no inherited filter, which
 * every container would have. */
static void confinement(void)
{
    struct statfs fs;
    struct stat user, pid;
    struct statx before, after;
    int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC); /* keeps the mount's number in use */
    int dir = open("/proc/self/ns", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (dir < 0 || fstatfs(dir, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC ||
        fstatat(dir, "user", &user, 0) < 0 || fstatat(dir, "pid", &pid, 0) < 0)
        hlp_fail(EXE_STATUS_CONFINED, errno, "/proc/self/ns");
    if (user.st_ino != 0xeffffffd || pid.st_ino != 0xeffffffc)
        hlp_fail(EXE_STATUS_CONFINED, EPERM, "user or pid namespace is not the initial one");
    int mnt = openat(dir, "mnt", O_RDONLY | O_CLOEXEC);
    if (mnt < 0 || setns(mnt, CLONE_NEWNS) < 0)
        hlp_fail(EXE_STATUS_CONFINED, errno, "own mount namespace (CAP_SYS_CHROOT)");
    const unsigned want = STATX_INO | STATX_MNT_ID;
    if (syscall(SYS_statx, root, "", AT_EMPTY_PATH, want, &before) < 0 ||
        syscall(SYS_statx, AT_FDCWD, "/", 0, want, &after) < 0 ||
        !(after.stx_mask & STATX_MNT_ID) || before.stx_mnt_id != after.stx_mnt_id ||
        before.stx_ino != after.stx_ino)
        hlp_fail(EXE_STATUS_CONFINED, EPERM, "root directory is not the initial one");
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0)
        hlp_fail(EXE_STATUS_CONFINED, EPERM, "inherited system call filter");
    (void)close(dir);
    (void)close(mnt);
    (void)close(root);
}

#define BIT(c) (UINT64_C(1) << (c))
#define IDS (BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_SETPCAP))
#define SERVING (IDS | BIT(CAP_SYS_ADMIN) | BIT(CAP_CHOWN))
#define STEPS                                                                                      \
    (BIT(CAP_DAC_OVERRIDE) | BIT(CAP_NET_ADMIN) | BIT(CAP_SYS_CHROOT) | BIT(CAP_SYS_RESOURCE))

/* Without CAP_SYS_RESOURCE if the machine has none, as in a foreign container. */
static uint64_t working_set = SERVING | STEPS;

static void set_caps(uint64_t effective, uint64_t permitted, uint64_t inheritable,
                     enum exe_status status)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        data[i].effective = (uint32_t)(effective >> 32 * i);
        data[i].permitted = (uint32_t)(permitted >> 32 * i);
        data[i].inheritable = (uint32_t)(inheritable >> 32 * i);
    }
    if (syscall(SYS_capset, &head, data) < 0)
        hlp_fail(status, errno, "capset");
}

static bool no_caps(void)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    static const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];
    memset(data, 0xff, sizeof(data));
    return syscall(SYS_capget, &head, data) == 0 && memcmp(data, none, sizeof(none)) == 0;
}

/* The helper's working set. CAP_DAC_OVERRIDE becomes effective for the two steps that concern the
 * daemon's cgroup, whose common ancestor with ours may have any owner; CAP_NET_ADMIN for a network
 * namespace of the container's own, CAP_SYS_CHROOT to enter a root template, CAP_SYS_RESOURCE for
 * hlp_oom_score. */
void hlp_set_step_cap(enum hlp_extra extra)
{
    static const uint64_t bits[] = { [HLP_CAP_NONE] = 0,
                                     [HLP_CAP_DAC_OVERRIDE] = BIT(CAP_DAC_OVERRIDE),
                                     [HLP_CAP_NET_ADMIN] = BIT(CAP_NET_ADMIN),
                                     [HLP_CAP_SYS_CHROOT] = BIT(CAP_SYS_CHROOT),
                                     [HLP_CAP_SYS_RESOURCE] = BIT(CAP_SYS_RESOURCE) };
    set_caps((SERVING | bits[extra]) & working_set, working_set, 0, EXE_STATUS_PRIVILEGE);
}

/* Mounts, namespaces and cgroups are only for LAUNCH and LOCALIZE; a label is written through a new
 * mount of /proc. */
void hlp_cut_caps(const struct hlp *h)
{
    const uint64_t needed[] = { [EXE_OP_CHECK] = 0,
                                [EXE_OP_INIT_APP] = IDS | BIT(CAP_CHOWN) |
                                                    (h->cfg.selinux ? BIT(CAP_SYS_ADMIN) : 0),
                                [EXE_OP_LAUNCH] = SERVING | STEPS,
                                [EXE_OP_LOCALIZE] = SERVING | STEPS,
                                [EXE_OP_SIGNAL] = IDS,
                                [EXE_OP_DELETE] = IDS,
                                [EXE_OP_LINK] = IDS };
    working_set &= needed[h->req.op];
    hlp_set_step_cap(HLP_CAP_NONE);
}

void hlp_oom_score(int proc, const char *score)
{
    static const char own[] = "self/oom_score_adj";
    hlp_set_step_cap(HLP_CAP_SYS_RESOURCE); /* the value becomes the minimum, too */
    hlp_write_proc(proc, own, score, EXE_STATUS_PRIVILEGE);
    hlp_set_step_cap(HLP_CAP_NONE);
    if (working_set & BIT(CAP_SYS_RESOURCE))
        return;
    int fd =
        hlp_openat2(proc, own, O_WRONLY, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV);
    if (fd < 0 || write(fd, "-1", 2) >= 0 || errno != EACCES)
        hlp_fail(EXE_STATUS_PRIVILEGE, EPERM,
                 "oom_score_adj: cannot raise the caller's minimum without CAP_SYS_RESOURCE");
    (void)close(fd);
}

void hlp_fs_as(uid_t uid, gid_t gid)
{
    (void)setfsgid(gid);
    (void)setfsuid(uid);
    if ((gid_t)setfsgid((gid_t)-1) != gid || (uid_t)setfsuid((uid_t)-1) != uid)
        hlp_fail(EXE_STATUS_PRIVILEGE, EPERM, "setfsuid");
}

void hlp_sanitize(int argc)
{
    static char *nothing[] = { NULL };
    if (argc != 1)
        _exit(EXE_STATUS_ARGUMENTS);
    environ = nothing;
    descriptors();
    if (geteuid() != 0)
        hlp_fail(EXE_STATUS_NOT_ROOT, EPERM, "container-executor");
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) < 0)
        hlp_fail(EXE_STATUS_PRIVILEGE, errno, "prctl");
    signals();
    limits();
    (void)umask(077);
    confinement(); /* leaves the process in / */
}

/* Securebits that let only capset change capabilities: no special case for uid 0, none for a change
 * of uid. Locked; the last two with the drop. */
#define SECUREBITS                                                                                 \
    (SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |                               \
     SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED)
#define NO_AMBIENT (SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

/* Capabilities that container-network and container-prepare may inherit: in the bounding set until
 * the drop. */
static const unsigned char handed_on[] = { CAP_NET_ADMIN, CAP_SYS_ADMIN, CAP_SYS_CHROOT };

/* Drops every other bounding capability that this kernel knows: no program executed from here on
 * can gain one. */
static void drop_bounding(void)
{
    for (unsigned long c = 0; c < 64; c++)
        if (!memchr(handed_on, (int)c, sizeof(handed_on)) &&
            prctl(PR_CAPBSET_READ, c, 0, 0, 0) != 0 && /* a drop makes new credentials */
            prctl(PR_CAPBSET_DROP, c, 0, 0, 0) < 0) {
            if (errno == EINVAL && c > CAP_SYS_ADMIN)
                return; /* the last one */
            hlp_fail(EXE_STATUS_PRIVILEGE, errno, "bounding set");
        }
}

void hlp_become_server(void)
{
    /* From here on the daemon cannot signal this process, which has none of its ids. */
    if (setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
        hlp_fail(EXE_STATUS_PRIVILEGE, errno, "setresuid");
    if (prctl(PR_SET_SECUREBITS, SECUREBITS, 0, 0, 0) < 0 ||
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
        hlp_fail(EXE_STATUS_PRIVILEGE, errno, "securebits");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        hlp_fail(EXE_STATUS_PRIVILEGE, errno, "no_new_privs");
    if (prctl(PR_CAPBSET_READ, CAP_SYS_RESOURCE, 0, 0, 0) == 0)
        working_set &= ~BIT(CAP_SYS_RESOURCE);
    drop_bounding();
    hlp_set_step_cap(HLP_CAP_NONE);
}

static void prove(const struct hlp_user *u)
{
    uid_t r, e, s;
    gid_t rg, eg, sg, groups[HLP_GROUPS_MAX + 1];
    int n = getgroups(HLP_GROUPS_MAX + 1, groups);
    bool good = n == (int)u->n_groups;
    for (int i = 0; good && i < n; i++) {
        bool found = false;
        for (size_t k = 0; k < u->n_groups; k++)
            found = found || u->groups[k] == groups[i];
        good = found;
    }
    if (getresuid(&r, &e, &s) < 0 || getresgid(&rg, &eg, &sg) < 0 || r != u->uid || e != u->uid ||
        s != u->uid || rg != u->gid || eg != u->gid || sg != u->gid || !good || u->uid == 0 ||
        u->gid == 0)
        hlp_fail(EXE_STATUS_DROP, EPERM, "ids are not the user's after the change");
    if ((uid_t)setfsuid((uid_t)-1) != u->uid || (gid_t)setfsgid((gid_t)-1) != u->gid)
        hlp_fail(EXE_STATUS_DROP, EPERM, "file system ids are not the user's");
    if (setresuid(0, 0, 0) == 0 || setresgid(0, 0, 0) == 0 || setuid(0) == 0)
        hlp_fail(EXE_STATUS_DROP, EPERM, "the way back to root is open");
    for (size_t i = 0; i < sizeof(handed_on); i++)
        good = good && prctl(PR_CAPBSET_READ, handed_on[i], 0, 0, 0) == 0;
    if (!good || !no_caps() || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 ||
        prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
        hlp_fail(EXE_STATUS_DROP, EPERM, "capabilities are left");
}

static void change_ids(const struct hlp_user *u)
{
    if (u->uid == 0 || u->gid == 0 || u->uid > HLP_ID_MAX || u->gid > HLP_ID_MAX)
        hlp_fail(EXE_STATUS_DROP, EINVAL, "root is no user to become");
    if (setgroups(u->n_groups, u->groups) < 0 || setresgid(u->gid, u->gid, u->gid) < 0 ||
        setresuid(u->uid, u->uid, u->uid) < 0)
        hlp_fail(EXE_STATUS_DROP, errno, u->name);
}

void hlp_drop(const struct hlp_user *u)
{
    for (size_t i = 0; i < sizeof(handed_on); i++)
        if (prctl(PR_CAPBSET_DROP, handed_on[i], 0, 0, 0) < 0)
            hlp_fail(EXE_STATUS_DROP, errno, "bounding set");
    if (prctl(PR_SET_SECUREBITS, SECUREBITS | NO_AMBIENT, 0, 0, 0) < 0)
        hlp_fail(EXE_STATUS_DROP, errno, "securebits");
    change_ids(u);
    set_caps(0, 0, 0, EXE_STATUS_DROP);
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        hlp_fail(EXE_STATUS_DROP, errno, "dumpable");
    prove(u);
}

void hlp_load_filter(const struct sock_fprog *filter)
{
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter, 0, 0) < 0)
        hlp_fail(EXE_STATUS_FILTER, errno, "filter");
}

void hlp_drop_keeping(const struct hlp_user *u)
{
    const uint64_t caps = BIT(CAP_NET_ADMIN) | (u ? 0 : BIT(CAP_SYS_ADMIN) | BIT(CAP_SYS_CHROOT));
    if (u)
        change_ids(u);
    set_caps(caps, caps, caps, EXE_STATUS_DROP);
    for (size_t i = 0; i < sizeof(handed_on); i++)
        if ((caps >> handed_on[i] & 1) &&
            prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, handed_on[i], 0, 0) < 0)
            hlp_fail(EXE_STATUS_DROP, errno, "ambient capabilities");
    if (u && (setresuid(0, 0, 0) == 0 || setuid(0) == 0))
        hlp_fail(EXE_STATUS_DROP, EPERM, "the way back to root is open");
}
