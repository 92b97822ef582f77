"""For test-network and test-bandwidth: container-network started as the helper starts it (a plain
account with CAP_NET_ADMIN alone), for container namespaces that are made here, inside a network
namespace that stands for the host. Nothing of the machine's own network is touched."""
import array
import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cluster import Report, private_namespace  # noqa: E402

IN_VM = "SELVEDGE_TEST_HELPERS" in os.environ
CLONE_NEWNET = 0x40000000
REQUEST, HOST, BUSY, KERNEL = 1, 2, 3, 4
libc = ctypes.CDLL(None, use_errno=True)


def struct_request(
    index=0,
    mode="bridge",
    link="svbr0",
    rng="10.77.0.0/24",
    gateway="",
    mtu=0,
    isolated=True,
    total=0,
    rate=0,
    ceil=0,
    container="container_1_0001_01_000001",
    magic=0x744E7653,
):
    return struct.pack(
        "=II16s16s32s32sIIIIII64s",
        magic,
        1,
        mode.encode(),
        link.encode(),
        rng.encode(),
        gateway.encode(),
        mtu,
        1 if isolated else 0,
        total,
        index,
        rate,
        ceil,
        container.encode(),
    )


class Container:
    """A network namespace, kept by a process of ours; its netlink socket."""

    def __init__(self):
        ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self._hold(theirs)
            finally:
                os._exit(1)
        theirs.close()
        self.hold = ours
        _, control, _, _ = ours.recvmsg(1, socket.CMSG_SPACE(8))
        fds = array.array("i")
        fds.frombytes(control[0][2][:8])
        self.netlink, self.ns = fds

    @staticmethod
    def _hold(theirs):
        keep = theirs.fileno()
        os.closerange(3, keep)  # no other container's namespace: it would not end
        os.closerange(keep + 1, 1024)
        if libc.unshare(CLONE_NEWNET) == 0:
            link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
            fds = [link.fileno(), os.open("/proc/self/ns/net", os.O_RDONLY)]
            theirs.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
            signal.pause()

    def argv(self, *command):
        return ["nsenter", "--net=/proc/%d/ns/net" % self.pid] + list(command)

    def run(self, *command, check=True):
        return subprocess.run(
            self.argv(*command),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=check,
            timeout=120,
        ).stdout

    def close(self):
        os.close(self.netlink)
        os.close(self.ns)
        self.hold.close()
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


class Bench:
    def __init__(self, build):
        self.dir = tempfile.mkdtemp(prefix="selvedge-test-network-", dir="/var/lib")
        os.chmod(self.dir, 0o755)
        self.program = self.dir + "/container-network"
        shutil.copy(build + "/container-network", self.program)
        self.containers = []

    def container(self):
        self.containers.append(Container())
        return self.containers[-1]

    def connect(self, c, data, caps="+net_admin", uid="nobody", extra=(), under=()):
        """Exit status and words of container-network; `under`: of a command that starts it."""
        r = self.begin(c, data, caps, uid, extra, under)
        out, err = r.communicate(timeout=120)
        assert not err, err
        return r.returncode, out

    def begin(self, c, data, caps="+net_admin", uid="nobody", extra=(), under=()):
        def prepare():
            os.dup2(c.netlink, 203)
            os.dup2(c.ns, 204)
            os.dup2(203, 3)
            os.dup2(204, 4)

        sets = "-all," + caps if caps else "-all"
        argv = [
            *under,
            shutil.which("setpriv"),
            "--reuid",
            uid,
            "--regid",
            "nogroup",
            "--clear-groups",
            "--no-new-privs",
            "--inh-caps",
            sets,
            "--ambient-caps",
            sets,
            "--bounding-set",
            sets,
            self.program,
            *extra,
        ]
        with tempfile.TemporaryFile() as request:
            request.write(data)
            request.seek(0)
            return subprocess.Popen(
                argv,
                stdin=request,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=prepare,
                close_fds=False,
                env={},
            )

    def connected(self, index, **kw):
        c = self.container()
        got = self.connect(c, struct_request(index, **kw))
        assert got == (0, ""), got
        return c

    def clear(self):
        for c in self.containers:
            c.close()
        self.containers = []

    def close(self):
        self.clear()
        shutil.rmtree(self.dir)


def devices():
    return sorted(d["ifname"] for d in json.loads(subprocess.check_output(["ip", "-j", "link"])))


def indexes():
    found = json.loads(subprocess.check_output(["ip", "-j", "link"]))
    return {d["ifname"]: d["ifindex"] for d in found if re.match("sv[0-9a-f]{8}$", d["ifname"])}


def wait_for(condition):
    """The kernel takes a namespace apart in the background."""
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until, devices()


def wait_for_devices(wanted):
    wait_for(lambda: devices() == sorted(wanted))


def classes():
    """Minor numbers of the containers' classes, by tc."""
    shown = subprocess.check_output(["tc", "class", "show", "dev", "selvedge-share"], text=True)
    assert "class htb 42:1 root" in shown and "class htb 42:2 parent 42:1" in shown, shown
    return sorted(set(re.findall(r"class htb 42:([0-9a-f]+) ", shown)) - {"1", "2"})


def class_of(index):
    """As network-share.c makes it of a veth's index."""
    return "%x" % (0x200 | (index >> 8 & 0x3F) << 10 | index & 0xFF)


def expect_classes_of_veths():
    assert classes() == sorted(map(class_of, indexes().values())), (classes(), indexes())


@contextlib.contextmanager
def without_module(name):
    """In the VM alone: the kernel does not find that module."""
    release = os.uname().release
    found = subprocess.check_output(
        ["find", "/lib/modules/" + release, "-name", name + ".ko*"], text=True
    ).split()
    assert len(found) == 1, found
    wait_for(
        lambda: not os.path.exists("/sys/module/" + name)
        or subprocess.run(["modprobe", "-r", name], stderr=subprocess.DEVNULL).returncode == 0
    )
    os.rename(found[0], found[0] + ".away")
    try:
        yield
    finally:
        os.rename(found[0] + ".away", found[0])


def begin_as_host(*needed):
    """The program goes on in a network namespace of its own; what it needs is there, or it says so
    and ends."""
    private_namespace()
    if os.environ.get("SELVEDGE_TEST_NETNS") != "1":
        os.environ["SELVEDGE_TEST_NETNS"] = "1"
        os.execvp(
            "unshare",
            ["unshare", "-n", sys.executable, os.path.abspath(sys.argv[0])] + sys.argv[1:],
        )
    for name in needed:
        if not shutil.which(name):
            print(name + " is missing: make deps")
            print("0 passed, 0 failed, 1 skipped")
            sys.exit(0)
    subprocess.check_call(["ip", "link", "set", "lo", "up"])


def run(cases):
    """(title, function of a Bench): after each the containers are gone. Arguments pick by words of
    titles."""
    picked = sys.argv[1:]
    report, bench = Report(), Bench(os.environ["BUILD"])
    try:
        for title, case in cases:
            if picked and not any(word in title for word in picked):
                continue

            def one(case=case):
                try:
                    case(bench)
                finally:
                    bench.clear()

            report.case(title, one)
    finally:
        bench.close()
    report.finish()
