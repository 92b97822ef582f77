"""What the probe (probe.c) tries inside a container, and what must be refused. A case of
test-container-isolation."""
import ctypes
import os
import shutil
import socket
import stat

from lib.helper_request import STATUS

# What the probe must report. "|" separates what may differ between kernels.
DENIED = "EPERM"
WANTED = {
    "status-NoNewPrivs:": "1",
    "status-Seccomp:": "2",
    "status-CapInh:": "0000000000000000",
    "status-CapPrm:": "0000000000000000",
    "status-CapEff:": "0000000000000000",
    "status-CapBnd:": "0000000000000000",
    "status-CapAmb:": "0000000000000000",
    "core-limit": "0",
    "tty": "none",
    "dumpable-init": "closed",
    "setresuid-0": DENIED,
    "setresgid-0": DENIED,
    "setgroups-0": DENIED,
    "clone3": "ENOSYS",
    "syscall-9999": "ENOSYS",
    "clone-newuser": "ENOSYS|EPERM",
    "clone-newns": "ENOSYS|EPERM",
    "clone-newpid": "ENOSYS|EPERM",
    "socket-packet": "ENOSYS|EPERM",
    "socket-raw": "EPERM",
    "socket-alg": "ENOSYS|EPERM",
    "socket-vsock": "ENOSYS|EPERM",
    "socket-netlink-audit": "ENOSYS|EPERM",
    "socket-netlink-route": "ok",
    "socket-inet": "ok",
    "socket-unix": "ok",
    "socket-inet-tcp": "ok",
    "socket-inet6-udp": "ok|EAFNOSUPPORT",
    "socket-sctp": "ENOSYS|EPERM",
    "socket-udplite": "ENOSYS|EPERM",
    "personality-read": "ok",
    "personality-low": "ENOSYS|EPERM",
    "mknod-null": "ENOSYS|EPERM",
    "mknod-sda": "ENOSYS|EPERM",
    "mknod-fifo": "ok",
    "cgroup-self": "/",
    "dev-null": "ok",
    "dev-zero": "ok",
    "dev-full": "ok",
    "dev-random": "ok",
    "dev-urandom": "ok",
    "dev-ptmx": "ok",
    "dev-mem": "ENOENT",
    "dev-kmsg": "ENOENT",
    "dev-fuse": "ENOENT",
    "dev-tun": "ENOENT",
    "dev-kvm": "ENOENT",
    "dev-vda": "ENOENT",
    "dev-sda": "ENOENT",
    "planted-kmsg": "EACCES|EPERM",
    "planted-null": "EACCES|EPERM",  # the mount is nodev as well
    "dev-create": "EROFS|EACCES",
    "shm-create": "ok",
    "proc-foreign-processes": "0",
    "kill-init": "ok",
    "kill-everybody": "ok",
    "proc-meminfo": "ok",
    "proc-cpuinfo": "ok",
    "foreign-dir": "ENOENT",
    "helper-visible": "ENOENT",
    "helper-exec": "ENOENT",
    "write-tmp": "ok",
    "write-var-tmp": "ok",
    "connect-bus": "ENOENT",
    "end": "ok",
}
for n in """mount remount-rw umount2 open_tree move_mount fsopen fsmount fspick mount_setattr pivot_root
        chroot setns unshare-user unshare-mount unshare-net unshare-pid unshare-cgroup bpf
        perf_event_open userfaultfd io_uring_setup keyctl add_key request_key kexec_load init_module
        finit_module delete_module open_by_handle_at ptrace-1 ptrace-traceme process_vm_readv
        pidfd_getfd kcmp reboot syslog settimeofday sethostname swapon fanotify_init quotactl iopl
        modify_ldt vmsplice ioctl-tiocsti ioctl-tiocsti-high ioctl-tioclinux ioctl-tiocsetd""".split():
    WANTED[n] = DENIED
for n in """cgroup-procs cgroup-kill cgroup-subtree cgroup-freeze cgroup-parent cgroup-mkdir cgroup-chmod
        write-root write-usr write-etc write-passwd write-sys write-run proc-sysrq proc-core-pattern
        proc-vm proc-irq""".split():
    WANTED[n] = "EROFS|EACCES|EPERM|ENOENT"
for n in """proc-kcore proc-keys proc-timer-list proc-kallsyms proc-kmsg proc-interrupts
        proc-vmallocinfo proc-kcore-again proc-1-root proc-1-mem proc-1-fd""".split():
    WANTED[n] = "EACCES|EPERM|ENOENT"
MASKED = """acpi asound interrupts kallsyms kcore keys kmsg kpagecgroup kpagecount kpageflags latency_stats
            sched_debug scsi sysrq-trigger timer_list vmallocinfo""".split()
for n in MASKED + ["slabinfo", "pagetypeinfo"]:
    WANTED["closed-" + n] = "EACCES|ENOENT"
    WANTED["closed-write-" + n] = "EACCES|ENOENT|EISDIR"
for n in (
    "/root /etc/shadow /run/dbus /var/run/docker.sock /etc/selvedge /etc/hadoop /boot "
    "/sys/kernel /mnt /srv"
).split():
    WANTED["see-" + n] = "ENOENT"
# The catalogue's numbers of what the probe reports, beyond what their names say.
CASES = {
    "status-CapInh:": " (87, CVE-2022-29162)",
    "dumpable-init": " (11, CVE-2016-8659)",
    "open_tree": " (89, CVE-2021-41133)",
    "mount_setattr": " (89, CVE-2021-41133)",
    "clone3": " (89)",
    "bpf": " (90)",
    "ioctl-tiocsti": " (90, CVE-2019-10063)",
    "ioctl-tiocsti-high": " (90, CVE-2019-10063)",
    "cgroup-procs": " (91, CVE-2022-0492)",
    "cgroup-subtree": " (91)",
    "cgroup-kill": " (91)",
    "cgroup-mkdir": " (91)",
    "proc-sysrq": " (96, CVE-2019-16884)",
    "proc-core-pattern": " (96, CVE-2019-16884)",
    "proc-kcore-again": " (96)",
    "helper-visible": " (101, CVE-2019-5736)",
    "helper-exec": " (101, CVE-2019-5736)",
    "connect-bus": " (101)",
    "connect-abstract": " (101, CVE-2020-15257)",
    "proc-1-fd": " (4, CVE-2024-21626)",
    "proc-1-root": " (96, CVE-2024-21626)",
}


def landlock_abi():
    return ctypes.CDLL(None).syscall(444, None, 0, 1)


def probe_directory(g):
    """A directory with the probe that every container sees from now on."""
    ro = g.base + "/ro"
    if not os.path.exists(ro):
        os.mkdir(ro)
        shutil.copy(g.build + "/tests/integration/setuid-helper/probe", ro)
        g.write_config("selvedge.sandbox.read-only-paths=%s\n" % ro)
    return ro


def probe(t, g):
    ro = probe_directory(g)
    t.equal(
        g.init_app(user=g.b)[0].status,
        STATUS["LOG_DIR"],
        "another user does not get the same application's log directory",
    )
    t.equal(g.init_app(user=g.b, app=2)[0].status, 0, "directories of the second user")
    c = g.prepare(user=g.a)
    other = g.run("mkdir -p secret; echo x > secret/f", user=g.b, app=2)  # another user's container
    foreign = "%s/usercache/%s" % (g.locals[0], g.b.pw_name)
    listener = socket.socket(
        socket.AF_UNIX
    )  # in the host's network namespace, which the job shares
    listener.bind("\0" + foreign)
    listener.listen()
    c.launch(
        "while [ ! -e planted-null ]; do :; done\n%s/probe all %s %s > out 2>err\n"
        % (ro, foreign, g.helper),
        wait=False,
    )
    if not t.equal(c.reply.status, 0, "the probe's container starts"):
        print(c.reply)
        return
    # Device nodes that got into the work dir somehow (an archive, another mount): case 95.
    w = g.work_dir(c)
    os.mknod(w + "/planted-kmsg", stat.S_IFCHR | 0o666, os.makedev(1, 11))
    os.chmod(w + "/planted-kmsg", 0o666)
    os.mknod(w + "/planted-null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    os.chmod(w + "/planted-null", 0o666)
    c.wait()
    got, mounts, fds = {}, [], []
    for line in open(w + "/out"):
        name, _, rest = line.strip().partition(" ")
        if name == "mountinfo":
            mounts.append(rest.split())
        elif name == "fd":
            fds.append(int(rest))
        else:
            got[name] = rest.strip()
    listener.close()
    WANTED["connect-abstract"] = DENIED if landlock_abi() >= 6 else "ok"
    for name, want in WANTED.items():
        t.check(
            got.get(name) in want.split("|"),
            "probe %s%s" % (name, CASES.get(name, "")),
            "got %s, want %s" % (got.get(name), want),
        )
    uid, gid = "%d" % g.a.pw_uid, "%d" % g.a.pw_gid
    t.equal(got.get("status-Uid:", "").split(), [uid] * 4, "all four user ids are the job's (87)")
    t.equal(got.get("status-Gid:", "").split(), [gid] * 4, "all four group ids are the job's (87)")
    t.equal(got.get("status-Groups:"), "", "no supplementary group is left (87)")
    t.equal(sorted(fds), [0, 1, 2], "descriptors 0, 1, 2 and no other (4)")
    writable = {m[4] for m in mounts if m[5].split(",")[0] == "rw"}
    app = "%s/usercache/%s/appcache/%s" % ("%s", g.a.pw_name, g.aid(1))
    allowed = (
        {app % l for l in g.locals}
        | {"%s/%s/%s" % (l, g.aid(1), c.id) for l in g.logs}
        | {"/tmp", "/proc", "/dev/pts", "/dev/shm"}
        | {"/dev/" + d for d in "null zero full random urandom tty".split()}
    )
    t.equal(writable - allowed, set(), "only work, log and private places are writable (97)")
    t.equal(
        [m[4] for m in mounts if "nosuid" not in m[5].split(",")], [], "every mount is nosuid (97)"
    )
    t.equal(
        [m[4] for m in mounts if "nodev" not in m[5].split(",") and not m[4].startswith("/dev/")],
        [],
        "every mount outside /dev is nodev (97)",
    )
    t.equal(
        [m[4] for m in mounts if any(f.startswith(("shared:", "master:")) for f in m[6:8])],
        [],
        "no mount propagates (97)",
    )
    open_here = [
        n for n in MASKED if os.path.exists("/proc/" + n) and os.stat("/proc/" + n).st_mode & 0o377
    ]
    t.equal(
        [n for n in open_here if "/proc/" + n not in [m[4] for m in mounts]],
        [],
        "what of /proc others than root could read, or anybody write, is hidden by a mount (96)",
    )
    t.equal(
        [
            d
            for d in ("bus", "fs", "irq", "sys")
            if os.path.isdir("/proc/" + d)
            and not any(m[4] == "/proc/" + d and "ro" in m[5].split(",") for m in mounts)
        ],
        [],
        "bus, fs, irq and sys of /proc are read-only (96)",
    )
    t.equal(
        [
            m[4]
            for m in mounts
            if g.b.pw_name in m[4] or m[4].startswith(("/root", "/home", "/run"))
        ],
        [],
        "nothing of other users is mounted (97)",
    )
    other.record()
