/* Runs inside a container and tries forbidden operations (cases 87-92 of
 * docs/design/hardening-tests.md, 95-97, 101). Prints one line per case: "NAME RESULT", where
 * RESULT is ok, the name of the errno, or a finding. It does not judge: the test outside knows the
 * expected results. Static, so that it needs nothing from the container.
 *
 * usage: probe all FOREIGN_DIR HELPER   everything that returns
 *        probe abi32 | x32              one call by another ABI (dies)
 *        probe fork-bomb | immortal     until killed */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static const char *name_of(int e)
{
    const char *n = strerrorname_np(e);
    return n ? n : "?";
}

static void say(const char *name, long r)
{
    (void)printf("%s %s\n", name, r < 0 ? name_of(errno) : "ok");
    (void)fflush(stdout);
}

#define TRY(name, expression)                                                                      \
    do {                                                                                           \
        errno = 0;                                                                                 \
        say(name, (long)(expression));                                                             \
    } while (0)

static void try_open(const char *name, const char *path, int flags)
{
    errno = 0;
    int fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    say(name, fd);
    if (fd >= 0)
        (void)close(fd);
}

static void try_write(const char *name, const char *path, const char *text)
{
    errno = 0;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    say(name, fd < 0 ? -1 : write(fd, text, strlen(text)));
    if (fd >= 0)
        (void)close(fd);
}

/* A call that gives up identity or memory must not take the probe with it. */
static void in_child(const char *name, int (*fn)(void))
{
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(fn());
    int st = 0;
    (void)waitpid(pid, &st, 0);
    if (WIFSIGNALED(st))
        (void)printf("%s signal-%d\n", name, WTERMSIG(st));
    else
        (void)printf("%s %s\n", name, WEXITSTATUS(st) ? name_of(WEXITSTATUS(st)) : "ok");
}

static int clone_new(unsigned long flags)
{
    long r = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
    if (r == 0)
        _exit(0);
    return r < 0 ? errno : 0;
}
static int clone_newuser(void)
{
    return clone_new(CLONE_NEWUSER);
}
static int clone_newns(void)
{
    return clone_new(CLONE_NEWNS);
}
static int clone_newpid(void)
{
    return clone_new(CLONE_NEWPID);
}

static int do_clone3(void)
{
    struct clone_args a = { .exit_signal = SIGCHLD };
    long r = syscall(SYS_clone3, &a, sizeof(a));
    if (r == 0)
        _exit(0);
    return r < 0 ? errno : 0;
}

static int tiocsti(unsigned long request)
{
    int fd = open("/dev/null", O_RDWR);
    char c = 'x';
    return syscall(SYS_ioctl, fd, request, &c) < 0 ? errno : 0;
}
static int tiocsti_plain(void)
{
    return tiocsti(TIOCSTI);
}
static int tiocsti_high(void)
{
    return tiocsti(TIOCSTI | 1UL << 32);
} /* flatpak CVE-2019-10063 */
static int tioclinux(void)
{
    return tiocsti(TIOCLINUX);
}
static int tiocsetd(void) /* would load the module of a line discipline */
{
    return tiocsti(TIOCSETD);
}
static int set_root(void)
{
    return setresuid(0, 0, 0) < 0 ? errno : 0;
}
static int set_root_gid(void)
{
    return setresgid(0, 0, 0) < 0 ? errno : 0;
}
static int no_groups(void)
{
    gid_t g = 0;
    return syscall(SYS_setgroups, 1, &g) < 0 ? errno : 0;
}

static void identity(void)
{
    static const char *const keys[] = { "Uid:",        "Gid:",     "Groups:", "CapInh:",
                                        "CapPrm:",     "CapEff:",  "CapBnd:", "CapAmb:",
                                        "NoNewPrivs:", "Seccomp:", NULL };
    char line[512];
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof(line), f))
        for (int i = 0; keys[i]; i++)
            if (strncmp(line, keys[i], strlen(keys[i])) == 0) {
                for (char *c = line; *c; c++)
                    if (*c == '\t' || *c == '\n')
                        *c = ' ';
                (void)printf("status-%s\n", line);
            }
    if (f)
        (void)fclose(f);
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' && strtol(e->d_name, NULL, 10) != dirfd(d))
            (void)printf("fd %s\n", e->d_name);
    (void)printf("dumpable-init %s\n",
                 access("/proc/1/environ", R_OK) == 0 ? "readable" : "closed");
    (void)printf("pid-init %d\n", (int)getppid());
    struct rlimit core;
    (void)getrlimit(RLIMIT_CORE, &core);
    (void)printf("core-limit %lu\n", (unsigned long)core.rlim_max);
    char tty[64];
    (void)printf("tty %s\n", ttyname_r(0, tty, sizeof(tty)) == 0 ? tty : "none");
    in_child("setresuid-0", set_root);
    in_child("setresgid-0", set_root_gid);
    in_child("setgroups-0", no_groups);
}

static void mounts(void)
{
    TRY("mount", mount("none", "/tmp", "tmpfs", 0, ""));
    TRY("remount-rw", mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL));
    TRY("umount2", umount2("/proc/kcore", MNT_DETACH));
    TRY("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/", 1));
    TRY("move_mount", syscall(SYS_move_mount, 0, "", AT_FDCWD, "/tmp", 4));
    TRY("fsopen", syscall(SYS_fsopen, "tmpfs", 0));
    TRY("fsmount", syscall(SYS_fsmount, 0, 0, 0));
    TRY("fspick", syscall(SYS_fspick, AT_FDCWD, "/", 0));
    TRY("mount_setattr", syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, NULL, 0));
    TRY("pivot_root", syscall(SYS_pivot_root, ".", "."));
    TRY("chroot", chroot("/tmp"));
    TRY("setns", setns(0, 0));
    TRY("unshare-user", unshare(CLONE_NEWUSER));
    TRY("unshare-mount", unshare(CLONE_NEWNS));
    TRY("unshare-net", unshare(CLONE_NEWNET));
    TRY("unshare-pid", unshare(CLONE_NEWPID));
    TRY("unshare-cgroup", unshare(CLONE_NEWCGROUP));
    in_child("clone-newuser", clone_newuser);
    in_child("clone-newns", clone_newns);
    in_child("clone-newpid", clone_newpid);
    in_child("clone3", do_clone3);
    TRY("syscall-9999", syscall(9999));
}

static void kernel(void)
{
    union bpf_attr attr = { 0 };
    struct stat st;
    TRY("bpf", syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
    TRY("perf_event_open", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
    TRY("userfaultfd", syscall(SYS_userfaultfd, 0));
    TRY("io_uring_setup", syscall(SYS_io_uring_setup, 1, NULL));
    TRY("keyctl", syscall(SYS_keyctl, 0, -3, 0));
    TRY("add_key", syscall(SYS_add_key, "user", "x", "y", 1, -3));
    TRY("request_key", syscall(SYS_request_key, "user", "x", NULL, 0));
    TRY("kexec_load", syscall(SYS_kexec_load, 0, 0, NULL, 0));
    TRY("init_module", syscall(SYS_init_module, NULL, 0, ""));
    TRY("finit_module", syscall(SYS_finit_module, 0, "", 0));
    TRY("delete_module", syscall(SYS_delete_module, "x", 0));
    TRY("open_by_handle_at", syscall(SYS_open_by_handle_at, 0, NULL, 0));
    TRY("ptrace-1", ptrace(PTRACE_ATTACH, 1, NULL, NULL));
    TRY("ptrace-traceme", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
    TRY("process_vm_readv", syscall(SYS_process_vm_readv, 1, NULL, 0, NULL, 0, 0));
    TRY("pidfd_getfd", syscall(SYS_pidfd_getfd, 0, 0, 0));
    TRY("kcmp", syscall(SYS_kcmp, 1, 1, 0, 0, 0));
    TRY("socket-packet", socket(AF_PACKET, SOCK_RAW, 0));
    TRY("socket-raw", socket(AF_INET, SOCK_RAW, 1));
    TRY("socket-alg", socket(38, SOCK_SEQPACKET, 0));
    TRY("socket-vsock", socket(40, SOCK_STREAM, 0));
    TRY("socket-netlink-route", socket(AF_NETLINK, SOCK_RAW, 0));
    TRY("socket-netlink-audit", socket(AF_NETLINK, SOCK_RAW, 9));
    TRY("socket-inet", socket(AF_INET, SOCK_STREAM, 0));
    TRY("socket-inet-tcp", socket(AF_INET, SOCK_STREAM, 6));
    TRY("socket-inet6-udp", socket(AF_INET6, SOCK_DGRAM, 17));
    TRY("socket-sctp", socket(AF_INET, SOCK_STREAM, 132));
    TRY("socket-udplite", socket(AF_INET, SOCK_DGRAM, 136));
    TRY("socket-unix", socket(AF_UNIX, SOCK_STREAM, 0));
    TRY("personality-read", personality(0xffffffff));
    TRY("personality-low", personality(ADDR_LIMIT_3GB));
    TRY("reboot", syscall(SYS_reboot, 0, 0, 0, NULL));
    TRY("syslog", syscall(SYS_syslog, 3, NULL, 0));
    TRY("settimeofday", syscall(SYS_settimeofday, NULL, NULL));
    TRY("sethostname", sethostname("x", 1));
    TRY("swapon", syscall(SYS_swapon, "/tmp/x", 0));
    TRY("fanotify_init", syscall(SYS_fanotify_init, 0, 0));
    TRY("quotactl", syscall(SYS_quotactl, 0, NULL, 0, NULL));
    TRY("iopl", syscall(SYS_iopl, 3));
    TRY("modify_ldt", syscall(SYS_modify_ldt, 0, NULL, 0));
    TRY("vmsplice", syscall(SYS_vmsplice, 1, NULL, 0, 0));
    TRY("mknod-null", mknod("probe-null", S_IFCHR | 0666, makedev(1, 3)));
    TRY("mknod-sda", mknod("probe-sda", S_IFBLK | 0666, makedev(8, 0)));
    TRY("mknod-fifo", mknod("probe-fifo", S_IFIFO | 0600, 0));
    in_child("ioctl-tiocsti", tiocsti_plain);
    in_child("ioctl-tiocsti-high", tiocsti_high);
    in_child("ioctl-tioclinux", tioclinux);
    in_child("ioctl-tiocsetd", tiocsetd);
    (void)stat("probe-fifo", &st);
}

static void cgroups(void)
{
    try_write("cgroup-procs", "/sys/fs/cgroup/cgroup.procs", "0");
    try_write("cgroup-kill", "/sys/fs/cgroup/cgroup.kill", "1");
    try_write("cgroup-subtree", "/sys/fs/cgroup/cgroup.subtree_control", "+pids");
    try_write("cgroup-freeze", "/sys/fs/cgroup/cgroup.freeze", "1");
    try_write("cgroup-parent", "/sys/fs/cgroup/../cgroup.procs", "0");
    TRY("cgroup-mkdir", mkdir("/sys/fs/cgroup/x", 0755));
    TRY("cgroup-chmod", chmod("/sys/fs/cgroup/cgroup.procs", 0777));
    char text[256] = "";
    FILE *f = fopen("/proc/self/cgroup", "r");
    while (f && fgets(text, sizeof(text), f))
        if (strncmp(text, "0::", 3) == 0)
            (void)printf("cgroup-self %s", text + 3);
    if (f)
        (void)fclose(f);
}

static void devices(void)
{
    static const struct {
        const char *name, *path;
    } nodes[] = {
        { "dev-null", "/dev/null" },       { "dev-zero", "/dev/zero" },
        { "dev-full", "/dev/full" },       { "dev-random", "/dev/random" },
        { "dev-urandom", "/dev/urandom" }, { "dev-ptmx", "/dev/ptmx" },
        { "dev-mem", "/dev/mem" },         { "dev-kmsg", "/dev/kmsg" },
        { "dev-fuse", "/dev/fuse" },       { "dev-tun", "/dev/net/tun" },
        { "dev-kvm", "/dev/kvm" },         { "dev-vda", "/dev/vda" },
        { "dev-sda", "/dev/sda" },
    };
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
        try_open(nodes[i].name, nodes[i].path, O_RDWR);
    /* Nodes that the test has put into the work dir from outside. */
    try_open("planted-kmsg", "planted-kmsg", O_RDONLY);
    try_open("planted-null", "planted-null", O_RDONLY);
    TRY("dev-create", open("/dev/x", O_CREAT | O_WRONLY, 0600));
    try_open("shm-create", "/dev/shm/x", O_CREAT | O_RDWR);
}

static void proc(void)
{
    static const struct {
        const char *name, *path;
    } writable[] = {
        { "proc-sysrq", "/proc/sysrq-trigger" },
        { "proc-core-pattern", "/proc/sys/kernel/core_pattern" },
        { "proc-vm", "/proc/sys/vm/drop_caches" },
        { "proc-irq", "/proc/irq/default_smp_affinity" },
    };
    static const struct {
        const char *name, *path;
    } readable[] = {
        { "proc-kcore", "/proc/kcore" },
        { "proc-keys", "/proc/keys" },
        { "proc-timer-list", "/proc/timer_list" },
        { "proc-kallsyms", "/proc/kallsyms" },
        { "proc-kmsg", "/proc/kmsg" },
        { "proc-interrupts", "/proc/interrupts" },
        { "proc-vmallocinfo", "/proc/vmallocinfo" },
        { "proc-kcore-again", "/proc/self/root/proc/kcore" },
        { "proc-1-root", "/proc/1/root/etc/shadow" },
        { "proc-1-mem", "/proc/1/mem" },
        { "proc-1-fd", "/proc/1/fd" },
        { "proc-meminfo", "/proc/meminfo" },
        { "proc-cpuinfo", "/proc/cpuinfo" },
    };
    for (size_t i = 0; i < sizeof(writable) / sizeof(writable[0]); i++)
        try_open(writable[i].name, writable[i].path, O_WRONLY);
    for (size_t i = 0; i < sizeof(readable) / sizeof(readable[0]); i++)
        try_open(readable[i].name, readable[i].path, O_RDONLY);
    /* Hidden, or root's alone: for reading and for writing. */
    static const char *const closed[] = {
        "acpi", "asound",        "interrupts", "kallsyms",    "kcore",         "keys",
        "kmsg", "kpagecgroup",   "kpagecount", "kpageflags",  "latency_stats", "sched_debug",
        "scsi", "sysrq-trigger", "timer_list", "vmallocinfo", "slabinfo",      "pagetypeinfo",
    };
    for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++) {
        char path[64], name[64];
        (void)snprintf(path, sizeof(path), "/proc/%s", closed[i]);
        (void)snprintf(name, sizeof(name), "closed-%s", closed[i]);
        try_open(name, path, O_RDONLY);
        (void)snprintf(name, sizeof(name), "closed-write-%s", closed[i]);
        try_open(name, path, O_WRONLY);
    }
    int others = 0, mine = (int)getuid();
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat st;
        char path[300];
        (void)snprintf(path, sizeof(path), "/proc/%s", e->d_name);
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && stat(path, &st) == 0 &&
            (int)st.st_uid != mine)
            others++;
    }
    (void)printf("proc-foreign-processes %d\n", others);
    TRY("kill-init", kill(1, SIGKILL)); /* pid 1 of the namespace: no effect from inside */
    TRY("kill-everybody", kill(getppid(), 0));
}

static void files(const char *foreign, const char *helper)
{
    static const char *const gone[] = {
        "/root",         "/etc/shadow", "/run/dbus", "/var/run/docker.sock",
        "/etc/selvedge", "/etc/hadoop", "/boot",     "/var/lib",
        "/sys/kernel",   "/mnt",        "/srv"
    };
    char line[1024], path[512];
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
        (void)snprintf(line, sizeof(line), "see-%s", gone[i]);
        if (strcmp(gone[i], "/var/lib") == 0)
            continue; /* may lead to a local directory */
        TRY(line, access(gone[i], F_OK));
    }
    TRY("foreign-dir", access(foreign, F_OK));
    (void)snprintf(path, sizeof(path), "%s/..", foreign);
    TRY("helper-visible", access(helper, F_OK));
    TRY("helper-exec", execl(helper, "container-executor", (char *)NULL));
    TRY("write-root", open("/x", O_CREAT | O_WRONLY, 0600));
    TRY("write-usr", open("/usr/x", O_CREAT | O_WRONLY, 0600));
    TRY("write-etc", open("/etc/x", O_CREAT | O_WRONLY, 0600));
    TRY("write-passwd", open("/etc/passwd", O_WRONLY));
    TRY("write-sys", open("/sys/x", O_CREAT | O_WRONLY, 0600));
    TRY("write-run", open("/run/x", O_CREAT | O_WRONLY, 0600));
    TRY("write-tmp", open("/tmp/x", O_CREAT | O_WRONLY, 0600));
    TRY("write-var-tmp", open("/var/tmp/y", O_CREAT | O_WRONLY, 0600));
    FILE *f = fopen("/proc/self/mountinfo", "r");
    while (f && fgets(line, sizeof(line), f))
        (void)printf("mountinfo %s", line);
    if (f)
        (void)fclose(f);
    struct sockaddr_un bus = { .sun_family = AF_UNIX, .sun_path = "/run/dbus/system_bus_socket" };
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    /* An abstract socket of the host, named like the foreign directory. */
    struct sockaddr_un abstract = { .sun_family = AF_UNIX };
    int a = socket(AF_UNIX, SOCK_STREAM, 0);
    size_t name = strlen(foreign);
    if (name < sizeof(abstract.sun_path))
        memcpy(abstract.sun_path + 1, foreign, name);
    TRY("connect-abstract",
        connect(a, (struct sockaddr *)&abstract,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + name)));
    TRY("connect-bus", connect(s, (struct sockaddr *)&bus, sizeof(bus)));
}

static void fork_bomb(void)
{
    for (;;) {
        pid_t pid = fork();
        if (pid == 0) {
            (void)setsid();
            for (int i = 1; i < NSIG; i++)
                (void)signal(i, SIG_IGN);
        } else if (pid < 0) {
            (void)pause();
        }
        if (pid > 200 || getpid() > 200) /* enough to be a test, few enough for the machine */
            (void)pause();
    }
}

static void immortal(void)
{
    for (int i = 1; i < NSIG; i++)
        (void)signal(i, SIG_IGN);
    if (fork() == 0) {
        (void)setsid();
        if (fork() != 0)
            _exit(0);
        (void)raise(SIGSTOP); /* a daemon that is stopped */
        for (;;)
            (void)pause();
    }
    if (vfork() == 0) /* the parent sleeps uninterruptibly in its vfork */
        for (;;)
            (void)pause();
    for (;;)
        (void)pause();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (strcmp(what, "all") == 0 && argc == 4) {
        identity();
        mounts();
        kernel();
        cgroups();
        devices();
        proc();
        files(argv[2], argv[3]);
        (void)printf("end ok\n");
        return 0;
    }
#ifdef __x86_64__
    if (strcmp(what, "abi32") == 0) { /* getpid by int 0x80 */
        long r;
        __asm__ volatile("int $0x80" : "=a"(r) : "0"(20L) : "memory", "r8", "r9", "r10", "r11");
        (void)printf("abi32 %ld\n", r);
        return 0;
    }
    if (strcmp(what, "x32") == 0) {
        (void)printf("x32 %ld\n", syscall(0x40000000 + SYS_getpid));
        return 0;
    }
#endif
    if (strcmp(what, "fork-bomb") == 0)
        fork_bomb();
    if (strcmp(what, "immortal") == 0)
        immortal();
    return 2;
}
