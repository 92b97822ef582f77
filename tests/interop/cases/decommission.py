"""Graceful decommission by Apache's ResourceManager: `rmadmin -refreshNodes -g` while a job runs on the node. Its containers end by
themselves, then the node is DECOMMISSIONED and the NodeManager ends with 0, which no supervisor starts again. The last group of
a pairing: its node is gone."""
import os

from cluster import ClusterError, host
from interop import peers

# How often the ResourceManager looks whether a decommissioning node is empty; 20 s by default.
SITE = {"yarn.resourcemanager.decommissioning-nodes-watcher.poll-interval-secs": "1"}
RMADMIN = "org.apache.hadoop.yarn.client.cli.RMAdminCLI"


def excludes(c):
    return f"{c.root}/lists/exclude"


def prepare(c):
    """An empty exclude file, which the ResourceManager reads at its start and at refreshNodes."""
    os.makedirs(os.path.dirname(excludes(c)), exist_ok=True)
    open(excludes(c), "w", encoding="ascii").close()
    c.site["yarn.resourcemanager.nodes.exclude-path"] = excludes(c)


def state(c):
    """Of the only node; lists leave out nodes that are gone, unless they are asked for."""
    nodes = (c.rm_get("/ws/v1/cluster/nodes?states=running,decommissioning,decommissioned,lost,shutdown,unhealthy") or {}).get("nodes") or {}
    port = str(c.nodes[0].ports["rpc"])
    return [n["state"] for n in nodes.get("node", []) if n["id"].rsplit(":", 1)[1] == port]


def containers(c):
    answer = c.nodes[0].get("/ws/v1/node/containers")["containers"] or {}
    return sorted(row["id"] for row in answer.get("container", []) if row["state"] == "RUNNING")


def graceful(c):
    go = f"{c.hadoop}/go"  # containers see it
    with peers.RunningShell(c, "-shell_command", f"while ! test -e {go}; do sleep 0.2; done", "-num_containers", "2") as shell:
        c.wait(lambda: len(containers(c)) == 3, 120, "the job's containers run")
        before = containers(c)
        with open(excludes(c), "w", encoding="ascii") as f:
            f.write("127.0.0.1\nlocalhost\n")
        done = peers.client(c, RMADMIN, "-refreshNodes", "-g", "600", "-server")
        if done.returncode != 0:
            raise ClusterError(f"rmadmin: {done.returncode}: {done.stdout[-2000:]}")
        c.wait(lambda: state(c) == ["DECOMMISSIONING"], 60, "the node is DECOMMISSIONING")
        c.nodes[0].process.must_run()
        if containers(c) != before:
            raise ClusterError(f"containers: {containers(c)}, before {before}")
        open(go, "w", encoding="ascii").close()
        application = shell.finish()
        report = application.wait_ended()
        if (application.exit_code, report["finalStatus"], len(application.attempts())) != (0, "SUCCEEDED", 1):
            raise ClusterError(f"{report}")
    c.wait(lambda: state(c) == ["DECOMMISSIONED"], 120, "the node is DECOMMISSIONED")


def ended(c):
    daemon = c.nodes[0].process
    code = daemon.process.wait(host.PATIENCE)
    if code != 0 or "Received SHUTDOWN signal" not in daemon.tail():
        raise ClusterError(f"the NodeManager has ended with {code}: {daemon.tail()}")
    daemon.process = None


def run(report, c):
    if report.case(f"{c.pairing}: rmadmin -refreshNodes -g lets a job end", graceful, c):
        report.case(f"{c.pairing}: the decommissioned NodeManager ends with 0", ended, c)
