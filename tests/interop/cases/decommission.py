"""Graceful decommission, ordered by Hadoop's `rmadmin -refreshNodes -g` while a job runs on the
node. Its containers end by themselves, then the node is DECOMMISSIONED and the NodeManager ends
with 0, which no supervisor starts again; off the list it is started again and registers. The last
group of a pairing: its node is gone."""
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
    nodes = (
        c.rm_get(
            "/ws/v1/cluster/nodes?states=running,decommissioning,decommissioned,lost,"
            "shutdown,unhealthy"
        )
        or {}
    ).get("nodes") or {}
    port = str(c.nodes[0].ports["rpc"])
    return [n["state"] for n in nodes.get("node", []) if n["id"].rsplit(":", 1)[1] == port]


def containers(c):
    answer = c.nodes[0].get("/ws/v1/node/containers")["containers"] or {}
    return sorted(row["id"] for row in answer.get("container", []) if row["state"] == "RUNNING")


def exclude(c, text):
    with open(excludes(c), "w", encoding="ascii") as f:
        f.write(text)


def order(c, who):
    """`rmadmin -refreshNodes -g`, the end of the time kept by the ResourceManager (-server), or by
    the command (-client), which runs until the node is empty."""
    command = peers.start_client(c, RMADMIN, "-refreshNodes", "-g", "600", who)
    if who == "-server":
        finish(command)
    return command


def finish(command):
    out, _ = command.communicate(timeout=host.PATIENCE)
    if command.returncode != 0:
        raise ClusterError(f"rmadmin: {command.returncode}: {out[-2000:]}")
    return out


def graceful(c, who):
    go = f"{c.hadoop}/go{who}"  # containers see it
    with peers.RunningShell(
        c, "-shell_command", f"while ! test -e {go}; do sleep 0.2; done", "-num_containers", "2"
    ) as shell:
        c.wait(lambda: len(containers(c)) == 3, 120, "the job's containers run")
        before = containers(c)
        exclude(c, "127.0.0.1\nlocalhost\n")
        command = order(c, who)
        c.wait(lambda: state(c) == ["DECOMMISSIONING"], 60, "the node is DECOMMISSIONING")
        c.nodes[0].process.must_run()
        if containers(c) != before:
            raise ClusterError(f"containers: {containers(c)}, before {before}")
        if who == "-client" and command.poll() is not None:
            raise ClusterError(f"rmadmin has not waited for the containers: {finish(command)}")
        open(go, "w", encoding="ascii").close()
        application = shell.finish()
        report = application.wait_ended()
        if (application.exit_code, report["finalStatus"], len(application.attempts())) != (
            0,
            "SUCCEEDED",
            1,
        ):
            raise ClusterError(f"{report}")
    c.wait(lambda: state(c) == ["DECOMMISSIONED"], 120, "the node is DECOMMISSIONED")
    if who == "-client" and "Graceful decommissioning completed in" not in (
        said := finish(command)
    ):
        raise ClusterError(f"rmadmin: {said}")


def ended(c):
    daemon = c.nodes[0].process
    code = daemon.process.wait(host.PATIENCE)
    if code != 0 or "Received SHUTDOWN signal" not in daemon.tail(200):
        raise ClusterError(f"the NodeManager has ended with {code}: {daemon.tail()}")
    daemon.process = None


def back(c):
    exclude(c, "")
    finish(peers.start_client(c, RMADMIN, "-refreshNodes"))
    peers.start_node(c, c.nodes[0])
    peers.wait_nodes(c)


def run(report, c):
    for who in ("-client", "-server"):
        if not report.case(
            f"{c.pairing}: rmadmin -refreshNodes -g {who} lets a job end", graceful, c, who
        ):
            return
        report.case(f"{c.pairing}: {who}: the decommissioned NodeManager ends with 0", ended, c)
        if who == "-client":
            report.case(f"{c.pairing}: off the list the node works again", back, c)
