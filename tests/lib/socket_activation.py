"""What systemd does for selvedge-executor.socket, where no systemd is: listens, and starts
container-executor as root for each connection, as its descriptor 0, in a cgroup of its own, with
the capabilities that the unit in packaging/ names. Like PID 1 it keeps every connection open until
the process that it has started has ended, counts them until then, and drops those that are too
many."""
import ctypes
import os
import select
import signal
import socket
import time

PATIENCE = 60
DROPPED = 30
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNIT = os.path.join(TOP, "packaging", "selvedge-executor@.service.in")
CAPABILITIES = (
    "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE "
    "NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE "
    "SYS_RAWIO SYS_CHROOT"
).split()
CAPABILITIES += [
    "SYS_PTRACE",
    "SYS_PACCT",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_NICE",
    "SYS_RESOURCE",
]  # in the kernel's order; the unit names none beyond


def unit_capabilities():
    """Numbers of those in CapabilityBoundingSet=."""
    with open(UNIT, encoding="utf-8") as f:
        (line,) = [text for text in f if text.startswith("CapabilityBoundingSet=")]
    return {CAPABILITIES.index(name[len("CAP_") :]) for name in line.partition("=")[2].split()}


class Listener:
    """`path`: of the socket, which becomes `owner`'s alone. `cgroup`: a directory of cgroup2, in
    which one is made for each connection. Runs as a process of its own until close()."""

    def __init__(self, path, owner, helper, cgroup, most=64):
        self.path, self.owner, self.helper, self.cgroup, self.most = (
            path,
            owner,
            helper,
            cgroup,
            most,
        )
        self.bounding = unit_capabilities()
        self.counters = os.memfd_create("counters")
        self._count(0, 0, 0, 0)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
        os.makedirs(cgroup, exist_ok=True)
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                ours.close()
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                self._serve(theirs)
                status = 0
            finally:
                os._exit(status)
        theirs.close()
        self.control = ours
        self.start()

    def _count(self, *numbers):
        os.pwrite(self.counters, (" ".join("%8d" % n for n in numbers)).encode(), 0)

    def counted(self):
        """Connections taken and dropped so far, the most at once, groups that a process was left
        in."""
        return [int(n) for n in os.pread(self.counters, 64, 0).split()]

    def _tell(self, word):
        self.control.send(word)
        self.control.settimeout(PATIENCE)
        if self.control.recv(16) != word:
            raise OSError("the listener has ended")

    def start(self):
        self._tell(b"start")

    def stop(self):
        """systemctl stop selvedge-executor.socket: what was started goes on."""
        self._tell(b"stop")

    def drop(self):
        """The next DROPPED connections are too many, however many there are."""
        self._tell(b"drop")

    def freeze(self):
        """Stands still once this returns, until it gets SIGCONT: connections are taken by the
        kernel, and not served."""
        os.kill(self.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED)

    def close(self):
        """Ends once no connection is left: an error after a minute."""
        self._tell(b"stop")
        self.control.send(b"end")
        self.control.recv(16)
        self.control.close()
        os.waitpid(self.pid, 0)
        os.rmdir(self.cgroup)
        os.close(self.counters)

    # -- the process ---------------------------------------------------------------------------
    def _serve(self, control):
        listening, live, ended, wake = None, {}, {}, os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        taken = dropped = peak = left = to_drop = 0
        ending = None
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake[1], warn_on_full_buffer=False)
        while ending is None or live or ended:
            self._count(taken, dropped, peak, left)
            ready, _, _ = select.select(
                [
                    wake[0],
                    *([control] if ending is None else []),
                    *([listening] if listening else []),
                ],
                [],
                [],
                0.02 if ended else 1,
            )
            if wake[0] in ready:
                os.read(wake[0], 4096)
            for pid in list(live):
                if os.waitpid(pid, os.WNOHANG)[0] == pid:
                    connection, group = live.pop(pid)
                    connection.close()
                    ended[group] = time.monotonic()
            for group, since in list(
                ended.items()
            ):  # a process on its way out is in it for a moment
                if _remove(group) or time.monotonic() - since > 10:
                    left += os.path.isdir(group)
                    del ended[group]
            if control in ready:
                word = control.recv(16)
                if not word:
                    ending = time.monotonic()
                    continue
                if word == b"start" and not listening:
                    listening = self._listen()
                elif word == b"stop" and listening:
                    os.unlink(self.path)  # RemoveOnStop=
                    listening.close()
                    listening = None
                elif word == b"drop":
                    to_drop = DROPPED
                elif word == b"end":
                    ending = time.monotonic()
                    continue
                control.send(word)
            if listening and listening in ready:
                connection, _ = listening.accept()
                if len(live) >= self.most or to_drop > 0:
                    dropped += 1
                    to_drop -= to_drop > 0
                    connection.close()
                    continue
                taken += 1
                group = "%s/%d" % (self.cgroup, taken)
                os.mkdir(group)
                live[self._spawn(connection, group)] = connection, group
                peak = max(peak, len(live))
            if ending is not None and time.monotonic() - ending > PATIENCE:
                raise TimeoutError(str(live))
        self._count(taken, dropped, peak, left)
        control.send(b"end")

    def _listen(self):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        mask = os.umask(0o177)
        s.bind(self.path)
        os.umask(mask)
        os.chown(self.path, self.owner.pw_uid, 0)
        s.listen(4096)
        return s

    def _spawn(self, connection, group):
        pid = os.fork()
        if pid == 0:
            try:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                with open(group + "/cgroup.procs", "w", encoding="ascii") as f:
                    f.write("0")
                libc = ctypes.CDLL(None)
                for number in set(range(64)) - self.bounding:
                    libc.prctl(24, number, 0, 0, 0)  # PR_CAPBSET_DROP
                libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
                os.dup2(connection.fileno(), 0, inheritable=True)
                os.execve(
                    self.helper,
                    ["container-executor"],
                    {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())},
                )
            finally:
                os._exit(203)
        return pid


def _remove(group):
    try:
        os.rmdir(group)
        return True
    except OSError:
        return False  # a process is in it
