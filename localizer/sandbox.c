/* See sandbox.h. Landlock by ABI version: each kernel enforces the rights that it knows; a kernel
 * without Landlock leaves the mounts of the helper. seccomp is not optional. */
#include "localizer/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/fd.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif

#define MEMORY_MAX (1024ul << 20) /* address space of a worker: no parser needs more */
#define FILES_MAX 64

/* linux/landlock.h of Debian 12 ends at version 1; later bits from the kernel documentation. */
#define FS_V1 ((1ull << 13) - 1)
#define FS_REFER (1ull << 13)     /* 2 */
#define FS_TRUNCATE (1ull << 14)  /* 3 */
#define FS_IOCTL_DEV (1ull << 15) /* 5 */
#define NET_TCP 3ull              /* 4: bind, connect */
#define SCOPES 3ull               /* 6: abstract sockets, signals */

#define FS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_UNPACK                                                                                  \
    (FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |                       \
     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REMOVE_FILE |  \
     FS_REFER | FS_TRUNCATE)

struct ruleset {
    uint64_t fs, net, scoped;
};

int loc_sandbox_landlock(void)
{
    long v = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

    return v < 0 ? 0 : (int)v;
}

static int allow(int ruleset, int dir, uint64_t access, uint64_t handled)
{
    struct landlock_path_beneath_attr a = { .allowed_access = access & handled, .parent_fd = dir };

    return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &a, 0) < 0 ? -errno
                                                                                          : 0;
}

static int landlock(int target, bool fetching, struct sv_error *err)
{
    int version = loc_sandbox_landlock(), r;
    struct ruleset rules = { .fs = FS_V1 };
    _cleanup_close_ int set = -1, root = -1;

    if (version == 0)
        return 0;
    rules.fs |= version >= 2 ? FS_REFER : 0;
    rules.fs |= version >= 3 ? FS_TRUNCATE : 0;
    rules.fs |= version >= 5 ? FS_IOCTL_DEV : 0;
    rules.net = version >= 4 && !fetching ? NET_TCP : 0;
    rules.scoped = version >= 6 ? SCOPES : 0;
    set = (int)syscall(SYS_landlock_create_ruleset, &rules,
                       version >= 6   ? sizeof rules
                       : version >= 4 ? 16
                                      : 8,
                       0);
    if (set < 0)
        return sv_error_errno(err, -errno, "worker: Landlock rules");
    r = allow(set, target, FS_UNPACK, rules.fs);
    if (r == 0 && fetching) {
        root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        r = root < 0 ? -errno : allow(set, root, FS_READ, rules.fs);
    }
    if (r < 0)
        return sv_error_errno(err, r, "worker: Landlock rule");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        syscall(SYS_landlock_restrict_self, set, 0) < 0)
        return sv_error_errno(err, -errno, "worker: Landlock");
    return 0;
}

static int limit(int what, rlim_t value, struct sv_error *err)
{
    struct rlimit l = { value, value }, now;

    if (getrlimit((__rlimit_resource_t)what, &now) == 0 && now.rlim_max < value)
        l.rlim_cur = l.rlim_max = now.rlim_max; /* never raised */
    if (setrlimit((__rlimit_resource_t)what, &l) < 0)
        return sv_error_errno(err, -errno, "worker: resource limit %d", what);
    return 0;
}

int loc_sandbox_program(struct sv_error *err)
{
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return sv_error_errno(err, -errno, "container-localizer: dumpable");
    return limit(RLIMIT_CORE, 0, err);
}

int loc_sandbox_fetch(int target, uint64_t max_bytes, pid_t parent, struct sv_error *err)
{
    int r;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        return sv_error_errno(err, -errno, "worker: parent's death");
    if (getppid() != parent)
        return sv_error_set(err, -ECHILD, "worker: the localizer is gone");
    r = limit(RLIMIT_FSIZE, max_bytes, err);
    if (r == 0)
        r = limit(RLIMIT_NOFILE, FILES_MAX, err);
#ifndef SANITIZED /* the shadow memory takes terabytes of address space */
    if (r == 0)
        r = limit(RLIMIT_AS, MEMORY_MAX, err);
#endif
    return r < 0 ? r : landlock(target, true, err);
}

/* System calls for reading an archive and writing its entries; no socket, process, mount, ioctl,
 * exec, executable memory. */
static const int calls[] = {
    SCMP_SYS(read),         SCMP_SYS(pread64),        SCMP_SYS(readv),
    SCMP_SYS(lseek),        SCMP_SYS(write),          SCMP_SYS(pwrite64),
    SCMP_SYS(writev),       SCMP_SYS(close),          SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),   SCMP_SYS(statx),          SCMP_SYS(openat),
    SCMP_SYS(openat2),      SCMP_SYS(fcntl),          SCMP_SYS(mkdirat),
    SCMP_SYS(symlinkat),    SCMP_SYS(linkat),         SCMP_SYS(unlinkat),
    SCMP_SYS(fchmod),       SCMP_SYS(ftruncate),      SCMP_SYS(brk),
    SCMP_SYS(munmap),       SCMP_SYS(mremap),         SCMP_SYS(madvise),
    SCMP_SYS(futex),        SCMP_SYS(clock_gettime),  SCMP_SYS(gettimeofday),
    SCMP_SYS(getpid),       SCMP_SYS(gettid),         SCMP_SYS(getrandom),
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
    SCMP_SYS(exit),         SCMP_SYS(exit_group),     SCMP_SYS(restart_syscall),
};

#ifndef SANITIZED
static int seccomp(struct sv_error *err)
{
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    int r = f ? 0 : -ENOMEM;

    for (size_t i = 0; r == 0 && i < SV_ARRAY_LEN(calls); i++)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, calls[i], 0);
    if (r == 0) /* not executable */
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                             SCMP_A2(SCMP_CMP_MASKED_EQ, 4 /* PROT_EXEC */, 0));
    if (r == 0)
        r = seccomp_load(f);
    seccomp_release(f);
    return r < 0 ? sv_error_errno(err, r, "worker: system-call filter") : 0;
}
#endif

int loc_sandbox_unpack(int target, struct sv_error *err)
{
    int r = landlock(target, false, err);

#ifndef SANITIZED /* the sanitizers' runtime needs further calls */
    if (r == 0)
        r = seccomp(err);
#else
    (void)calls;
#endif
    return r;
}
