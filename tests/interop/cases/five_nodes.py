"""Apache's NodeManagers of four versions beside ours under one ResourceManager: a DistributedShell
whose containers need every node at the same time, then another. Apache's daemons run as the
submitter, as whom their default executor then runs its containers."""
import glob
import os

from cluster import ClusterError
from interop import hadoop, peers
from interop.cases.shell import SUCCEEDED, expect

NODES = [peers.SELVEDGE, *(f"apache-{version}" for version in hadoop.VERSIONS)]
SLOTS = 2  # on each node; one of them all has the ApplicationMaster
SLOT_MB = 256
SITE = {"yarn.scheduler.minimum-allocation-mb": SLOT_MB}  # what DistributedShell's containers get
CONTAINERS = SLOTS * len(NODES) - 1


def prepare(c):
    for node, daemon in zip(c.nodes, c.peer_nms):
        node.site["yarn.nodemanager.resource.memory-mb"] = SLOTS * SLOT_MB
        if daemon != peers.SELVEDGE:
            node.run_as(c.submitter)


def versions(c):
    """What each node says of itself at the ResourceManager, in the order of the nodes."""
    listed = {
        int(n["id"].rsplit(":", 1)[1]): n for n in c.rm_get("/ws/v1/cluster/nodes")["nodes"]["node"]
    }
    return [
        (listed[node.ports["rpc"]]["state"], listed[node.ports["rpc"]]["version"])
        for node in c.nodes
    ]


def registered(c):
    found = versions(c)
    wanted = [peers.version_of(daemon) for daemon in c.peer_nms]
    if [state for state, _ in found] != ["RUNNING"] * len(NODES) or [v for _, v in found][
        1:
    ] != wanted[1:]:
        raise ClusterError(f"{found}, wanted {wanted}")


def containers(node, app_id):
    """Names of those that have written their line, the ApplicationMaster not among them."""
    found = []
    for directory in node.log_dirs:
        for path in glob.glob(f"{directory}/{app_id}/container_*/stdout"):
            with open(path, encoding="utf-8", errors="replace") as f:
                found += (
                    [os.path.basename(os.path.dirname(path))] if "here I am" in f.read() else []
                )
    return found


def on_each(c, name):
    """All containers wait for one file: as many as there are places run at once, so every node has
    some."""
    go = f"{c.hadoop}/{name}"  # containers see it
    # its output goes to a file as one
    command = f"( echo here I am; while ! test -e {go}; do sleep 0.2; done )"
    with peers.RunningShell(
        c, "-shell_command", command, "-num_containers", str(CONTAINERS)
    ) as shell:
        app = shell.application
        c.wait(
            lambda: sum(len(containers(node, app.id)) for node in c.nodes) == CONTAINERS,
            240,
            "a container in each place",
        )
        spread = [len(containers(node, app.id)) for node in c.nodes]
        rows = [n["numContainers"] for n in c.rm_get("/ws/v1/cluster/nodes")["nodes"]["node"]]
        open(go, "w", encoding="ascii").close()
        expect(shell.finish(), {**SUCCEEDED, "outputs": (CONTAINERS, "^here I am$")})
    print("      " + ", ".join(f"{daemon}: {n}" for daemon, n in zip(c.peer_nms, spread)))
    if sorted(spread) != [SLOTS - 1, *[SLOTS] * (len(NODES) - 1)] or rows != [SLOTS] * len(NODES):
        raise ClusterError(f"containers on the nodes: {spread}; at the ResourceManager: {rows}")


def run(report, c):
    report.case(f"{c.pairing}: every node is RUNNING with its version", registered, c)
    for name in ("first", "second"):
        report.case(f"{c.pairing}: the {name} job has containers on each node", on_each, c, name)
    for node in c.nodes[
        1:
    ]:  # they belong to an account of jobs, which must have no process at the end
        node.process.stop()
