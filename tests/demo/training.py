"""A step of the demo: the framework of docs/frameworks.md, whose workers have a GPU and a port
each. A machine without NVIDIA's driver gets two stand-ins: device nodes with NVIDIA's numbers, in a
/dev of the demo's own, behind which nothing is."""
import json
import os
import re
import stat
import subprocess
import textwrap

from lib import framework_example

PLUGIN = "yarn.nodemanager.resource-plugins"
DRIVER = "/proc/driver/nvidia/gpus"
MAJOR, CONTROL = 195, 255
# What a shell and its programs expect of /dev.
NODES = ("null", "zero", "full", "random", "urandom", "tty")
LINKS = ("fd", "stdin", "stdout", "stderr", "ptmx", "core", "log")
DIRECTORIES = ("pts", "shm", "mqueue")


def _make_node(dev, name, device):
    os.mknod(f"{dev}/{name}", stat.S_IFCHR | 0o666, device)
    os.chmod(f"{dev}/{name}", 0o666)


def _own_dev(dev):
    os.mkdir(dev)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "none", dev], check=True)
    for name in NODES:
        _make_node(dev, name, os.stat(f"/dev/{name}").st_rdev)
    for name in LINKS:
        if os.path.islink(f"/dev/{name}"):
            os.symlink(os.readlink(f"/dev/{name}"), f"{dev}/{name}")
    for name in DIRECTORIES:
        if os.path.isdir(f"/dev/{name}"):
            os.mkdir(f"{dev}/{name}")
            subprocess.run(["mount", "--rbind", f"/dev/{name}", f"{dev}/{name}"], check=True)
    if not os.path.lexists(f"{dev}/ptmx"):
        os.symlink("pts/ptmx", f"{dev}/ptmx")


class Cards:
    """`real`: those of the machine. `minors`: their numbers; empty: no stand-in can be made."""

    def __init__(self):
        self.real, self.minors = False, []
        for bus in os.listdir(DRIVER) if os.path.isdir(DRIVER) else ():
            with open(f"{DRIVER}/{bus}/information", encoding="ascii", errors="replace") as f:
                minor = re.search(r"^Device Minor:\s*(\d+)", f.read(), re.M)
            if minor and os.path.exists(f"/dev/nvidia{minor.group(1)}"):
                self.minors.append(int(minor.group(1)))
        self.real = bool(self.minors)
        self.minors = self.minors or [0, 1]

    def policy(self):
        minors = ",".join(str(n) for n in self.minors)
        return {
            "[gpu]\nmodule.enabled": "true",
            "gpu.allowed-device-minor-numbers": minors,
        }

    def site(self):
        listed = ",".join(f"{i}:{n}" for i, n in enumerate(self.minors))
        return {
            PLUGIN: "yarn.io/gpu",
            f"{PLUGIN}.gpu.allowed-gpu-devices": "auto" if self.real else listed,
        }

    def make(self, c):
        """Stand-ins, where they are needed; before the NodeManager starts."""
        if self.real:
            return
        dev = f"{c.root}/dev"
        try:
            _own_dev(dev)
            for name, minor in [(f"nvidia{n}", n) for n in self.minors] + [("nvidiactl", CONTROL)]:
                _make_node(dev, name, os.makedev(MAJOR, minor))
            subprocess.run(["mount", "--move", dev, "/dev"], check=True)
        except PermissionError:  # a container without the right to make device nodes
            subprocess.run(["umount", "--recursive", dev], check=False)
            self.minors = []

    def describe(self):
        if self.real:
            return f"{len(self.minors)} of NVIDIA's, of this machine"
        if not self.minors:
            return "none: this machine lets nobody make device nodes"
        return (
            f"{len(self.minors)} STAND-INS: device nodes with NVIDIA's numbers, and no card behind"
        )


def _tasks(c):
    said = c.selvedge("--json", "framework", "tasks", framework_example.NAME)
    return json.loads(said.stdout) if said.returncode == 0 else []


def _running(c, n):
    rows = [row for row in _tasks(c) if row["state"] == "RUNNING"]
    return rows if len(rows) == n else None


def _said(c, task):
    """What a worker has printed: its cards and ports, and its device nodes."""
    text = c.selvedge("framework", "logs", framework_example.NAME, task).stdout
    found = re.search(r"GPUs (.*), ports (.*)\n.*DEVICES ?(.*)", text)
    return found and found.groups()


def train(c, title, holds):
    name, gpus = framework_example.NAME, len(c.cards.minors)
    title("A framework of task roles: two workers, each with a GPU and a port")
    print(f"  GPUs: {c.cards.describe()}")
    print(f"  $ selvedge framework submit {name} train.json", flush=True)
    c.services.start()
    place = framework_example.write(c, "train", gpus=gpus >= 2)
    said = c.selvedge("framework", "submit", name, "train.json", cwd=place)
    holds("it is accepted", said.returncode == 0, said.stderr.strip())
    workers = c.wait(lambda: _running(c, 2), 60, "two workers run")
    known = {}
    for worker in sorted(w["task"] for w in workers):
        known[worker] = c.wait(lambda task=worker: _said(c, task), 30, f"{worker} says what it has")
        mask, ports, devices = known[worker]
        port = ports.strip(";").split(":")[-1]
        print(
            f"  {worker} has port {port}, in /dev {devices or 'no card'}, and is told mask {mask}"
        )
    ports, devices = ({k[at] for k in known.values()} for at in (1, 2))
    holds("each has a port of its own", len(ports) == 2)
    if gpus >= 2:
        alone = all(len(d.split()) == 1 for d in devices)
        holds("each has a card of its own, and sees no other", alone and len(devices) == 2)
    if gpus == 2:
        print(f"  $ selvedge framework scale {name} worker=3; selvedge framework status {name}")
        c.selvedge("framework", "scale", name, "worker=3")

        def waits():
            text = c.selvedge("framework", "status", name).stdout
            found = re.search(r"^waits: .*", text, re.M)
            return found and found.group()

        why = c.wait(waits, 60, "the status says why a worker waits")
        print(textwrap.fill(why, 96, initial_indent="  ", subsequent_indent="  "))
        holds("a third waits, and the status says why", "gpu" in why.lower())
    said = c.selvedge("framework", "stop", "--wait=60", name)
    holds("selvedge framework stop ends it", said.returncode == 0, said.stderr.strip())
    c.wait(lambda: not c.container_processes(), 60, "its processes end")
    c.services.stop()
