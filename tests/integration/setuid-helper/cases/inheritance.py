"""What the helper inherits from its caller and must not hand down: limits, signals, descriptors,
the OOM killer's score. Cases of test-invocation."""
import ctypes
import os
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys

from lib.helper_request import CHECK, LOCALIZE, PRIVATE, STATUS, request


def resource_limits(t, g):
    for name, value in (
        ("FSIZE", 0),
        ("FSIZE", 10),
        ("NOFILE", 4),
        ("NPROC", 0),
        ("AS", 16 << 20),
        ("STACK", 65536),
        ("CPU", 1),
        ("DATA", 4096),
    ):

        def set_it(name=name, value=value):
            resource.setrlimit(getattr(resource, "RLIMIT_" + name), (value, value))

        c = g.prepare()
        c.launch("exit 0\n", before=set_it)
        if c.reply is None:
            ok = c.monitor_status != 0 and not os.path.exists(c.record_path)
        elif c.reply.status == 0:
            ok = c.record()["code"] == 0
        else:
            ok = c.reply.status == STATUS["LIMITS"] and not os.path.exists(c.record_path)
        t.check(ok, "RLIMIT_%s=%d: refused or whole (5)" % (name, value), c.reply)


def low_resource_limits(t, g):
    """Low, but enough for the whole launch: refused all the same, as they would be the job's
    (5)."""
    for name, value in (
        ("FSIZE", 1 << 40),
        ("AS", 1 << 36),
        ("CPU", 100000),
        ("DATA", 1 << 36),
        ("NOFILE", 255),
        ("NPROC", 63),
        ("STACK", (1 << 20) - 4096),
    ):

        def set_it(name=name, value=value):
            resource.setrlimit(getattr(resource, "RLIMIT_" + name), (value, value))

        t.equal(
            g.status(request(CHECK), before=set_it),
            STATUS["LIMITS"],
            "RLIMIT_%s=%d (5)" % (name, value),
        )

    named = {
        n: getattr(resource, "RLIMIT_" + n, number)
        for n, number in (
            ("MEMLOCK", None),
            ("SIGPENDING", 11),
            ("MSGQUEUE", 12),
            ("NICE", 13),
            ("RTPRIO", 14),
        )
    }

    def lenient():  # what a job must not have
        for name, number in named.items():
            resource.setrlimit(
                number, (40, 40) if name in ("NICE", "RTPRIO") else (resource.RLIM_INFINITY,) * 2
            )

    def strict():  # nor be short of
        for name in ("MEMLOCK", "SIGPENDING", "MSGQUEUE"):
            resource.setrlimit(named[name], (1, resource.getrlimit(named[name])[1]))

    def works(*steps):
        pid = os.fork()
        if pid == 0:
            try:
                for step in steps:
                    step()
                os._exit(0)
            finally:
                os._exit(1)
        return os.waitpid(pid, 0)[1] == 0

    before = [lambda: os.setpriority(os.PRIO_PROCESS, 0, -5)]
    if works(lenient):  # root without CAP_SYS_RESOURCE: then a job's are low by themselves
        before.append(lenient)
    before.append(strict)
    t.check(works(*before), "a caller with limits and a nice value of its own")
    c = g.run(
        "cat /proc/self/limits > out; cut -d' ' -f19 /proc/self/stat >> out; cat "
        "/proc/self/oom_score_adj >> out\n",
        before=lambda: [step() for step in before],
    )
    lines = c.out().splitlines()
    got = {l[:26].strip(): tuple(l[26:].split()[:2]) for l in lines[1:-2]}
    t.equal(
        [got[n] for n in ("Max core file size", "Max nice priority", "Max realtime priority")],
        [("0", "0")] * 3,
        "a job has no core, no priority above others (87)",
    )
    for name, most in (
        ("Max locked memory", 8 << 20),
        ("Max msgqueue size", 819200),
        ("Max pending signals", 4096),
        ("Max open files", 65536),
    ):
        t.check(
            got[name][1] != "unlimited" and int(got[name][1]) <= most,
            "its %s is bounded (87)" % name[4:],
            got[name],
        )
    t.equal(
        [
            n
            for n in ("Max locked memory", "Max msgqueue size", "Max pending signals")
            if got[n][0] != got[n][1]
        ],
        [],
        "its caller's soft limits are not a job's (5)",
    )
    t.equal(lines[-2:], ["0", "200"], "nor its caller's nice value")


def inherited_state(t, g):
    hostile = {
        "LD_PRELOAD": "/x.so",
        "LD_AUDIT": "/x.so",
        "LD_LIBRARY_PATH": "/x",
        "GCONV_PATH": "/x",
        "GLIBC_TUNABLES": "glibc.malloc.mxfast=" + "A" * 100000,
        "MALLOC_CHECK_": "3",
        "TZ": "/../x",
        "LOCPATH": "/x",
        "TMPDIR": "/x",
        "IFS": "x",
        "PATH": ".",
        "BASH_ENV": "/x",
        "ENV": "/x",
        "BASH_FUNC_x%%": "() { :; }",
        "HOSTALIASES": "/x",
        "SECRET": "canary",
    }
    c = g.run("env > out\n", env=hostile)
    names = {l.split("=")[0] for l in c.out().splitlines()}
    t.equal(
        names - {"PATH", "PWD", "SHLVL", "_", "OLDPWD"},
        set(),
        "nothing of a hostile environment arrives (2, CVE-2023-4911, CVE-2016-3086)",
    )

    def many():
        for path in ("/etc/shadow", "/", "/proc", g.cg, g.root):
            fd = os.open(path, os.O_RDONLY)
            os.set_inheritable(fd, True)
        for n in range(20, 250):
            os.dup2(fd, n, inheritable=True)

    c = g.run("ls /proc/self/fd > out\n", before=many)
    t.equal(
        c.out().split(),
        ["0", "1", "2", "3"],
        "preopened descriptors do not arrive (4, CVE-2024-21626)",
    )  # 3 is ls' own

    def deaf():
        for s in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGTERM, signal.SIGHUP):
            signal.signal(s, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.01)
        signal.raise_signal(signal.SIGUSR1)  # blocked and pending already, as the timer's may be

    c = g.run("grep -E '^Sig(Blk|Ign)' /proc/self/status > out; sleep 0.1; exit 9\n", before=deaf)
    t.equal(c.record()["code"], 9, "signals ignored, blocked, a timer running: no effect (6)")
    t.equal(
        [l.split()[1].lstrip("0") for l in c.out().splitlines()],
        ["", ""],
        "and the job starts clean (6)",
    )
    for mask in (0, 0o777):

        def odd(mask=mask):
            d = g.base + "/gone"
            os.makedirs(d, exist_ok=True)
            os.chdir(d)
            os.rmdir(d)
            os.umask(mask)

        c = g.run("umask > out; pwd >> out\n", before=odd)
        w = g.work_dir(c)
        modes = [
            oct(stat.S_IMODE(os.stat(w + f).st_mode) & 0o777)
            for f in ("/launch_container.sh", "/container_tokens", "", "/tmp")
        ]
        t.equal(modes, ["0o700", "0o600", "0o750", "0o750"], "exact modes with umask %o (7)" % mask)
        t.equal(c.out().split(), ["0027", w], "and the work dir and umask 027 (7)")


# The values that a process can go down to.
GO_LOWER = (
    "for v in 199 1 0 -1 -800; do (echo $v > /proc/self/oom_score_adj) 2>/dev/null && echo "
    "$v; done > out; :\n"
)
SYS_RESOURCE = 24


def lowered(pid):
    """The same of another one, for somebody who has no CAP_SYS_RESOURCE but may write there
    otherwise."""
    code = (
        "for v in 499, 1, 0, -1, -800:\n try:\n  open('/proc/%d/oom_score_adj', 'wb', "
        "0).write(b'%%d' %% v)\n  print(v)\n"
        " except PermissionError:\n  pass" % pid
    )
    return subprocess.run(
        ["setpriv", "--bounding-set", "-sys_resource", sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()


def oom_score(t, g):
    """The daemon's protection from the OOM killer is not handed on, nor a way back to it: of the
    caller's -800 the kernel keeps the floor, unless who sets the job's own value has
    CAP_SYS_RESOURCE. Here root may have none.
    """

    def protected():
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as f:
            f.write("-800")

    def unable():
        protected()
        ctypes.CDLL(None).prctl(24, SYS_RESOURCE, 0, 0, 0)  # PR_CAPBSET_DROP

    with open("/proc/self/status", encoding="ascii") as f:
        (bounding,) = [int(line.split()[1], 16) for line in f if line.startswith("CapBnd:")]
    able = bounding >> SYS_RESOURCE & 1
    c = g.run(
        "cat /proc/self/oom_score_adj > first\n" + GO_LOWER, before=protected if able else None
    )
    t.equal(open(g.work_dir(c) + "/first").read(), "200\n", "a job's oom_score_adj")
    t.equal(
        c.out().split(),
        [] if able else ["199", "1", "0"],
        "it cannot go below that"
        if able
        else "without CAP_SYS_RESOURCE on the machine it cannot go below 0",
    )
    monitor = g.run("read -r < <(exec sleep 600)\n", before=protected if able else None, wait=False)
    t.equal(
        open("/proc/%d/oom_score_adj" % monitor.pid).read(),
        "-800\n" if able else "0\n",
        "its monitor, whose end is the container's, keeps what the daemon has",
    )
    monitor.kill()
    monitor.wait()
    shutil.copy("/usr/bin/yes", g.libexec + "/container-localizer")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid, sock = g.start(
        request(LOCALIZE, ts=g.TS, app=1, user=g.a.pw_name, local=3, what=PRIVATE),
        [theirs.fileno()],
        before=protected if able else None,
    )
    r = g.receive(sock)
    t.equal(r.status, 0, "a localizer")
    t.equal(open("/proc/%d/oom_score_adj" % r.pid).read(), "500\n", "its oom_score_adj")
    t.equal(lowered(r.pid), [] if able else ["499", "1", "0"], "and the way down from there")
    for s in (sock, ours, theirs):
        s.close()
    os.waitpid(pid, 0)
    os.close(r.fds[0])
    os.unlink(g.libexec + "/container-localizer")
    if able:
        c = g.run("exit 0\n", before=unable)
        t.equal(
            c.reply.status,
            STATUS["PRIVILEGE"],
            "a floor below 0 and no capability to raise it: no container",
        )
        t.equal(g.status(request(CHECK), before=unable), 0, "whatever starts none is answered")
