"""Frameworks of task roles in one pairing of ResourceManager and nodes: what their tasks do by
themselves. A batch, a role that grows and shrinks, an end of each class, and a gang."""
import os

from interop.service import processes
from lib.frameworks import COMPLETED, Frameworks, descriptor, role
from lib.job_runs import expect

NODE_MB, GANG_MB = 1024, 192  # no node has room for all tasks of the gang
BATCH = 100
# class: what a task does for it, its exit code, the counter of its retries
CLASSES = {
    "SUCCEEDED": ("exit 0", 0, None),
    "UNKNOWN": ("exit 5", 5, "unKnownRetriedCount"),
    "TRANSIENT_NORMAL": ("kill -9 $$", 137, "transientNormalRetriedCount"),
    "TRANSIENT_CONFLICT": ("exit 195", 195, "transientConflictRetriedCount"),
    "NON_TRANSIENT": ("exit 194", 194, "nonTransientRetriedCount"),
}
EXITS = """- code: 137
  type: TRANSIENT_NORMAL
- code: 194
  type: NON_TRANSIENT
- code: 195
  type: TRANSIENT_CONFLICT
"""
# `fails N COMMAND`: the first N containers of the task do the command, later ones succeed.
SCRIPT = """#!/bin/bash
echo ADDRESSES $(cat task-addresses 2>/dev/null)
fails() {
    at=%s/$FRAMEWORK_NAME.$TASK_ROLE_NAME-$TASK_INDEX
    echo >>$at
    [ $(wc -l <$at) -gt $1 ] && exit 0
    shift
    eval "$@"
}
eval "$1"
"""
SLEEP = "exec sleep 7777"
FANCY = {"fancyRetryPolicy": True, "maxRetryCount": 1}
NO_POLICY = {"applicationCompletionPolicy": {"minFailedTaskCount": None}}


class Cell:
    """`api`: selvedge-services of the cluster."""

    def __init__(self, c, api):
        self.c, self.api, self.f = c, api, Frameworks(c, api.port)
        self.f.user = c.submitter.pw_name
        self.source = f"{c.root}/services/run.sh"
        started = f"{c.root}/services/started"
        os.mkdir(started)
        os.chmod(started, 0o1777)
        with open(self.source, "w", encoding="ascii") as f:
            f.write(SCRIPT % started)
            os.fchmod(f.fileno(), 0o644)

    def role(self, command, tasks=1, memory=32, **more):
        made = role(f"bash run.sh '{command}'", f"file://{self.source}", tasks, **more)
        made["taskService"]["resource"]["memoryMB"] = memory
        return made

    def put(self, name, roles, retry=None, **more):
        made = descriptor(self.f.user, roles, **more)
        self.f.put(name, {**made, "retryPolicy": retry or {}})

    def scale(self, name, which, tasks):
        path = f"/Frameworks/{name}/TaskRoles/{which}/TaskNumber"
        expect("scale", self.f.ask("PUT", path, {"taskNumber": tasks})[0], 202)

    def clear(self):
        """Ends the frameworks of a case that has failed."""
        for one in self.f.ask("GET", "/Frameworks")[1]["summarizedFrameworkInfos"]:
            self.f.ask("DELETE", f"/Frameworks/{one['frameworkName']}")
        self.c.wait(
            lambda: self.c.rm_get("/ws/v1/cluster/metrics")["clusterMetrics"]["allocatedMB"] == 0,
            60,
            "all containers have ended",
        )

    def end(self, name, processes_end=True):
        """Stops it; none of its containers has a process any more."""
        containers = [task["containerId"] for task in self.f.tasks(name).values()]
        path = f"/Frameworks/{name}/ExecutionType"
        expect("stop", self.f.ask("PUT", path, {"executionType": "STOP"})[0], 202)
        expect("its end", self.f.until_ended(name, 120)["applicationExitCode"], -7351)
        if processes_end:
            self.c.wait(
                lambda: not any(processes(i) for i in containers if i),
                60,
                f"{name}'s processes have ended",
            )


def kept(before, after):
    """These tasks are in the containers that they had."""
    for name in set(before) & set(after):
        expect(name, after[name]["containerId"], before[name]["containerId"])


def counts(task):
    return {key: n for key, n in task["taskRetryPolicyState"].items() if n}


def batch(x):
    x.put("batch", {"W": x.role("exit 0", BATCH)})
    end = x.f.until_ended("batch", 300)
    expect("end", (end["applicationExitCode"], end["applicationExitType"]), (0, "SUCCEEDED"))
    tasks = x.f.tasks("batch").values()
    expect("codes", [task["containerExitCode"] for task in tasks], [0] * BATCH)
    expect("containers", len({task["containerId"] for task in tasks}), BATCH)


def scaled(x):
    """Those that stay keep their containers."""
    x.put("scaled", {"W": x.role(SLEEP, 3)})
    before = x.f.until_running("scaled", 3)
    for count in (10, 2):
        x.scale("scaled", "W", count)
        after = x.f.until_running("scaled", count)
        expect("tasks", sorted(after), sorted(f"W-{i}" for i in range(count)))
        kept(before, after)
        before = after
    x.end("scaled")


def classes(x):
    """Of each class a task without a policy that knows it, retried once and counted; and one with
    such a policy, whose retries of what is transient are not bounded: two are needed."""
    roles = {}
    for name, (what, _, _) in CLASSES.items():
        roles[f"{name}.normal"] = x.role(what, retry={"maxRetryCount": 1}, **NO_POLICY)
        fails = f"fails 2 {what}" if name.startswith("TRANSIENT") else what
        roles[f"{name}.fancy"] = x.role(fails, retry=FANCY, **NO_POLICY)
    x.put("classes", roles)
    end = x.f.until_ended("classes", 180)
    expect("end", end["applicationExitType"], "SUCCEEDED")  # no policy was triggered
    tasks = x.f.tasks("classes")
    for name, (_, code, counter) in CLASSES.items():
        once = {"retriedCount": 1, counter: 1} if counter else {}
        wanted = {"normal": (code, name, once), "fancy": (code, name, once)}
        if name.startswith("TRANSIENT"):
            wanted["fancy"] = (0, "SUCCEEDED", {counter: 2})
        elif name == "NON_TRANSIENT":
            wanted["fancy"] = (code, name, {})
        for policy, ends in wanted.items():
            task = tasks[f"{name}.{policy}-0"]
            found = (task["containerExitCode"], task["containerExitType"], counts(task))
            expect(f"{name}, {policy}", found, ends)
            expect(f"{name}, {policy}", task["taskState"], COMPLETED)


def final(x):
    """A framework whose first attempt fails as its one task: retried as its own policy says."""
    names = [name for name in CLASSES if name != "SUCCEEDED"]
    for name in names:
        x.put(f"final-{name}", {"W": x.role(f"fails 1 {CLASSES[name][0]}")}, FANCY)
    for name in names:
        _, code, counter = CLASSES[name]
        end = x.f.until_ended(f"final-{name}", 180)
        wanted = (0, "SUCCEEDED", {counter: 1})
        if name == "UNKNOWN":  # counted as a retry
            wanted = (0, "SUCCEEDED", {counter: 1, "retriedCount": 1})
        elif name == "NON_TRANSIENT":
            wanted = (code, name, {})
        retries = {k: n for k, n in end["frameworkRetryPolicyState"].items() if n}
        expect(name, (end["applicationExitCode"], end["applicationExitType"], retries), wanted)


def gang(x):
    """Each task finds all of them in its file when it starts."""
    roles = {"P": x.role(SLEEP, 1, GANG_MB), "W": x.role(SLEEP, 7, GANG_MB)}
    x.put("gang", roles, gangAllocation=True)
    tasks = x.f.until_running("gang", 8)
    expect("hosts", len({task["containerHost"] for task in tasks.values()}), 2)
    for task in tasks.values():
        x.c.wait(lambda t=task: x.f.output(t).count("W ") == 7, 60, "the addresses")
        line = x.f.output(task)
        for name in tasks:
            expect(f"{name} in {line}", name.replace("-", " ") in line, True)
    x.end("gang")
