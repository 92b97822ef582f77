"""Frameworks of the FrameworkLauncher on a test's cluster: descriptors, calls of its REST API at
selvedge-services, and what must hold of tasks whatever is killed."""
import http.client
import json
import os

from cluster import ClusterError, host

RUNNING = "CONTAINER_RUNNING"
COMPLETED = "TASK_COMPLETED"
FANCY = {"fancyRetryPolicy": True, "maxRetryCount": 2}


def role(command, source, tasks=1, retry=None, ports=None, resource=None, **more):
    return {
        "taskNumber": tasks,
        "taskRetryPolicy": retry or {},
        "taskService": {
            "version": 1,
            "entryPoint": command,
            "sourceLocations": [source],
            "resource": {
                "cpuNumber": 1,
                "memoryMB": 32,
                "portDefinitions": ports or {},
                **(resource or {}),
            },
        },
        **more,
    }


def descriptor(user, roles, version=1, **platform):
    return {
        "version": version,
        "user": {"name": user},
        "taskRoles": roles,
        "platformSpecificParameters": {"amResource": {"cpuNumber": 1, "memoryMB": 128}, **platform},
    }


class Frameworks:
    """`port`: of selvedge-services."""

    def __init__(self, c, port):
        self.c, self.port, self.user = c, port, c.users[0].pw_name

    def ask(self, method, path, body=None, user=None):
        """Status and JSON, or None."""
        connection = http.client.HTTPConnection(self.c.address, self.port, timeout=host.PATIENCE)
        headers = {"Content-Type": "application/json", "UserName": user or self.user}
        text = None if body is None else json.dumps(body)
        try:
            connection.request(
                method, f"/v1{path}?user.name={user or self.user}", text, headers=headers
            )
            answer = connection.getresponse()
            said = answer.read()
            return answer.status, json.loads(said) if said.strip() else None
        finally:
            connection.close()

    def put(self, name, body):
        status, said = self.ask("PUT", f"/Frameworks/{name}", body)
        if status != 202:
            raise ClusterError(f"{name}: {status} {said}")

    def names(self):
        said = self.ask("GET", "/Frameworks")[1]
        return [one["frameworkName"] for one in said["summarizedFrameworkInfos"]]

    def status(self, name):
        status, said = self.ask("GET", f"/Frameworks/{name}/AggregatedFrameworkStatus")
        return said if status == 200 else None

    def state(self, name):
        """FrameworkStatus; {} before there is one."""
        return (self.status(name) or {}).get("frameworkStatus") or {}

    def tasks(self, name):
        """{"ROLE-INDEX": TaskStatus}."""
        roles = (self.status(name) or {}).get("aggregatedTaskRoleStatuses") or {}
        return {
            f"{role}-{task['taskIndex']}": task
            for role, one in roles.items()
            for task in one["taskStatuses"]["taskStatusArray"]
        }

    def until(self, name, condition, what, seconds=60):
        """Waits for a condition of the tasks; returns these."""
        last = {}

        def met():
            last["tasks"] = self.tasks(name)
            return condition(last["tasks"])

        try:
            self.c.wait(met, seconds, f"{name}: {what}")
        except ClusterError as error:
            states = {t: (s["taskState"], s["containerExitCode"]) for t, s in last["tasks"].items()}
            raise ClusterError(f"{error}: {states}, {self.state(name)}") from None
        return last["tasks"]

    def until_running(self, name, n):
        def run(tasks):
            return len(tasks) == n and all(t["taskState"] == RUNNING for t in tasks.values())

        tasks = self.until(name, run, f"{n} tasks run")
        containers = [t["containerId"] for t in tasks.values()]
        if len(set(containers)) != n:
            raise ClusterError(f"{name}: two tasks in one container: {containers}")
        return tasks

    def until_ended(self, name, seconds=60):
        def ended():
            return self.state(name).get("frameworkState") == "FRAMEWORK_COMPLETED"

        try:
            self.c.wait(ended, seconds, f"{name} has ended")
        except ClusterError as error:
            raise ClusterError(f"{error}: {self.state(name)} {self.tasks(name)}") from None
        return self.state(name)

    def master_pids(self, name):
        """The masters of a framework that run."""
        found = []
        for pid in self.c.container_processes():
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    words = f.read().split(b"\0")
                with open(f"/proc/{pid}/environ", "rb") as f:
                    variables = f.read().split(b"\0")
            except OSError:
                continue
            if b"-framework" in words and f"FRAMEWORK_NAME={name}".encode() in variables:
                found.append(int(pid))
        return found

    def output(self, task):
        """What a container has written to its stdout."""
        for node in self.c.nodes:
            for directory in node.log_dirs:
                for place, _, names in os.walk(directory):
                    if place.endswith(task["containerId"]) and "stdout" in names:
                        with open(f"{place}/stdout", encoding="utf-8", errors="replace") as f:
                            return f.read()
        return ""
