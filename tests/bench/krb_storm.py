"""For bench-krb: NODES=5000 nodes that lost their ResourceManager and come back at the same moment,
each with its Kerberos handshake, one call, and the waits of a NodeManager; at our IPC server with
selvedge-gss (tests/interop/kerberos-server.c). RESIDENT=200 others are connected already and call
once a second each: how late are their answers meanwhile. SMOKE=1: 500 nodes, 20 others.

All run on this machine. What would run on others yields to the server and its helper: the nodes
that come back have a nice value that is 10 higher."""
import json
import os
import resource
import statistics
import subprocess

from cluster import ClusterError
from interop import hadoop

SMOKE = os.environ.get("SMOKE") == "1"
NODES = int(os.environ.get("NODES", "500" if SMOKE else "5000"))
RESIDENT = int(os.environ.get("RESIDENT", "20" if SMOKE else "200"))
# A process for each: its loop of sd-event slows down with the number of sockets that are ready.
NODES_A_CLIENT = 250  # as krb-load has for one helper
RULES = "RULE:[2:$1]"  # nm/host becomes nm


def raise_descriptors():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def yielding():
    raise_descriptors()
    os.nice(10)


def peak_mib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        peak = next(line for line in f if line.startswith("VmHWM:"))
    return int(peak.split()[1]) / 1024


class Server:
    """Our server with a helper of its own; `port`."""

    def __init__(self, kdc, keytab, principal, protection):
        self.process = subprocess.Popen(
            [
                f"{hadoop.BUILD}/tests/interop/kerberos-server",
                "--connections",
                str(2 * NODES),
                f"{hadoop.BUILD}/selvedge-gss",
                kdc.conf,
                keytab,
                principal,
                RULES,
                protection,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=raise_descriptors,
        )

    def __enter__(self):
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            raise ClusterError(f"kerberos-server: {line!r}")
        self.port = line.split()[1]
        return self

    def helper_mib(self):
        pid = self.process.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return peak_mib(int(f.read().split()[0]))

    def own_mib(self):
        return peak_mib(self.process.pid)

    def __exit__(self, *_error):
        self.process.stdin.close()
        self.process.wait(30)


class Nodes:
    """A krb-load with its helper, for some of the nodes."""

    def __init__(self, argv, prepare):
        self.process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=prepare,
        )

    def send(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            raise ClusterError(f"krb-load: {self.process.wait(30)}")
        return line

    def answer(self):
        return json.loads(self.line())

    def end(self):
        self.process.kill()
        self.process.communicate()


def storm(load_argv):
    """Figures, once all nodes are served."""
    crowd = [Nodes(load_argv, yielding) for _ in range(-(-NODES // NODES_A_CLIENT))]
    resident = Nodes(load_argv, raise_descriptors)
    try:
        for nodes in crowd:  # their helpers get tickets
            nodes.send("connections 5")
        for nodes in crowd:
            nodes.answer()
        resident.send(f"beats {RESIDENT}")
        if resident.line() != "ready\n":
            raise ClusterError("krb-load: the resident nodes")
        for nodes in crowd:
            nodes.send(f"storm {NODES // len(crowd)}")
        answers = [nodes.answer() for nodes in crowd]
        resident.send("")
        beats = resident.answer()
    finally:
        for nodes in (*crowd, resident):
            nodes.end()
    return {
        "seconds": max(a["seconds"] for a in answers),
        "half": statistics.median(a["half"] for a in answers),
        "most": max(a["most"] for a in answers),
        "failed": sum(a["failed"] for a in answers),
        "beats": beats,
    }


def measure(kdc, load_argv, keytab, principal, protection):
    """Rows of the report. `load_argv`: makes krb-load's arguments for a port."""
    with Server(kdc, keytab, principal, protection) as s:
        r = storm(load_argv(s.port))
        helper, own = s.helper_mib(), s.own_mib()
    print(
        f"{NODES} nodes: half of them served after {r['half']:.1f} s, 99 % after {r['most']:.1f} s,"
        f" {r['failed']} attempts failed; the server's memory {own:.0f} MiB; {r['beats']['beats']}"
        f" heartbeats meanwhile: p50 {r['beats']['p50_ms']:.1f} ms, p99"
        f" {r['beats']['p99_ms']:.1f} ms, the longest {r['beats']['most_ms']:.1f} ms",
        flush=True,
    )

    def row(name, unit, ours, wanted):
        return {
            "name": name,
            "unit": unit,
            "ours": round(ours, 3),
            "peer": None,
            "peer_name": "",
            "ratio": round(ours, 3),
            "wanted": wanted,
        }

    return [
        row("storm_until_all_are_served", "s", r["seconds"], "<=30"),
        row("storm_heartbeat_p99", "ms", r["beats"]["p99_ms"], "<=50"),
        row("storm_helper_rss", "MiB", helper, "<=8"),
    ]
