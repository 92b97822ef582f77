"""The host resources of a throw-away cluster: a private mount namespace, accounts, a cgroup, ports,
processes. Nothing here depends on Hadoop."""
import contextlib
import ctypes
import fcntl
import os
import pwd
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

_LOCK = "/run/lock/selvedge-test-host.lock"
_SWEEP_LOCK = "/run/lock/selvedge-test-sweep.lock"
_OUTER = "SELVEDGE_TEST_OUTER_NS"
CONTROLLERS = ("cpu", "memory", "pids")
OPTIONAL = ("io", "cpuset")  # delegated where the machine has them
# Limits of waits are for hangs. A machine that also builds and runs other suites has given a test
# no time for ten seconds.
PATIENCE = 60


class HostError(Exception):
    pass


def wait_for(condition, seconds, what, poll=0.05):
    """Waits until condition() is true and returns its value; HostError names `what` after
    `seconds`, or PATIENCE where that is longer."""
    seconds = max(seconds, PATIENCE)
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise HostError(f"{what}: not within {seconds} s")
        time.sleep(poll)


# --- namespace ------------------------------------------------------------------------------


def private_namespace():
    """Re-executes this script in a private mount namespace, unless it is in one. Terminating
    signals become exceptions, so that the cluster is removed."""
    if os.geteuid() != 0:
        raise SystemExit(f"{sys.argv[0]}: needs root (accounts, mounts, the setuid helper)")
    here = os.readlink("/proc/self/ns/mnt")
    outer = os.environ.get(_OUTER)
    if outer is None or outer == here:
        os.environ[_OUTER] = here
        os.execvp(
            "unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv]
        )

    def stop(number, _frame):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise SystemExit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


def outer_mount_namespaces():
    """Mount namespaces of live processes: {namespace: one pid in it}."""
    seen = {}
    for pid in pids():
        with contextlib.suppress(OSError):
            seen.setdefault(os.readlink(f"/proc/{pid}/ns/mnt"), pid)
    return seen


def mounts_of_place(place, real):
    """(pid, mount point) of every mount below `place` in the mount namespaces that have the
    directory `real` there (own_place)."""
    found = []
    for pid in outer_mount_namespaces().values():
        with contextlib.suppress(OSError), open(
            f"/proc/{pid}/mountinfo", encoding="utf-8", errors="replace"
        ) as f:
            fields = [line.split(" ")[3:5] for line in f]
            if any(os.path.basename(real) in root.split("/") for root, _ in fields):
                found += [(pid, point) for _, point in fields if point.startswith(place + "/")]
    return found


_libc = ctypes.CDLL(None, use_errno=True)


def mount(source, target, fstype, flags=0, data=""):
    if _libc.mount(source.encode(), target.encode(), fstype.encode(), flags, data.encode()) != 0:
        raise HostError(f"mount {fstype} on {target}: {os.strerror(ctypes.get_errno())}")


def umount(target):
    if _libc.umount2(target.encode(), 2) != 0:  # MNT_DETACH
        raise HostError(f"umount {target}: {os.strerror(ctypes.get_errno())}")


@contextlib.contextmanager
def hung_disk(path):
    """On `path` is a file system that answers nothing, as that of a disk that hangs: FUSE without a
    server. In the end what waits for it fails, and what was at `path` before is there again."""
    device = os.open("/dev/fuse", os.O_RDWR)
    try:
        options = f"fd={device},rootmode=40755,user_id=0,group_id=0,allow_other"
        mount("hung", path, "fuse", data=options)
        yield
    finally:
        os.close(device)
        with contextlib.suppress(HostError):  # it was not mounted
            umount(path)


def own_place(place, real):
    """Mounts the new directory `real` at `place`, a path compiled into the tests' helpers, in this
    private mount namespace. The empty mount point stays: removing it would unmount the directories
    of other tests.
    """
    os.makedirs(place, 0o755, exist_ok=True)
    os.mkdir(real, 0o755)
    os.chmod(real, 0o755)
    mount(real, place, "none", 4096)  # bind


# --- accounts -------------------------------------------------------------------------------


@contextlib.contextmanager
def accounts_locked():
    """Excludes other tests that add or remove accounts."""
    with open(_LOCK, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _account_tool(*argv):
    # Another program may hold the lock of the password file.
    for _ in range(100):
        done = subprocess.run(argv, capture_output=True, text=True)
        if done.returncode == 0:
            return
        if "lock" not in done.stderr:
            break
        time.sleep(0.1)
    raise HostError(f"{' '.join(argv)}: {done.stderr.strip()}")


def add_account(name, system, groups=()):
    """A new account with its own group and no home. A system account has a uid below 1000."""
    argv = [
        "useradd",
        "--user-group",
        "--no-create-home",
        "--no-log-init",
        "--home-dir",
        "/nonexistent",
        "--shell",
        "/usr/sbin/nologin",
    ]
    if system:
        argv.append("--system")
    if groups:
        argv += ["--groups", ",".join(groups)]
    with accounts_locked():
        _remove(name)  # left by a killed run with the same pid: the user, its group, or both
        _account_tool(*argv, name)
    return pwd.getpwnam(name)


def _remove(name):
    if _named_in("/etc/passwd", name):
        _account_tool("userdel", "--force", name)
    if _named_in("/etc/group", name):
        _account_tool("groupdel", name)


def remove_account(name):
    with accounts_locked():
        _remove(name)


def _named_in(path, name):
    with open(path, encoding="utf-8", errors="replace") as lines:
        return any(line.startswith(name + ":") for line in lines)


def account_exists(name):
    return _named_in("/etc/passwd", name) or _named_in("/etc/group", name)


def own_etc(copy):
    """Mounts a copy of /etc, in the new directory `copy`, in this mount namespace: accounts that
    other tests add or remove do not invalidate this one's helper policy. umount("/etc") before the
    removal of earlier accounts.
    """
    with accounts_locked():  # locks and new files of other programs come and go
        os.mkdir(copy, 0o755)
        names = [e.path for e in os.scandir("/etc") if not re.search(r"\.(lock|\d+)$", e.name)]
        subprocess.run(["cp", "-a", "--target-directory", copy, *names], check=True)
    mount(copy, "/etc", "none", 4096)  # bind


# --- processes ------------------------------------------------------------------------------


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def status_of(pid):
    """Fields of /proc/PID/status."""
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as f:
        return {k: v.strip() for k, v in (line.split(":", 1) for line in f if ":" in line)}


def describe(pid):
    """For messages: the process, and the parent that has not reaped it."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            text = f.read().replace(b"\0", b" ").decode(errors="replace").strip()
        fields = status_of(pid)
        line = f"pid {pid} uid {fields['Uid'].split()[0]} [{text or 'no command line'}]"
        if not text:
            with contextlib.suppress(OSError):
                parent = status_of(fields["PPid"])["Name"]
                line += f" {fields['Name']}, {fields['State']}, child of {fields['PPid']} {parent}"
        return line
    return f"pid {pid}"


def processes_of(uids, zombies=True):
    """Processes with any of their uids in `uids`, without our own zombie children."""
    found = []
    for pid in pids():
        with contextlib.suppress(OSError):
            fields = status_of(pid)
            if not uids & {int(uid) for uid in fields["Uid"].split()}:
                continue
            if fields["State"].startswith("Z") and (
                not zombies or int(fields["PPid"]) == os.getpid()
            ):
                continue
            found.append(pid)
    return found


def kill_all_of(uids, seconds=10):
    def none_left():
        left = processes_of(uids, zombies=False)
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        return not left

    wait_for(none_left, seconds, "processes of the test accounts survive SIGKILL")


# --- ports ----------------------------------------------------------------------------------

_reserved = []


def free_port():
    """A free loopback port, below the range of outgoing connections, so that it is still free at
    the daemon's start. The UDP port of the same number, bound until we exit, reserves it against
    other tests."""
    for _ in range(2000):
        port = random.randint(20000, 32000)
        claim = socket.socket(type=socket.SOCK_DGRAM)
        try:
            claim.bind(("127.0.0.1", port))
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            claim.close()
            continue
        _reserved.append(claim)
        return port
    raise HostError("no free loopback port between 20000 and 32000")


def port_is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


# --- cgroup ---------------------------------------------------------------------------------


def _write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def _read(path):
    with open(path, encoding="ascii") as f:
        return f.read()


class Cgroup:
    """A private cgroup2 mount and one directory in it, delegated to the daemon as by systemd's
    Delegate=yes. `enforced`: it has the controllers that limits need."""

    def __init__(self, mount_point, name):
        self.mount_point = mount_point
        self.path = os.path.join(mount_point, name)
        os.mkdir(mount_point, 0o755)
        mount("cgroup2", mount_point, "cgroup2", 2 | 4 | 8)  # nosuid, nodev, noexec
        os.mkdir(self.path, 0o755)
        self.enforced = self._enable()

    def _enable(self):
        wanted = " ".join("+" + c for c in CONTROLLERS)
        for directory in (self.mount_point, self.path):
            if not set(CONTROLLERS) <= set(_read(f"{directory}/cgroup.controllers").split()):
                return False
            if set(CONTROLLERS) <= set(_read(f"{directory}/cgroup.subtree_control").split()):
                continue
            try:
                _write(f"{directory}/cgroup.subtree_control", wanted)
            except OSError:
                return False
        for directory in (self.mount_point, self.path):
            self._enable_optional(directory)
        return True

    @staticmethod
    def _enable_optional(directory):
        for controller in OPTIONAL:
            with contextlib.suppress(OSError):
                _write(f"{directory}/cgroup.subtree_control", "+" + controller)

    def delegate(self, name, uid, gid):
        """Creates a directory owned by (uid, gid); returns its path."""
        path = os.path.join(self.path, name)
        os.mkdir(path, 0o755)
        if self.enforced:
            _write(f"{path}/cgroup.subtree_control", " ".join("+" + c for c in CONTROLLERS))
            self._enable_optional(path)
        os.chown(path, uid, gid)
        for entry in ("cgroup.procs", "cgroup.subtree_control", "cgroup.threads"):
            os.chown(f"{path}/{entry}", uid, gid)
        return path

    def leaves(self):
        """Cgroups of containers: all below the delegated directories but the daemon's permanent
        ones."""
        if not os.path.isdir(self.path):
            return []
        return [
            os.path.join(parent, d)
            for parent, dirs, _ in os.walk(self.path)
            for d in dirs
            if parent != self.path and d not in ("containers", "monitors", "localizers")
        ]

    def described_leaves(self):
        """The same with what the kernel says of their processes; one that has gone meanwhile is
        left out."""
        found = []
        for leaf in self.leaves():
            with contextlib.suppress(OSError):
                found.append(
                    f"cgroup {leaf} ({_read(f'{leaf}/cgroup.events').splitlines()[0]}, pids "
                    f"{_read(f'{leaf}/cgroup.procs').split()})"
                )
        return found

    def pids(self):
        found = []
        for parent, _, _ in os.walk(self.path):
            with contextlib.suppress(OSError):
                found += [int(pid) for pid in _read(f"{parent}/cgroup.procs").split()]
        return found

    def remove(self):
        if not os.path.isdir(self.path):
            return
        with contextlib.suppress(OSError):
            _write(f"{self.path}/cgroup.kill", "1")

        def gone():
            for parent, _, _ in os.walk(self.path, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(parent)
            return not os.path.isdir(self.path)

        wait_for(gone, 10, f"cgroup {self.path} cannot be removed")

    def unmount(self):
        umount(self.mount_point)
        os.rmdir(self.mount_point)


# --- leftovers of runs that were killed --------------------------------------------------------


def sweep(base="/var/lib"):
    """Removes the leftovers of runs whose process is gone (kill -9, power). Under a lock: the uid
    of a removed account may already belong to an account of a new test, whose processes would be
    killed here."""
    with open(_SWEEP_LOCK, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _sweep(base)


def _sweep(base):
    for name in os.listdir(base):
        match = re.fullmatch(r"selvedge-[a-z0-9-]+-(\d+)", name)
        root = os.path.join(base, name)
        if (
            not match
            or os.path.exists(f"/proc/{match.group(1)}")
            or not os.path.exists(f"{root}/accounts")
        ):
            continue
        names = _read(f"{root}/accounts").split()
        uids = {pwd.getpwnam(n).pw_uid for n in names if _named_in("/etc/passwd", n)}
        uids.discard(0)
        if uids:
            kill_all_of(uids)
        point = f"{root}/sweep"
        with contextlib.suppress(HostError, OSError):
            group = Cgroup.__new__(Cgroup)
            group.mount_point, group.path = point, os.path.join(point, name)
            os.makedirs(point, exist_ok=True)
            mount("cgroup2", point, "cgroup2", 2 | 4 | 8)
            group.remove()
            umount(point)
        for account in names:
            remove_account(account)
        shutil.rmtree(root, ignore_errors=True)
