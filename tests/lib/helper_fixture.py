"""Fixture of tests of the setuid helper: an installed helper with its own configuration, accounts,
directories and cgroup2 mount in a private mount namespace, and its request protocol in Python.
Needs root. HelperFixture.close() removes everything."""
import array
import ctypes
import fcntl
import os
import pwd
import shutil
import socket
import struct
import subprocess
import sys
import time
import zlib

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cluster import host
from lib.helper_request import *
from lib.report import Checks

# Every fixture is mounted at this directory, in a mount namespace of its own: the paths of the
# helper's configuration are compiled in, and it is built once (tests/rules.mk).
PLACE = "/var/lib/selvedge-test-helper"
# The VM's helpers are on its second disk. Limits of time are longer there: it may be emulated.
EMULATED = "SELVEDGE_TEST_HELPERS" in os.environ
PATIENCE = 240 if EMULATED else 60  # seconds for what will come; a limit for hangs alone
LOCKED = [
    "flock",
    "/run/lock/selvedge-test-host.lock",
]  # of the account files, as tests/cluster takes it

FILTERS = ("strict", "hadoop", "localizer", "monitor")
PROGRAMS = (
    "container-monitor",
    "container-init",
    "container-start",
    "container-delete",
    "container-signal",
    "container-link",
    "user-lookup",
)  # mode 0711
Checks.NAMES = NAMES


def enter_private_mounts():
    """Runs the rest of the program in its own mount namespace."""
    if os.environ.get("SELVEDGE_TEST_NS") != "1":
        os.environ["SELVEDGE_TEST_NS"] = "1"
        os.execvp("unshare", ["unshare", "-m", sys.executable] + sys.argv)


def launch_lock(directory="/"):
    """The third descriptor of LAUNCH, which the helper only keeps open."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(fd, fcntl.LOCK_SH)
    return fd


def remove_tree(path):
    """Removes it; what is mounted below goes first, however a test has ended: one of them binds the
    machine's own root there. [] or the mounts that stayed, and with them everything."""
    below = lambda: [
        m.split()[1] for m in open("/proc/self/mounts") if m.split()[1].startswith(path + "/")
    ]
    for point in reversed(below()):
        subprocess.run(["umount", "-l", point], stderr=subprocess.DEVNULL)
    left = ["mount " + point for point in below()]
    if not left:
        shutil.rmtree(path, ignore_errors=True)
    return left


class HelperFixture:
    LOCALS, LOGS = 2, 1
    TS = 1700000000000

    def __init__(self, build, name="helper", config_extra="", config_drop=()):
        # Orphans of killed helpers come to us, not to the machine's pid 1.
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
        self.build = build
        self.base, self.real = PLACE, "/var/lib/selvedge-test-%s-%d" % (name, os.getpid())
        self.prefix = "svt%d" % (os.getpid() % 100000)
        host.sweep()
        host.own_place(self.base, self.real)
        self.accounts = []
        self.group = self.prefix + "y"
        for short in ("y", "m", "p", "l", "a", "b"):
            n = self.prefix + short
            with open(self.base + "/accounts", "a") as f:  # for the sweep, should we be killed
                f.write(n + "\n")
            host.add_account(n, short in "ympl")
            self.accounts.append(n)
        host.own_etc(self.base + "/machine-etc")
        self.nm = pwd.getpwnam(self.prefix + "y")
        self.monitor = pwd.getpwnam(self.prefix + "m")
        self.public = pwd.getpwnam(self.prefix + "p")
        self.lookup = pwd.getpwnam(self.prefix + "l")
        self.a = pwd.getpwnam(self.prefix + "a")
        self.b = pwd.getpwnam(self.prefix + "b")
        self.libexec = self.base + "/libexec"
        self.conf = self.base + "/etc/container-executor.cfg"
        self.helper = self.libexec + "/container-executor"
        self.state = self.base + "/state"
        self.locals = ["%s/local%d" % (self.base, i) for i in range(self.LOCALS)]
        self.logs = ["%s/log%d" % (self.base, i) for i in range(self.LOGS)]
        self.cg = self.base + "/cgroup"
        self.root = self.cg + "/" + os.path.basename(self.real)
        self.seq = 0
        self._install(config_extra, config_drop)

    def _install(self, extra, drop):
        out = (os.environ.get("SELVEDGE_TEST_HELPERS") or self.build + "/helpers") + "/helper"
        os.makedirs(self.libexec + "/seccomp", 0o755)
        os.makedirs(os.path.dirname(self.conf), 0o755)
        shutil.copy(out + "/container-executor", self.helper)
        self.objects = [os.path.join(out, o) for o in os.listdir(out) if o.endswith(".o")]
        os.chown(self.helper, 0, self.nm.pw_gid)
        os.chmod(self.helper, 0o4750)
        shutil.copy(out + "/container-prepare", self.libexec + "/container-prepare")
        os.chmod(self.libexec + "/container-prepare", 0o700)
        for p in PROGRAMS:
            shutil.copy("%s/%s" % (self.build, p), self.libexec)
            os.chmod("%s/%s" % (self.libexec, p), 0o711)
        for f in FILTERS:
            shutil.copy("%s/seccomp/%s.bpf" % (self.build, f), self.libexec + "/seccomp/")
        for d in self.locals + self.logs:
            os.makedirs(d, 0o755)
            os.chown(d, self.nm.pw_uid, self.nm.pw_gid)
        for d in self.locals:
            for s, m in (("usercache", 0o755), ("nmPrivate", 0o700)):
                os.mkdir(d + "/" + s)
                os.chmod(d + "/" + s, m)
                os.chown(d + "/" + s, self.nm.pw_uid, self.nm.pw_gid)
        os.mkdir(self.cg)
        subprocess.run(["mount", "-t", "cgroup2", "none", self.cg], check=True)
        os.mkdir(self.root)
        self.groups = [self.root, self.root + "/monitors", self.root + "/localizers"]
        for g in self.groups:
            if g != self.root:
                os.mkdir(g)
            for f in ("", "/cgroup.procs", "/cgroup.subtree_control"):
                os.chown(g + f, self.nm.pw_uid, self.nm.pw_gid)
        self.config = {
            "yarn.nodemanager.linux-container-executor.group": self.group,
            "yarn.nodemanager.local-dirs": ",".join(self.locals),
            "yarn.nodemanager.log-dirs": ",".join(self.logs),
            "min.user.id": "1000",
            "banned.users": "yarn,mapred,hdfs,bin",
            "selvedge.nodemanager.user": self.nm.pw_name,
            "selvedge.monitor.user": self.monitor.pw_name,
            "selvedge.public.user": self.public.pw_name,
            "selvedge.lookup.user": self.lookup.pw_name,
            "selvedge.cgroup.root": self.root,
            "selvedge.unenforced-limits.allowed": "true",
        }
        for k in drop:
            del self.config[k]
        self.write_config(extra)

    def write_config(self, extra=""):
        with open(self.conf + ".new", "w") as f:
            for k, v in self.config.items():
                f.write("%s=%s\n" % (k, v))
            f.write(extra)
        os.chmod(self.conf + ".new", 0o644)
        os.rename(self.conf + ".new", self.conf)

    def forget_state(self):
        """Unmounts and removes what container-prepare has made."""
        while any(m.split()[1] == self.state for m in open("/proc/self/mounts")):
            subprocess.run(["umount", "-l", self.state], check=True)
        shutil.rmtree(self.state, ignore_errors=True)

    def touch_config(self):
        """What was made from it is not up to date."""
        os.utime(self.conf)

    # -- talking to the helper ------------------------------------------------------------------
    def start(
        self, data, fds=(), before=None, argv=None, env=None, uid=None, sock=None, executable=None
    ):
        """Starts the helper as the daemon's account with one request; returns (pid, our socket)."""
        ours, theirs = None, None
        uid = self.nm.pw_uid if uid is None else uid
        if sock is None:
            os.setegid(self.nm.pw_gid)
            os.seteuid(uid)  # SO_PEERCRED is who made the socket pair
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            os.seteuid(0)
            os.setegid(0)
        else:
            ours, theirs = sock
        if data is not None:
            say(ours, data, fds)
        pid = os.fork()
        if pid == 0:
            try:
                os.dup2(theirs.fileno(), 0, inheritable=True)
                os.setgroups([])
                os.setresgid(self.nm.pw_gid, self.nm.pw_gid, self.nm.pw_gid)
                if before:
                    before()
                os.setresuid(uid, uid, uid)
                os.execve(
                    executable or self.helper,
                    argv if argv is not None else ["container-executor"],
                    env if env is not None else {},
                )
            except BaseException as e:
                os.write(2, ("exec: %r\n" % e).encode())
            os._exit(250)
        theirs.close()
        return pid, ours

    def start_waiting(self, data, fds=(), meanwhile=None, **kw):
        """The same, but the helper has to wait for its request; `meanwhile` is called before it
        comes."""
        pid, ours = self.start(None, **kw)

        def waits():
            with open("/proc/%d/syscall" % pid, encoding="ascii") as f:
                return f.read().split()[0] == "47"  # recvmsg

        if not until(waits):
            raise SystemExit("a helper without a request does not wait")
        if meanwhile:
            meanwhile(pid)
        say(ours, data, fds)
        return pid, ours

    def receive(self, ours, timeout=PATIENCE):
        ours.settimeout(timeout)
        try:
            data, anc, flags, _ = ours.recvmsg(65536, socket.CMSG_SPACE(64))
        except ConnectionResetError:  # it ended with our request unread; an answer may be there
            data, anc, flags, _ = ours.recvmsg(65536, socket.CMSG_SPACE(64))
        fds = array.array("i")
        for level, kind, payload in anc:
            fds.frombytes(payload[: len(payload) - len(payload) % 4])
        return Reply(data, list(fds)) if data else None

    def call(self, data, fds=(), **kw):
        """(reply or None, exit status) of a request that ends with its answer."""
        pid, ours = self.start(data, fds, **kw)
        reply = self.receive(ours)
        ours.close()
        _, st = os.waitpid(pid, 0)
        return reply, os.waitstatus_to_exitcode(st)

    def status(self, data, fds=(), **kw):
        """The status that the helper answers, or its exit status when it does not answer."""
        reply, code = self.call(data, fds, **kw)
        for fd in reply.fds if reply else ():
            os.close(fd)
        return reply.status if reply else code

    # -- a container ------------------------------------------------------------------------------
    def init_app(self, user=None, app=1):
        return self.call(
            request(
                INIT_APP,
                ts=self.TS,
                app=app,
                user=(user or self.a).pw_name,
                local=(1 << self.LOCALS) - 1,
                log=(1 << self.LOGS) - 1,
            )
        )

    def cid(self, app, seq, attempt=1):
        return "container_%d_%04d_%02d_%06d" % (self.TS, app, attempt, seq)

    def aid(self, app):
        return "application_%d_%04d" % (self.TS, app)

    def work_dir(self, c):
        return "%s/usercache/%s/appcache/%s/%s" % (
            self.locals[0],
            c.user.pw_name,
            self.aid(c.app),
            c.id,
        )

    def prepare(self, app=1, user=None, seq=None, cgroup=True):
        if seq is None:
            self.seq += 1
            seq = self.seq
        c = Container(self, app, seq, user or self.a)
        for d in ("", "/" + self.aid(app), "/%s/%s" % (self.aid(app), c.id)):
            p = self.locals[0] + "/nmPrivate" + d
            if not os.path.isdir(p):
                os.mkdir(p, 0o700)
                os.chown(p, self.nm.pw_uid, self.nm.pw_gid)
        if cgroup:
            os.mkdir(c.cgroup)
            for f in ("", "/cgroup.procs", "/cgroup.kill"):
                os.chown(c.cgroup + f, self.nm.pw_uid, self.nm.pw_gid)
        return c

    def run(self, script, user=None, app=1, more=None, **kw):
        """A container from start to exit record; `more`: fields of its request."""
        c = self.prepare(app, user)
        c.more = more or {}
        c.launch(script, **kw)
        return c

    def close(self):
        problems = self.leftovers()
        try:
            open(self.root + "/cgroup.kill", "w").write("1")
            until(lambda: "populated 0" in open(self.root + "/cgroup.events").read())
            self.leftovers()
        except OSError:
            pass  # gone, as it should be
        subprocess.run(["umount", "-l", self.cg])
        self.forget_state()
        host.umount("/etc")
        # -f: an alias of root is "in use by process 1". Groups after all accounts: two share one.
        for command in (["userdel", "-f"], ["groupdel"]):
            for n in self.accounts:
                subprocess.run(
                    LOCKED + command + [n], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
        problems += remove_tree(self.base)
        host.umount(self.base)
        shutil.rmtree(self.real, ignore_errors=True)
        left = [
            l.split(":")[0]
            for f in ("/etc/passwd", "/etc/group")
            for l in open(f)
            if l.startswith(self.prefix)
        ]
        return problems + ["account " + n for n in left]

    def processes(self):
        uids = {u.pw_uid for u in (self.nm, self.monitor, self.public, self.lookup, self.a, self.b)}
        found = []
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        for p in os.listdir("/proc"):
            if p.isdigit():
                try:
                    if os.stat("/proc/" + p).st_uid in uids or any(
                        int(u) in uids
                        for line in open("/proc/%s/status" % p)
                        if line.startswith("Uid:")
                        for u in line.split()[1:]
                    ):
                        found.append(
                            "process " + p + " " + open("/proc/%s/comm" % p).read().strip()
                        )
                except OSError:
                    pass
        return found

    def leftovers(self):
        """Processes of our accounts; cgroups; mounts. [] is what is wanted."""
        found = []
        until(lambda: not self.processes())  # one that has been killed may be on its way out
        found += self.processes()
        for d in sorted(os.listdir(self.root)) if os.path.isdir(self.root) else []:
            if os.path.isdir(self.root + "/" + d):
                try:
                    os.rmdir(self.root + "/" + d)
                except OSError:
                    found.append("cgroup " + d)
        try:
            os.rmdir(self.root)
        except OSError as e:
            found.append("cgroup root: %s" % e)
        mounts = [m.split()[1] for m in open("/proc/self/mounts") if self.base in m]
        found += [
            "mount " + m
            for m in mounts
            if m not in (self.base, self.cg) and not m.startswith(self.state)
        ]
        return found


class Container:
    def __init__(self, g, app, seq, user):
        self.g, self.app, self.seq, self.user = g, app, seq, user
        self.id = g.cid(app, seq)
        self.cgroup = g.root + "/" + self.id
        self.record_path = "%s/nmPrivate/%s/%s/%s.status" % (
            g.locals[0],
            g.aid(app),
            self.id,
            self.id,
        )
        self.reply = None
        self.more = {}  # fields of the request beyond the usual

    def request(self, **kw):
        args = dict(
            ts=self.g.TS,
            app=self.app,
            attempt=1,
            container=self.seq,
            user=self.user.pw_name,
            local=(1 << self.g.LOCALS) - 1,
            log=(1 << self.g.LOGS) - 1,
            profile=1,
        )
        args.update(self.more)
        args.update(kw)
        return request(LAUNCH, **args)

    def launch(self, script, tokens=b"HDTS", wait=True, waiting=False, lock=None, door=None, **kw):
        """`door`: the descriptor of EXE_LAUNCH_DOOR, closed."""
        script = script.encode() if isinstance(script, str) else script
        fds = [memfd(script), memfd(tokens), launch_lock(lock or os.path.dirname(self.record_path))]
        if door is not None:
            fds.append(door)
            self.more = dict(self.more, what=self.more.get("what", 0) | DOOR)
        self.pid, self.sock = (self.g.start_waiting if waiting else self.g.start)(
            self.request(), fds, **kw
        )
        for fd in fds:
            os.close(fd)
        self.reply = self.g.receive(self.sock)
        if wait:
            self.wait()
        return self

    def wait(self):
        _, st = os.waitpid(self.pid, 0)
        self.monitor_status = os.waitstatus_to_exitcode(st)
        self.sock.close()
        for fd in self.reply.fds if self.reply else ():
            os.close(fd)
        return self

    def record(self):
        b = open(self.record_path, "rb").read()
        assert len(b) == 128, len(b)
        keys = (
            "magic version state ts app attempt container init uid start end code "
            "signal utime stime rss"
        )
        r = dict(zip(keys.split(), struct.unpack("<IHHqiiqiIqqiiQQQ", b[:88])))
        r["crc"] = struct.unpack("<I", b[124:])[0] == zlib.crc32(b[:124])
        return r

    def launch_under_way(self):
        """Is the launch lock held?"""
        fd = os.open(os.path.dirname(self.record_path), os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
        except BlockingIOError:
            return True
        finally:
            os.close(fd)

    def kill(self):
        with open(self.cgroup + "/cgroup.kill", "w") as f:
            f.write("1")

    def log(self, name):
        return open("%s/%s/%s/%s" % (self.g.logs[0], self.g.aid(self.app), self.id, name)).read()

    def out(self):
        return open(self.g.work_dir(self) + "/out").read()


def run_tests(name, tests, prepare=None):
    """Runs test functions, which take the report and the fixture, and returns the exit status.
    `prepare` is called before the first. The program's arguments pick tests by name."""
    enter_private_mounts()
    t = Checks()
    g = HelperFixture(os.environ.get("BUILD") or os.path.join(TOP, "build"), name)
    try:
        if prepare:
            prepare(t, g)
        t.equal(g.init_app()[0].status, 0, "directories of the first application")
        for test in tests:
            if len(sys.argv) < 2 or test.__name__ in sys.argv[1:]:
                t.case(test.__name__.replace("_", " "), test, t, g)
        t.check(not any(n.startswith("core") for n in os.listdir(g.base)), "no core file")
    finally:
        t.equal(g.close(), [], "no process, cgroup or mount is left")
    return t.end()


def running(program):
    """Processes that execute this file: by inode, because other tests have theirs at the same
    path."""
    found, file = [], os.stat(program)
    for p in os.listdir("/proc"):
        try:
            if p.isdigit() and os.path.samestat(os.stat("/proc/%s/exe" % p), file):
                found.append(int(p))
        except OSError:
            pass  # ended meanwhile, or the kernel's own
    return found


def standing(pids):
    """Where these processes are, for somebody who has to find out why they do not go on."""
    lines = []
    for p in pids:
        try:
            fields = dict(
                l.split(":\t", 1)
                for l in open("/proc/%s/status" % p).read().splitlines()
                if ":\t" in l
            )
            stack = [l.split()[1].split("+")[0] for l in open("/proc/%s/stack" % p)]
            lines.append(
                "%s %s, %s: %s" % (p, fields["Name"], fields["State"], " < ".join(stack[:8]))
            )
        except OSError:
            pass
    return "; ".join(lines)


def until(condition, seconds=PATIENCE):
    """Waits for a condition; false when it did not come. The limit is for hangs: only one that is
    the claim itself is shorter."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return False
