"""What is done to the tasks of frameworks, in one pairing of ResourceManager and nodes: ports that
another program has, containers preempted for another queue, and a lost node."""
import contextlib
import subprocess
import sys

from cluster import ClusterError
from interop import peers
from cases.framework_cells import NO_POLICY, SLEEP, counts, kept
from interop.service import processes
from lib.frameworks import COMPLETED, FANCY, RUNNING
from lib.job_runs import expect

PORT = 3041
TASK_MB = 320  # three of a node
LISTEN = f"import socket as s; x=s.create_server(('',{PORT})); print(1,flush=True); input()"
PREEMPTION = "yarn.resourcemanager.monitor.capacity.preemption."
SITE = {
    "yarn.nm.liveness-monitor.expiry-interval-ms": "15000",
    "yarn.nodemanager.recovery.enabled": "true",  # for the end of what a lost node has kept
    "yarn.resourcemanager.scheduler.monitor.enable": "true",
    f"{PREEMPTION}monitoring_interval": "500",
    f"{PREEMPTION}max_wait_before_kill": "1000",
    f"{PREEMPTION}total_preemption_per_round": "1.0",
    f"{PREEMPTION}natural_termination_factor": "1.0",
    f"{PREEMPTION}max_ignored_over_capacity": "0",
}
URGENT = "urgent"
QUEUES = {
    "yarn.scheduler.capacity.root.queues": f"default,{URGENT}",
    "yarn.scheduler.capacity.root.default.capacity": "50",
    "yarn.scheduler.capacity.root.default.user-limit-factor": "4",
    f"yarn.scheduler.capacity.root.{URGENT}.capacity": "50",
    f"yarn.scheduler.capacity.root.{URGENT}.user-limit-factor": "4",
}
TRANSIENT = {"transientNormalRetriedCount"}


@contextlib.contextmanager
def taken(c):
    """The port is another program's, on every node."""
    with contextlib.ExitStack() as stack:
        for node in c.nodes:
            argv = [*node.host.enter, sys.executable, "-c", LISTEN]
            one = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            stack.enter_context(one)
            stack.callback(one.kill)
            if one.stdout.readline() != b"1\n":
                raise ClusterError(f"{node.address}: port {PORT} is not free")
        yield


def ports_taken(x):
    """-7103, for another try, where the node looks: the task runs once the port is free. Apache's
    NodeManager does not look."""
    port = {"p": {"start": PORT, "count": 1}}
    roles = {
        "N": x.role(SLEEP, ports=port, **NO_POLICY),
        "R": x.role(SLEEP, ports=port, retry=FANCY, **NO_POLICY),
    }
    looks = x.c.peer_nm == peers.SELVEDGE
    with taken(x.c):
        x.put("ports", roles, antiaffinityAllocation=True)
        if looks:
            x.f.until(
                "ports",
                lambda t: t and t["N-0"]["taskState"] == COMPLETED and counts(t["R-0"]),
                "an end and a retry",
                120,
            )
        else:
            x.f.until_running("ports", 2)
    tasks = x.f.until(
        "ports", lambda t: t["R-0"]["taskState"] == RUNNING, "its task runs on a free port", 120
    )
    expect("its port", tasks["R-0"]["containerPorts"], f"p:{PORT};")
    ends = (tasks["N-0"]["containerExitCode"], tasks["N-0"]["containerExitType"])
    expect("without a retry", ends, (-7103, "TRANSIENT_NORMAL") if looks else (None, None))
    expect("retries", set(counts(tasks["R-0"])), TRANSIENT if looks else set())
    x.end("ports")


def preempted(x):
    """Tasks above their queue's guarantee give way to another queue's: -7120, for another try,
    which runs when that one has gone."""
    roles = {
        "N": x.role(SLEEP, 2, TASK_MB, **NO_POLICY),
        "R": x.role(SLEEP, 2, TASK_MB, retry=FANCY, **NO_POLICY),
    }
    x.put("greedy", roles)
    x.f.until_running("greedy", 4)
    for n in (5, 6, 7, 8):  # the last ones that are given are the first that are taken
        x.scale("greedy", "RN"[n % 2], (n + 1) // 2)
        before = x.f.until_running("greedy", n)
    x.put(URGENT, {"W": x.role(SLEEP, 4, TASK_MB)}, queue=URGENT)
    x.f.until_running(URGENT, 4)

    def taken_from(tasks):
        """Those that have ended, and those that are retried."""
        return (
            {name for name, t in tasks.items() if t["taskState"] == COMPLETED},
            {name for name, t in tasks.items() if counts(t)},
        )

    tasks = x.f.until("greedy", lambda t: all(taken_from(t)), "an end and a retry")
    ended, retried = taken_from(tasks)
    for name in ended:
        task = tasks[name]
        ends = (task["containerExitCode"], task["containerExitType"])
        expect(name, (name[0], ends), ("N", (-7120, "TRANSIENT_NORMAL")))
    x.end(URGENT)
    after = x.f.until(
        "greedy",
        lambda t: all(one["taskState"] in (RUNNING, COMPLETED) for one in t.values()),
        "what was taken runs again",
        120,
    )
    ended, retried = taken_from(after)
    expect("tasks that may not be retried", {name[0] for name in ended}, {"N"})
    kept({name: task for name, task in before.items() if name not in ended | retried}, after)
    for name in retried:
        expect(name, (name[0], set(counts(after[name]))), ("R", TRANSIENT))
    x.end("greedy")


def node_of(c, address):
    return next(node for node in c.nodes if node.address == address)


def master_host(x, name):
    app = x.c.rm_get(f"/ws/v1/cluster/apps/{x.f.state(name)['applicationId']}")["app"]
    return app["amHostHttpAddress"].rsplit(":", 1)[0]


def lost(x):
    """Its tasks are retried on another node, and end as -7111 where they may not be; those of other
    nodes stay."""
    one, each = x.role(SLEEP, 2, retry=FANCY), x.role(SLEEP, 3, **NO_POLICY)
    for name, which in (("lost", one), ("ended", each)):
        x.put(name, {"W": which}, antiaffinityAllocation=True)
    before = x.f.until_running("lost", 2)
    ended = x.f.until_running("ended", 3)
    masters = [master_host(x, name) for name in ("lost", "ended")]
    hosts = {task["containerHost"]: name for name, task in before.items()}
    away = next(iter(sorted(set(hosts) - {masters[0]}, key=lambda host: host == masters[1])))
    gone, orphans = hosts[away], [t["containerId"] for t in (*before.values(), *ended.values())]
    node_of(x.c, away).process.kill()
    tasks = x.f.until(
        "lost",
        lambda t: t[gone]["taskState"] == RUNNING and counts(t[gone]),
        f"{gone} runs again, without {away}",
        120,
    )
    expect("its host", tasks[gone]["containerHost"] not in hosts, True)
    expect("its retries", counts(tasks[gone]), {"transientNormalRetriedCount": 1})
    kept({name: task for name, task in before.items() if name != gone}, tasks)
    tasks = x.f.until(
        "ended", lambda t: any(one["taskState"] == COMPLETED for one in t.values()), "an end", 120
    )
    for name, task in tasks.items():
        if ended[name]["containerHost"] == away:
            ends = (task["containerExitCode"], task["containerExitType"], counts(task))
            expect(name, ends, (-7111, "TRANSIENT_NORMAL", {}))
        else:
            expect(name, (task["taskState"], counts(task)), (RUNNING, {}))
            kept({name: ended[name]}, {name: task})
    for name in ("lost", "ended"):
        x.end(name, False)  # on the lost node nobody ends them
    x.lost, x.orphans = away, orphans


def returned(x):
    """With the NodeManager, the processes of what was lost with it end."""
    node = node_of(x.c, x.lost)
    peers.start_node(x.c, node)
    peers.wait_nodes(x.c)
    x.c.wait(lambda: not any(processes(i) for i in x.orphans), 120, f"{x.lost} has none of them")
