"""For bench-federation: ApplicationMasters whose NodeManager has an AMRMProxy of two sub-clusters,
ours or Apache's, or none. Heartbeats of one master, one after the other; the NodeManager's memory
with MASTERS=100 of them; two runs of DistributedShell. All other daemons are ours, but for the
shell's peer, which is Apache's through and through. BEATS=500, PAUSE_MS=20 between two of them."""
import base64
import contextlib
import glob
import json
import os
import subprocess
import time

from cluster import ClusterError
from interop import hadoop, peers
from interop.federation import APACHE, CLIENT, federated

MASTERS, BEATS, PAUSE_MS, SHELL = (
    int(os.environ.get(name) or default)
    for name, default in (("MASTERS", 100), ("BEATS", 500), ("PAUSE_MS", 20), ("SHELL_COUNT", 40))
)
OURS = peers.SELVEDGE
PEER = f"Apache Hadoop {hadoop.REFERENCE}, AMRMProxy"
AM_LOAD = f"{hadoop.BUILD}/tests/bench/am-load"
# The first container tells its tokens, as the NodeManager has made them, and stays for a file.
COMMAND = (
    "(base64 -w0 $HADOOP_TOKEN_FILE_LOCATION; echo; while [ -e {} ]; do sleep 5; done) "
    "1><LOG_DIR>/stdout 2><LOG_DIR>/stderr"
)
SITE = {
    "yarn.scheduler.minimum-allocation-mb": "16",
    "yarn.scheduler.capacity.maximum-am-resource-percent": "1",
    "yarn.nodemanager.resource.memory-mb": str(64 << 10),
    "yarn.nodemanager.resource.cpu-vcores": "4096",
    "yarn.scheduler.maximum-allocation-vcores": "4096",
}


def am_load(*args):
    done = subprocess.run(
        [AM_LOAD, *(str(a) for a in args)], capture_output=True, text=True, timeout=300
    )
    if done.returncode != 0:
        raise ClusterError(f"am-load {args[0]}: {done.stdout}{done.stderr}")
    return done.stdout


def rss(pid):
    """MiB."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(s.split()[1]) for s in f if s.startswith("VmRSS:")) / 1024


class Masters:
    """Applications whose masters are played here, at the AMRMProxy or without one."""

    def __init__(self, f):
        self.f, self.c = f, f.c
        self.port = f.proxy_port if f.proxy else f.c.ports["scheduler"]
        self.flag = f"{f.c.hadoop}/masters"  # containers see it
        with open(self.flag, "w", encoding="ascii"):
            pass

    def credentials(self, app):
        """A file with the tokens of its first container, once that has told them."""
        found = []

        def told():
            found[:] = glob.glob(f"{self.c.nodes[0].log_dirs[0]}/{app}/container_*_000001/stdout")
            return found and os.path.getsize(found[0]) > 20 and text(found[0]).endswith("\n")

        self.c.wait(told, 120, f"the first container of {app} runs")
        path = f"{self.c.root}/{app}.tokens"
        with open(path, "wb") as f:
            f.write(base64.b64decode(text(found[0])))
        return path

    def submit(self, count):
        user = self.c.submitter.pw_name
        command = COMMAND.format(self.flag)
        out = am_load("submit", self.f.router_ports["client"], user, count, command)
        return [self.credentials(app) for app in out.split()]

    def beats(self):
        return json.loads(am_load("beat", self.port, BEATS, PAUSE_MS, *self.submit(1)))

    def growth(self):
        """MiB of the NodeManager from idle to MASTERS, each known to both sub-clusters."""
        pid = self.c.nodes[0].process.pid
        before, files = rss(pid), self.submit(MASTERS)
        with subprocess.Popen(
            [AM_LOAD, "hold", str(self.port), *files],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            said = process.stdout.readline()
            if said != "ready\n":
                raise ClusterError(f"am-load hold: {said}{process.stdout.read()}")
            grown = rss(pid) - before
            process.stdin.close()
            process.stdin = None
        return grown

    def end(self):
        """The containers, which the masters' ends have left."""
        os.unlink(self.flag)
        self.c.settle()


def text(path):
    with open(path, encoding="ascii") as f:
        return f.read()


def shell_twice(f):
    began = time.monotonic()
    for _ in range(2):
        application = f.shell(SHELL)
        if application.exit_code != 0:
            raise ClusterError(f"DistributedShell: {application.output[-2000:]}")
    return time.monotonic() - began


@contextlib.contextmanager
def cluster(node, proxy):
    with federated(OURS, OURS, (node, node), OURS, client=CLIENT, proxy=proxy, site=SITE) as f:
        yield f


def figures(node, proxy, shell=False):
    with cluster(node, proxy) as f:
        m = Masters(f)
        m.beats()  # the JVM compiles
        found = {**m.beats(), "grown": m.growth()}
        m.end()
        if shell:
            found["shell"] = shell_twice(f)
        return found


def measure():
    """Rows of the report."""
    none, mine, peer = figures(OURS, False), figures(OURS, True, True), figures(APACHE, True)
    with federated(APACHE, APACHE, (APACHE, APACHE), APACHE, client=CLIENT, site=SITE) as f:
        peer["shell"] = shell_twice(f)
    added = mine["p50"] - none["p50"]
    return [
        row("proxied_heartbeat_p50", "ms", mine["p50"], peer["p50"], "<=0.1"),
        row("proxied_heartbeat_p99", "ms", mine["p99"], peer["p99"], ""),
        row("added_to_a_heartbeat_p50", "ms", added, peer["p50"] - none["p50"], "<=2", added),
        row(
            f"nodemanager_rss_for_{MASTERS}_proxied_applications",
            "MiB",
            mine["grown"] - none["grown"],
            peer["grown"],
            "<=20",
            mine["grown"] - none["grown"],
        ),
        row("shell_twice", "s", mine["shell"], peer["shell"], "<=0.5"),
    ]


def smoke():
    """Without Java: not there yet."""
    return {}


def row(name, unit, mine, peer, wanted, ratio=None):
    return {
        "name": name,
        "unit": unit,
        "ours": round(mine, 3),
        "peer": round(peer, 3),
        "peer_name": PEER,
        "ratio": round(mine / peer if ratio is None else ratio, 4),
        "wanted": wanted,
    }
