/* See sandbox.h. */
#include "gss/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/caps.h"
#include "common/fd.h"
#include "common/landlock.h"

/* Files are read where krb5.conf, its include directories, plug-ins and name services have them. */
static int landlock(struct sv_error *err)
{
    struct sv_landlock l;
    int r;

    if (sv_landlock_version() == 0)
        return 0; /* the system call filter and the account remain */
    r = sv_landlock_new(true, &l);
    if (r < 0)
        return sv_error_errno(err, r, "Landlock rules");
    _cleanup_close_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    r = root < 0 ? -errno
                 : sv_landlock_allow(&l, root,
                                     LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR);
    if (r == 0)
        r = sv_landlock_enter(&l);
    close(l.fd);
    return r < 0 ? sv_error_errno(err, r, "Landlock") : 0;
}

int sgss_sandbox_files(struct sv_error *err)
{
    struct rlimit none = { 0, 0 };
    int r = sv_caps_drop_all(NULL);

    if (r < 0)
        return sv_error_errno(err, r, "capabilities");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
        setrlimit(RLIMIT_CORE, &none) < 0)
        return sv_error_errno(err, -errno, "no_new_privs, dumpable, core dumps");
    return landlock(err);
}

/* In the order of use: files, network, the daemon's socket, time and names of this process, memory
 * and threads, exit. */
static const int calls[] = {
    SCMP_SYS(open),
    SCMP_SYS(openat),
    SCMP_SYS(read),
    SCMP_SYS(pread64),
    SCMP_SYS(readv),
    SCMP_SYS(lseek),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64),
    SCMP_SYS(fcntl),
    SCMP_SYS(close),
    SCMP_SYS(connect),
    SCMP_SYS(bind),
    SCMP_SYS(getsockname),
    SCMP_SYS(getpeername),
    SCMP_SYS(getsockopt),
    SCMP_SYS(setsockopt),
    SCMP_SYS(sendto),
    SCMP_SYS(sendmsg),
    SCMP_SYS(sendmmsg),
    SCMP_SYS(recvfrom),
    SCMP_SYS(recvmsg),
    SCMP_SYS(recvmmsg),
    SCMP_SYS(shutdown),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(select),
    SCMP_SYS(pselect6),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(uname),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getresuid),
    SCMP_SYS(getresgid),
    SCMP_SYS(getrandom),
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
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
};

/* IP for KDCs and name servers, local sockets for nscd, SSSD and systemd-resolved, netlink for the
 * machine's addresses, which getaddrinfo asks for. */
static const int families[] = { AF_INET, AF_INET6, AF_UNIX, AF_NETLINK };
/* libkrb5 and the resolver make these. */
static const unsigned long requests[] = { FIONBIO, FIONREAD };

#ifndef SV_SANITIZED
static int add_rules(scmp_filter_ctx f)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < SV_ARRAY_LEN(calls); i++)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, calls[i], 0);
    for (size_t i = 0; r == 0 && i < SV_ARRAY_LEN(families); i++)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
                             SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)families[i]));
    for (size_t i = 0; r == 0 && i < SV_ARRAY_LEN(requests); i++)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                             SCMP_A1(SCMP_CMP_EQ, requests[i]));
    /* Plug-ins and modules of name services are mapped; nothing is writable and executable. */
    if (r == 0)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                             SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    if (r == 0)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                             SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_WRITE | PROT_EXEC, PROT_EXEC));
    if (r == 0)
        r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                             SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    return r;
}
#endif

int sgss_sandbox_calls(struct sv_error *err)
{
    int r = 0;

#ifndef SV_SANITIZED /* the sanitizers' runtime needs further calls */
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));

    r = f ? seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1) : -ENOMEM;
    if (r == 0)
        r = add_rules(f);
    if (r == 0)
        r = seccomp_load(f);
    seccomp_release(f);
#else
    (void)calls, (void)families, (void)requests;
#endif
    return r < 0 ? sv_error_errno(err, r, "system call filter") : 0;
}
