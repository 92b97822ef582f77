/* See sandbox.h. Landlock by version, as in the localizer: without it, the system call filter and
 * the daemon's own account remain. */
#include "shuffle/sandbox.h"

#include <errno.h>
#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/caps.h"
#include "common/fd.h"
#include "common/landlock.h"
#include "common/log.h"

static int allow_reading(const struct sv_landlock *l, const struct shf_local_dirs *dirs,
                         struct sv_error *err)
{
    for (size_t i = 0; i < dirs->n; i++) {
        int r = sv_landlock_allow(l, dirs->v[i].fd, LANDLOCK_ACCESS_FS_READ_FILE);

        if (r < 0)
            return sv_error_errno(err, r, "Landlock rule for %s", dirs->v[i].path);
    }
    return 0;
}

/* Allows reading the directories of TLS keys, so that keys can be reloaded. */
static int allow_keys(const struct sv_landlock *l, const struct sv_tls *tls, struct sv_error *err)
{
    int dirs[SV_TLS_DIRS_MAX];
    size_t n = sv_tls_dirs(tls, dirs);

    for (size_t i = 0; i < n; i++) {
        int r = sv_landlock_allow(l, dirs[i], LANDLOCK_ACCESS_FS_READ_FILE);

        if (r < 0)
            return sv_error_errno(err, r, "Landlock rule for TLS keys");
    }
    return 0;
}

static int landlock(const struct shf_local_dirs *dirs, const struct sv_tls *tls,
                    struct sv_error *err)
{
    struct sv_landlock l;
    int r;

    if (sv_landlock_version() == 0) {
        sv_log_notice("this kernel has no Landlock: reads are not restricted to local directories");
        return 0;
    }
    r = sv_landlock_new(false, &l);
    if (r < 0)
        return sv_error_errno(err, r, "Landlock rules");
    r = allow_reading(&l, dirs, err);
    if (r == 0)
        r = allow_keys(&l, tls, err);
    if (r == 0) {
        r = sv_landlock_enter(&l);
        if (r < 0)
            (void)sv_error_errno(err, r, "Landlock");
    }
    close(l.fd);
    return r;
}

int shf_sandbox_files(const struct shf_local_dirs *dirs, const struct sv_tls *tls,
                      struct sv_error *err)
{
    int r = sv_caps_drop_all(NULL);

    if (r < 0)
        return sv_error_errno(err, r, "capabilities");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return sv_error_errno(err, -errno, "no_new_privs, dumpable");
    return landlock(dirs, tls, err);
}

/* In the order of use: files, connections, the NodeManager's socket, memory and threads, exit. */
static const int calls[] = {
    SCMP_SYS(openat2),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(pread64),
    SCMP_SYS(close),
    SCMP_SYS(fadvise64),
    SCMP_SYS(sendfile),
    SCMP_SYS(accept4),
    SCMP_SYS(getsockname),
    SCMP_SYS(recvfrom),
    SCMP_SYS(sendto),
    SCMP_SYS(shutdown),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmsg),
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(lseek),
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getrandom),
    SCMP_SYS(sched_yield),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(tgkill),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(preadv2),
};

#ifndef SV_SANITIZED
/* The options of established connections; OpenSSL sets TCP_ULP for each, and goes on without it. */
static int allow_options(scmp_filter_ctx f, bool tls_in_kernel)
{
    static const struct {
        int level, name;
        bool of_kernel_tls;
    } options[] = {
        { SOL_SOCKET, SO_KEEPALIVE, false }, { IPPROTO_TCP, TCP_NODELAY, false },
        { IPPROTO_TCP, TCP_ULP, true },      { SOL_TLS, TLS_TX, true },
        { SOL_TLS, TLS_RX, true },
    };
    int r = 0;

    for (size_t i = 0; r == 0 && i < SV_ARRAY_LEN(options); i++)
        if (tls_in_kernel || !options[i].of_kernel_tls)
            r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(setsockopt), 2,
                                 SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)options[i].level),
                                 SCMP_A2(SCMP_CMP_EQ, (scmp_datum_t)options[i].name));
    return r;
}
#endif

int shf_sandbox_calls(bool tls_in_kernel, struct sv_error *err)
{
    int r = 0;

#ifndef SV_SANITIZED /* the sanitizers' runtime needs further calls */
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));

    r = f ? seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1) : -ENOMEM;
    for (size_t i = 0; r == 0 && i < SV_ARRAY_LEN(calls); i++)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, calls[i], 0);
    if (r == 0)
        r = allow_options(f, tls_in_kernel);
    if (r == 0) /* no executable memory */
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
    (void)tls_in_kernel;
#endif
    return r < 0 ? sv_error_errno(err, r, "system call filter") : 0;
}
