"""Frameworks of a secure cluster (interop/secure.py, Settings.services): selvedge-services submits
their masters in its callers' names; these and their tasks read and write HDFS with the token of the
submission, and the master asks Apache's ResourceManager for its containers with another one."""
import os

from cluster import ClusterError
from interop import services
from interop.cases import secure_services
from lib.frameworks import RUNNING, descriptor, role
from lib.job_runs import expect

NAME = "alice-train"
# Kinds of a task's tokens, and that it has read what only its user may read.
SCRIPT = b"""#!/bin/bash
echo WHO $(id -un) $(grep -aoE '[A-Z_]*TOKEN' $HADOOP_TOKEN_FILE_LOCATION) $(head -1 private.txt)
exec sleep 7777
"""
LIST_MS = 2000  # a master's expiry: a list each (2 s + 60 s) / 6


def keys(s):
    state = f"{s.c.root}/frameworks"
    if not os.path.isdir(state):
        os.mkdir(state, 0o700)
        os.chown(state, s.c.daemon.pw_uid, s.c.daemon.pw_gid)
    return {
        "selvedge.framework.enabled": "true",
        "selvedge.framework.state-dir": state,
        "yarn.nm.liveness-monitor.expiry-interval-ms": LIST_MS,  # its masters' alone
    }


class Framework:
    def __init__(self, s, launcher):
        self.s, self.launcher = s, launcher

    def said(self, what):
        return self.launcher.expect(200, "GET", f"/{NAME}/{what}", self.s.alice)

    def tasks(self):
        roles = self.said("AggregatedFrameworkStatus")["aggregatedTaskRoleStatuses"] or {}
        return [t for one in roles.values() for t in one["taskStatuses"]["taskStatusArray"]]

    def until_running(self, count):
        """Their containers, once so many tasks run."""

        def run():
            found = self.tasks()
            well = all(task["taskState"] == RUNNING for task in found)
            return {t["taskIndex"]: t["containerId"] for t in found} if well else None

        last = {}

        def met():
            last["run"] = run()
            return last["run"] and len(last["run"]) == count

        try:
            self.s.c.wait(met, 120, f"{count} tasks run")
        except ClusterError as error:
            raise ClusterError(
                f"{error}: {self.tasks()} {self.said('FrameworkStatus')}{self.launcher.log()}"
                f"{secure_services.logs(self.s)}"
            ) from None
        return last["run"]

    def application(self):
        app = self.said("FrameworkStatus")["applicationId"]
        return self.s.c.rm_get(f"/ws/v1/cluster/apps/{app}")["app"]


def output(s, container):
    for directory in s.node.log_dirs:
        for place, _, names in os.walk(directory):
            if place.endswith(container) and "stdout" in names:
                with open(f"{place}/stdout", encoding="utf-8") as f:
                    return f.read()
    return ""


def lists(s):
    """How many lists of containers Apache's ResourceManager has given."""
    port = s.c.ports["client"]
    query = f"qry=Hadoop:service=ResourceManager,name=RpcDetailedActivityForPort{port}"
    return (s.c.rm_get(f"/jmx?{query}")["beans"] or [{}])[0].get("GetContainersNumOps", 0)


def frameworks(s):
    """From PUT to stop, by one user; another one changes nothing."""
    alice, user = s.alice, s.alice.account.pw_name
    script = f"{alice.home}/run.sh"
    s.hdfs.put(script, SCRIPT, replicas=1, owner=user, mode="600")
    one = role("bash run.sh", s.hdfs.url(script), 2)
    one["taskService"]["sourceLocations"].append(s.hdfs.url(f"{alice.home}/private.txt"))
    body = descriptor(user, {"W": one})
    with secure_services.api(s, keys(s)) as a:
        launcher = a.launcher
        f = Framework(s, launcher)
        launcher.expect(401, "PUT", f"/{NAME}", None, body)
        launcher.expect(403, "PUT", f"/{NAME}", s.bob, body)
        before = secure_services.tokens(s)
        launcher.expect(202, "PUT", f"/{NAME}", alice, body)
        first = f.until_running(2)
        expect("whose application", f.application()["user"], user)
        expect("tokens of HDFS", secure_services.tokens(s), before + 1)
        for container in first.values():
            s.c.wait(lambda c=container: "WHO" in output(s, c), 60, "the task has spoken")
            words = output(s, container).strip()
            content = s.content(f"{alice.home}/private.txt").split(b"\n")[0].decode()
            expect("a task", words, f"WHO {user} HDFS_DELEGATION_TOKEN {content}")
        listed = lists(s)
        s.c.wait(lambda: lists(s) > listed, 60, "a list of containers")
        info = f"{alice.home}/.yarn/services/"
        expect("published", "FrameworkInfo.json" in s.hdfs.ask("list", info), True)
        launcher.expect(202, "PUT", f"/{NAME}/ExecutionType", alice, {"executionType": "STOP"})
        s.c.wait(lambda: f.application()["state"] in services.ENDED, 60, "its end")
        s.c.wait(lambda: secure_services.tokens(s) == before, 60, "its token of HDFS is gone")
        launcher.expect(202, "DELETE", f"/{NAME}", alice)


CASES = [frameworks]
