/* See sandbox.h. Landlock by version, as the localizer does: a kernel without it leaves the system
 * call filter and the daemon's own account. */
#include "shuffle/sandbox.h"

#include <errno.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/caps.h"
#include "common/fd.h"
#include "common/log.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif

/* linux/landlock.h of Debian 12 ends at version 1; later bits from the kernel's documentation. */
#define FS_V1 ((1ull << 13) - 1)
#define FS_REFER (1ull << 13)     /* 2 */
#define FS_TRUNCATE (1ull << 14)  /* 3 */
#define FS_IOCTL_DEV (1ull << 15) /* 5 */
#define NET_TCP 3ull              /* 4: bind, connect */
#define SCOPES 3ull               /* 6: abstract sockets, signals */

struct ruleset {
    uint64_t fs, net, scoped;
};

static int landlock(const struct shf_local_dirs *dirs, struct sv_error *err)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    struct ruleset rules = { .fs = FS_V1 };
    _cleanup_close_ int set = -1;

    if (version <= 0) {
        sv_log_notice("this kernel has no Landlock: reads are not restricted to local directories");
        return 0;
    }
    rules.fs |= (version >= 2 ? FS_REFER : 0) | (version >= 3 ? FS_TRUNCATE : 0) |
                (version >= 5 ? FS_IOCTL_DEV : 0);
    rules.net = version >= 4 ? NET_TCP : 0;
    rules.scoped = version >= 6 ? SCOPES : 0;
    set = (int)syscall(SYS_landlock_create_ruleset, &rules,
                       version >= 6   ? sizeof rules
                       : version >= 4 ? 16
                                      : 8,
                       0);
    if (set < 0)
        return sv_error_errno(err, -errno, "Landlock rules");
    for (size_t i = 0; i < dirs->n; i++) {
        struct landlock_path_beneath_attr a = { .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
                                                .parent_fd = dirs->v[i].fd };

        if (syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &a, 0) < 0)
            return sv_error_errno(err, -errno, "Landlock rule for %s", dirs->v[i].path);
    }
    if (syscall(SYS_landlock_restrict_self, set, 0) < 0)
        return sv_error_errno(err, -errno, "Landlock");
    return 0;
}

int shf_sandbox_files(const struct shf_local_dirs *dirs, struct sv_error *err)
{
    int r = sv_caps_drop_all(NULL);

    if (r < 0)
        return sv_error_errno(err, r, "capabilities");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return sv_error_errno(err, -errno, "no_new_privs, dumpable");
    return landlock(dirs, err);
}

/* In the order of use: files, connections, the NodeManager's socket, memory and threads, the end.
 */
static const int calls[] = {
    SCMP_SYS(openat2),       SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),    SCMP_SYS(statx),
    SCMP_SYS(pread64),       SCMP_SYS(close),
    SCMP_SYS(fadvise64),     SCMP_SYS(sendfile),
    SCMP_SYS(accept4),       SCMP_SYS(setsockopt),
    SCMP_SYS(getsockname),   SCMP_SYS(recvfrom),
    SCMP_SYS(sendto),        SCMP_SYS(shutdown),
    SCMP_SYS(epoll_wait),    SCMP_SYS(epoll_pwait),
    SCMP_SYS(epoll_ctl),     SCMP_SYS(poll),
    SCMP_SYS(ppoll),         SCMP_SYS(recvmsg),
    SCMP_SYS(sendmsg),       SCMP_SYS(read),
    SCMP_SYS(write),         SCMP_SYS(writev),
    SCMP_SYS(lseek),         SCMP_SYS(brk),
    SCMP_SYS(munmap),        SCMP_SYS(mremap),
    SCMP_SYS(madvise),       SCMP_SYS(futex),
    SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday),
    SCMP_SYS(getpid),        SCMP_SYS(gettid),
    SCMP_SYS(getrandom),     SCMP_SYS(sched_yield),
    SCMP_SYS(rt_sigaction),  SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),  SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),          SCMP_SYS(restart_syscall),
    SCMP_SYS(tgkill),        SCMP_SYS(exit),
    SCMP_SYS(exit_group),    SCMP_SYS(preadv2),
};

int shf_sandbox_calls(struct sv_error *err)
{
    int r = 0;

#ifndef SANITIZED /* the sanitizers' runtime needs further calls */
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));

    r = f ? seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1) : -ENOMEM;
    for (size_t i = 0; r == 0 && i < SV_ARRAY_LEN(calls); i++)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, calls[i], 0);
    if (r == 0) /* not executable */
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                             SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    if (r == 0)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                             SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    if (r == 0)
        r = seccomp_load(f);
    seccomp_release(f);
#else
    (void)calls;
#endif
    return r < 0 ? sv_error_errno(err, r, "system call filter") : 0;
}
