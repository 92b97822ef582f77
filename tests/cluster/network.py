"""A network of the test's own, for clusters whose nodes have addresses and names as on several
machines: each host is a network and UTS namespace, joined to the others by a bridge in the
namespaces that the test moves into. The machine's own network is not touched, and the namespaces
end with their processes.

    net = network.Network(3)  # after private_namespace(); the test is the host `hub` from here on
    with Cluster("mapreduce", nodes=3, network=net) as c: ..."""
import ctypes
import json
import os
import shutil
import socket
import subprocess
import tempfile

from .host import HostError, mount

RANGE, PREFIX, DOMAIN = "10.78.0.0/24", "10.78.0.", "selvedge.test"
CLONE_NEWUTS, CLONE_NEWNET, MS_BIND = 0x04000000, 0x40000000, 4096
_libc = ctypes.CDLL(None, use_errno=True)


def _ip(*words, at=()):
    done = subprocess.run([*at, "ip", *words], capture_output=True, text=True)
    if done.returncode:
        raise HostError(f"ip {' '.join(words)}: {done.stderr.strip()}")


def _mac(device, at=()):
    argv = [*at, "ip", "-json", "link", "show", device]
    return json.loads(subprocess.run(argv, capture_output=True, check=True).stdout)[0]["address"]


class Host:
    """Its namespaces are kept by a process that ends with the test, since it reads a pipe of it."""

    def __init__(self, number):
        self.name, self.address = f"node{number}.{DOMAIN}", f"{PREFIX}{10 + number}"
        self.holder = subprocess.Popen(
            [
                "unshare",
                "--net",
                "--uts",
                "sh",
                "-c",
                f"hostname {self.name} && echo ready && exec cat",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        if self.holder.stdout.readline() != "ready\n":
            raise HostError(f"{self.name}: no network namespace")
        # argv prefix of a command on this host; the command keeps its process id
        self.enter = [
            "nsenter",
            f"--net=/proc/{self.holder.pid}/ns/net",
            f"--uts=/proc/{self.holder.pid}/ns/uts",
            "--",
        ]
        port = self.port = f"port{number}"
        _ip(
            "link",
            "add",
            port,
            "type",
            "veth",
            "peer",
            "name",
            "eth0",
            "netns",
            str(self.holder.pid),
        )
        _ip("link", "set", port, "master", "hub", "up")
        for words in (
            ["link", "set", "lo", "up"],
            ["address", "add", f"{self.address}/24", "dev", "eth0"],
            ["link", "set", "eth0", "up"],
        ):
            _ip(*words, at=self.enter)


class Network:
    """`address`, `name`: of this process; `hosts`: of the nodes."""

    def __init__(self, hosts):
        if not shutil.which("ip"):
            raise HostError("ip is missing: make deps")
        self.range, self.address, self.name = RANGE, f"{PREFIX}1", f"hub.{DOMAIN}"
        if _libc.unshare(CLONE_NEWNET | CLONE_NEWUTS) != 0:
            raise HostError(f"unshare: {os.strerror(ctypes.get_errno())}")
        socket.sethostname(self.name)
        _ip("link", "set", "lo", "up")
        _ip("link", "add", "hub", "type", "bridge")
        _ip("address", "add", f"{self.address}/24", "dev", "hub")
        _ip("link", "set", "hub", "up")
        self.hosts = [Host(i + 1) for i in range(hosts)]
        self._names()

    def cut(self, host):
        """Packets between this host and all others are dropped, without an error at either end,
        until join(). Neighbours are fixed, as one that is not found would be an error."""
        at = {h.address: h.enter for h in self.hosts}
        known = {h.address: _mac("eth0", h.enter) for h in self.hosts}
        known[self.address], at[self.address] = _mac("hub"), ()
        for address, enter in at.items():
            for other, mac in known.items():
                if other != address and host.address in (address, other):
                    device = "eth0" if enter else "hub"
                    words = ("neigh", "replace", other, "lladdr", mac, "dev", device)
                    _ip(*words, "nud", "permanent", at=enter)
        _ip("link", "set", host.port, "nomaster")

    def join(self, host):
        _ip("link", "set", host.port, "master", "hub")

    def _names(self):
        """/etc/hosts of this mount namespace, which clusters copy with the rest of /etc."""
        with tempfile.NamedTemporaryFile("w", prefix="selvedge-hosts-") as f:
            f.write(
                "127.0.0.1 localhost\n"
                + "".join(f"{h.address} {h.name}\n" for h in (self, *self.hosts))
            )
            f.flush()
            os.chmod(f.name, 0o644)
            mount(f.name, "/etc/hosts", "none", MS_BIND)
