"""Applications killed at random moments of their lives end as killed; the ResourceManager tells the
node to forget all of their containers, and no resource of the node stays allocated
(java/KillStorm.java). KILLS: how many."""
import os

from cluster import ClusterError
from interop import peers

COUNT = int(os.environ.get("KILLS") or 40)
MAY = {"ending": {"KILLED", "FAILED"}}  # its master may end first


def storm(c, count):
    done = peers.client(c, "KillStorm", str(count), "1", timeout=900)
    rows = [line.split("\t")[1:] for line in done.stdout.splitlines() if line.startswith("end\t")]
    if sum(int(n) for _, _, n in rows) != count:
        raise ClusterError(f"KillStorm ends with {done.returncode}:\n{done.stdout[-3000:]}")
    print("        " + ", ".join(f"{moment} {state} {n}" for moment, state, n in rows), flush=True)
    wrong = [row for row in rows if row[1] not in MAY.get(row[0], {"KILLED"})]
    if wrong:
        raise ClusterError(f"not killed: {wrong}")


def forgotten(c):
    """The end of every container was reported and acknowledged, and its resources are free."""

    def known():
        answer = c.nodes[0].get("/ws/v1/node/containers")["containers"] or {}
        return [row["id"] for row in answer.get("container", [])]

    def used():
        return c.rm_get("/ws/v1/cluster/metrics")["clusterMetrics"]

    c.wait(
        lambda: not known(), 60, "the ResourceManager has acknowledged every container of the node"
    )
    c.wait(
        lambda: (used()["containersAllocated"], used()["allocatedMB"]) == (0, 0),
        60,
        "no resource of the node is allocated",
    )


def run(report, c):
    report.case(f"{c.pairing}: {COUNT} applications are killed", storm, c, COUNT)
    report.case(f"{c.pairing}: nothing of them is kept", forgotten, c)
