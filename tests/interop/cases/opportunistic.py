"""Opportunistic containers that Apache's ResourceManager grants beyond the node's room, for
DistributedShell: the node queues them and tells so, ends some for another application's guaranteed
containers, and promotes."""
import contextlib

from cluster import ClusterError
from interop import peers
from interop.cases import shell

QUEUING = "yarn.resourcemanager.nm-container-queuing."
NODE = "yarn.nodemanager."
ROOM = 16  # containers of 64 MiB, four of which are a master
MASTER = 4
SITE = {
    "yarn.resourcemanager.opportunistic-container-allocation.enabled": "true",
    "yarn.resourcemanager.opportunistic-container-allocation.nodes-used": "1",
    # the same whatever the length of the queue was a second ago
    QUEUING + "min-queue-length": "100",
    QUEUING + "max-queue-length": "100",
    QUEUING + "sorting-nodes-interval-ms": "200",
}
OPPORTUNISTIC = ("-container_type", "OPPORTUNISTIC", "-enforce_execution_type")


def prepare(c):
    for node in c.nodes:
        node.site[NODE + "resource.memory-mb"] = 64 * ROOM
        node.site[NODE + "opportunistic-containers-max-queue-length"] = 100


def seen(c):
    """Running and queued opportunistic containers, as the ResourceManager was told."""
    (node,) = c.rm_get("/ws/v1/cluster/nodes")["nodes"]["node"]
    return node["numRunningOpportContainers"], node["numQueuedContainers"]


def told(c, words):
    return c.nodes[0].process.tail(100000).count(words)


def becomes(c, wanted):
    try:
        c.wait(lambda: seen(c) == wanted, 180, f"{wanted} run and are queued")
    except ClusterError as error:
        raise ClusterError(f"{error}; {seen(c)}") from None


@contextlib.contextmanager
def sleepers(c, count, *args):
    seconds = shell.nap()
    command = ("-shell_command", f"sleep {seconds}", "-num_containers", str(count))
    with peers.RunningShell(c, *command, *OPPORTUNISTIC, *args) as running:
        yield running


def one_after_the_other(c):
    command = ("-shell_command", "sleep 0.2; date", "-num_containers", str(2 * ROOM))
    shell.expect(
        peers.distributed_shell(c, *command, *OPPORTUNISTIC),
        {**shell.SUCCEEDED, "outputs": (2 * ROOM, shell.CLOCK)},
    )


def make_room(c):
    with sleepers(c, ROOM):
        becomes(c, (ROOM - MASTER, MASTER))
        shell.date(c, 1)  # a master and its container are guaranteed
        killed = told(c, "Container Killed to make room for Guaranteed Container.")
        if killed != MASTER + 1:
            raise ClusterError(f"{killed} containers made room, wanted {MASTER + 1}")


def promoted(c):
    count = ROOM - MASTER
    with sleepers(c, count, "-promote_opportunistic_after_start"):
        c.wait(
            lambda: told(c, ": <memory:64, vCores:1> ") == count,
            180,
            f"{count} updates",
        )
        becomes(c, (0, 0))


def run(report, c):
    report.case(f"{c.pairing}: more opportunistic containers than room", one_after_the_other, c)
    report.case(f"{c.pairing}: room for guaranteed containers", make_room, c)
    report.case(f"{c.pairing}: promoted containers", promoted, c)
