"""For bench-krb: NODES=5000 nodes that lost their ResourceManager and come back at the same moment,
each with its Kerberos handshake, one call, and the waits of a NodeManager; at our IPC server with
selvedge-gss (tests/interop/kerberos-server.c), on the same machine."""
import json
import os
import resource
import subprocess

from cluster import ClusterError
from interop import hadoop

NODES = int(os.environ.get("NODES", "5000"))
RULES = "RULE:[2:$1]"  # nm/host becomes nm


def raise_descriptors():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


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


def storm(load_argv):
    """What the nodes say when all are served."""
    done = subprocess.run(
        load_argv,
        input=f"connections 200\nstorm {NODES}\n",
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=raise_descriptors,
        timeout=900,
    )
    if done.returncode != 0:
        raise ClusterError(f"krb-load: {done.returncode}: {done.stdout}")
    return json.loads(done.stdout.splitlines()[-1])


def measure(kdc, load_argv, keytab, principal, protection):
    """Rows of the report. `load_argv`: makes krb-load's arguments for a port."""
    with Server(kdc, keytab, principal, protection) as s:
        r = storm(load_argv(s.port))
        helper, own = s.helper_mib(), s.own_mib()
    print(
        f"{NODES} nodes: half of them served after {r['half']:.1f} s, 99 % after {r['most']:.1f} s,"
        f" {r['failed']} attempts failed; the server's memory {own:.0f} MiB",
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
        row("storm_helper_rss", "MiB", helper, "<=8"),
    ]
