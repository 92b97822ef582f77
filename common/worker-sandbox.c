/* See worker-sandbox.h. Landlock by ABI version: each kernel enforces the rights that it supports;
 * without Landlock the mounts set up by the helper remain. seccomp is mandatory. */
#include "common/worker-sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/landlock.h"

#define MEMORY_MAX (1024ul << 20) /* address space of a worker: no parser needs more */
#define FILES_MAX 64

#define FS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_UNPACK                                                                                  \
    (FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |                       \
     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REMOVE_FILE |  \
     SV_LANDLOCK_REFER | SV_LANDLOCK_TRUNCATE)

static int allow_files(const struct sv_landlock *l, const int *targets, size_t n, bool fetching)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++)
        r = sv_landlock_allow(l, targets[i], FS_UNPACK);
    if (r < 0 || !fetching)
        return r;
    _cleanup_close_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return root < 0 ? -errno : sv_landlock_allow(l, root, FS_READ);
}

static int landlock(const int *targets, size_t n, bool fetching, struct sv_error *err)
{
    struct sv_landlock l;
    int r;

    if (sv_landlock_version() == 0)
        return 0;
    r = sv_landlock_new(fetching, &l);
    if (r < 0)
        return sv_error_errno(err, r, "worker: Landlock rules");
    r = allow_files(&l, targets, n, fetching);
    if (r == 0)
        r = sv_landlock_enter(&l);
    close(l.fd);
    return r < 0 ? sv_error_errno(err, r, "worker: Landlock") : 0;
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

int sv_sandbox_program(struct sv_error *err)
{
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return sv_error_errno(err, -errno, "container-localizer: dumpable");
    return limit(RLIMIT_CORE, 0, err);
}

int sv_sandbox_fetch(int target, uint64_t max_bytes, pid_t parent, struct sv_error *err)
{
    return sv_sandbox_upload(&target, 1, max_bytes, parent, err);
}

int sv_sandbox_upload(const int *targets, size_t n, uint64_t max_bytes, pid_t parent,
                      struct sv_error *err)
{
    int r;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        return sv_error_errno(err, -errno, "worker: parent's death");
    if (getppid() != parent)
        return sv_error_set(err, -ECHILD, "worker: the localizer is gone");
    r = limit(RLIMIT_FSIZE, max_bytes, err);
    if (r == 0)
        r = limit(RLIMIT_NOFILE, FILES_MAX, err);
#ifndef SV_SANITIZED /* the shadow memory needs terabytes of address space */
    if (r == 0)
        r = limit(RLIMIT_AS, MEMORY_MAX, err);
#endif
    return r < 0 ? r : landlock(targets, n, true, err);
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

#ifndef SV_SANITIZED
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

int sv_sandbox_unpack(int target, struct sv_error *err)
{
    int r = landlock(&target, 1, false, err);

#ifndef SV_SANITIZED /* the sanitizers' runtime needs further calls */
    if (r == 0)
        r = seccomp(err);
#else
    (void)calls;
#endif
    return r;
}
