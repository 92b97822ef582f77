"""Hadoop's DistributedShell with placement constraints: four containers that keep away from each
other on three nodes, one each. The fourth waits until another has ended; under
placement-processor it comes back rejected until then, and DistributedShell sends it again."""
import glob

from cluster import ClusterError
from interop import peers
from interop.cases.five_nodes import containers
from interop.cases.shell import SUCCEEDED, expect

HANDLER = "yarn.resourcemanager.placement-constraints.handler"
NODES = [peers.SELVEDGE] * 3
WANTED = 4


def master_said(c, app_id, words):
    for node in c.nodes:
        for directory in node.log_dirs:
            for path in glob.glob(f"{directory}/{app_id}/container_*_000001/AppMaster.std*"):
                with open(path, encoding="utf-8", errors="replace") as f:
                    if words in f.read():
                        return True
    return False


def apart(c):
    go = f"{c.hadoop}/go"  # containers see it
    command = f"( echo here I am; while ! test -e {go}; do sleep 0.2; done )"
    rejects = c.site[HANDLER] == "placement-processor"
    with peers.RunningShell(
        c,
        "-shell_command",
        command,
        "-placement_spec",
        f"zk({WANTED}),NOTIN,NODE,zk",
    ) as shell:
        app = shell.application
        c.wait(
            lambda: sum(len(containers(node, app.id)) for node in c.nodes) == len(NODES),
            240,
            "a container on each node",
        )
        if rejects:
            c.wait(
                lambda: master_said(c, app.id, "COULD_NOT_PLACE_ON_NODE"),
                60,
                "the fourth is rejected",
            )
        else:  # a second heartbeat of the master changes nothing
            c.wait(
                lambda: int(app.report().get("allocatedMB") or 0) > 0
                and app.report().get("runningContainers") == len(NODES) + 1,
                60,
                "the master and three containers run",
            )
        spread = [len(containers(node, app.id)) for node in c.nodes]
        open(go, "w", encoding="ascii").close()
        expect(shell.finish(), {**SUCCEEDED, "outputs": (WANTED, "^here I am$")})
    if spread != [1] * len(NODES):
        raise ClusterError(f"containers with the tag on the nodes: {spread}")


def run(report, c):
    report.case(f"{c.pairing}: DistributedShell's containers keep apart", apart, c)
