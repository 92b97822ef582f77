"""A service of the services API whose containers say their instance's name, and what must hold of
it whatever is killed: one container an instance, no process and no cgroup besides."""
import http.client
import os
import threading

from cluster import ClusterError, host

SLEEP = 7000  # seconds, and the version
WEB = 3


def component(name, count, version, **more):
    return {
        "name": name,
        "number_of_containers": count,
        "launch_command": f"exec sleep {SLEEP + version}",
        "resource": {"cpus": 1, "memory": "32"},
        "configuration": {
            "env": {"INSTANCE": "${COMPONENT_INSTANCE_NAME}"},
            "properties": {"yarn.service.container-failure.retry.max": "0"},
        },
        **more,
    }


class Request(threading.Thread):
    """A call of the API in a thread: `answer` is None where the connection broke."""

    def __init__(self, api, *call, user):
        super().__init__()
        self.api, self.call, self.user, self.answer = api, call, user, None
        self.start()

    def run(self):
        try:
            self.answer = self.api.ask(*self.call, user=self.user)
        except (OSError, http.client.HTTPException, ValueError):
            pass  # the server was killed

    def taken(self):
        """The status of the answer; None: there is none."""
        self.join()
        if self.answer and self.answer[0] in (401, 403, 415):
            raise ClusterError(f"{self.call[:2]}: {self.answer}")
        return self.answer and self.answer[0]


class KeptService:
    """`attempts`: of the master."""

    def __init__(self, c, api, name, attempts=1000):
        self.c, self.api, self.name, self.user = c, api, name, c.users[0].pw_name
        self.version, self.attempts = 1, attempts
        self.counts = {"db": 1, "web": WEB}
        self.seen_twice = None

    def definition(self, version=1):
        return {
            "name": self.name,
            "version": str(version),
            "configuration": {
                "properties": {"yarn.service.am-restart.max-attempts": str(self.attempts)}
            },
            "components": [
                component("db", self.counts["db"], version),
                component("web", self.counts["web"], version, dependencies=["db"]),
            ],
        }

    # ---- Requests, which are repeated until they are known to be accepted ----

    def request(self, method, path, body):
        return Request(self.api, method, path, body, user=self.user)

    def ask(self, method, body=None, path=None):
        """Status and JSON about the service, or by another path; None while nobody answers."""
        path = f"/{self.name}" if path is None else path
        try:
            return self.api.ask(method, path, body, user=self.user)
        except (OSError, http.client.HTTPException):
            return None, None

    def launch(self):
        return self.request("POST", "", self.definition())

    def launched(self, request):
        """Repeats it, as its user would: what was stored is started."""
        if request.taken() == 202:
            return

        def accepted():
            status, said = self.ask("GET")
            if status == 404:
                return self.ask("POST", self.definition(), "")[0] == 202
            if status == 200 and said["state"] == "STOPPED":
                return self.ask("PUT", {"state": "STARTED"})[0] == 200
            return status == 200

        self.c.wait(accepted, host.PATIENCE, f"{self.name} is launched")

    def flex(self, count):
        self.counts["web"] = count
        return self.request("PUT", f"/{self.name}/components/web", {"number_of_containers": count})

    def flexed(self, request):
        if request.taken() == 200:
            return
        self.c.wait(
            lambda: self.flex(self.counts["web"]).taken() == 200,
            host.PATIENCE,
            f"{self.name} is flexed",
        )

    def upgrade(self):
        self.version += 1
        body = {**self.definition(self.version), "state": "EXPRESS_UPGRADING"}
        return self.request("PUT", f"/{self.name}", body)

    def upgraded(self, request):
        if request.taken() == 202:
            return
        body = {**self.definition(self.version), "state": "EXPRESS_UPGRADING"}

        def accepted():
            status, said = self.ask("GET")
            if status == 200 and (
                said.get("version") == str(self.version) or "UPGRADING" in said["state"]
            ):
                return True
            return self.ask("PUT", body)[0] == 202

        self.c.wait(accepted, host.PATIENCE, f"{self.name} is upgraded")

    def stop(self):
        self.c.wait(
            lambda: self.ask("PUT", {"state": "STOPPED"})[0] in (200, 400),
            host.PATIENCE,
            f"{self.name} is stopped",
        )

    def destroy(self):
        self.stop()
        self.c.wait(
            lambda: self.ask("DELETE")[0] in (200, 404), host.PATIENCE, f"{self.name} is destroyed"
        )

    # ---- What runs ----

    def processes(self):
        """{instance: {container: seconds that it sleeps}} of the processes in the cgroups."""
        found = {}
        for pid in self.c.cgroup.pids():
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    words = f.read().split(b"\0")
                with open(f"/proc/{pid}/environ", "rb") as f:
                    env = dict(v.split(b"=", 1) for v in f.read().split(b"\0") if b"=" in v)
            except OSError:
                continue
            if words[0] == b"sleep" and b"INSTANCE" in env:
                containers = found.setdefault(env[b"INSTANCE"].decode(), {})
                containers[env[b"CONTAINER_ID"].decode()] = int(words[1])
        twice = {name: ids for name, ids in found.items() if len(ids) > 1}
        if twice:
            self.seen_twice = twice
        return found

    def names(self):
        return sorted(f"{name}-{i}" for name, n in self.counts.items() for i in range(n))

    def as_desired(self):
        """The service's state, its containers and the processes are what was asked for: {instance:
        container}, else None."""
        found = self.processes()
        if sorted(found) != self.names():
            return None
        seconds = {s for containers in found.values() for s in containers.values()}
        if seconds != {SLEEP + self.version}:
            return None
        status, said = self.ask("GET")
        if status != 200 or said["state"] != "STABLE" or said["version"] != str(self.version):
            return None
        rows = {
            row["component_instance_name"]: row["id"]
            for one in said["components"]
            for row in one["containers"]
            if row["state"] == "READY"
        }
        return (
            rows
            if {name: {i} for name, i in rows.items()}
            == {name: set(ids) for name, ids in found.items()}
            else None
        )

    def settled(self, seconds=host.PATIENCE):
        """Waits for it; {instance: container}."""
        self.seen_twice = None
        try:
            found = self.c.wait(self.as_desired, seconds, f"{self.name} is as desired")
        except ClusterError as error:
            raise ClusterError(
                f"{error}: wanted {self.names()} of version {self.version}; processes "
                f"{self.processes()}; status {self.ask('GET')}; {self.app().get('diagnostics')}"
            ) from None
        if self.seen_twice:
            raise ClusterError(f"{self.name}: an instance ran twice: {self.seen_twice}")
        self.c.wait(lambda: self.orphans(found) == [], seconds, f"{self.orphans(found)} are gone")
        return found

    def orphans(self, found):
        """Cgroups of other containers than these and the master's."""
        wanted, masters, others = set(found.values()), [], []
        for path in self.c.cgroup.leaves():
            leaf = os.path.basename(path)
            if not leaf.startswith("container_"):
                continue
            if leaf in wanted:
                continue
            (masters if leaf.endswith("_000001") else others).append(leaf)
        return others + masters[1:]

    def app(self):
        """The ResourceManager's report of its application; {} for none."""
        listed = (self.c.rm_get("/ws/v1/cluster/apps") or {}).get("apps") or {}
        apps = [a for a in listed.get("app") or [] if a["name"] == self.name]
        return max(apps, key=lambda a: a["id"], default={})

    def master_pid(self):
        """The process of the master of its running attempt; None: there is none now."""
        for pid in self.c.cgroup.pids():
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    words = f.read().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"selvedge-service-am") and self.name.encode() in words:
                return pid
        return None
