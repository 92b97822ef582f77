"""A long-running service on a test's cluster: its definition on a WebHDFS of the test's, its master
submitted as the services API does, and calls to that master."""
import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request

from cluster import ClusterError
from lib.scripted_webhdfs import WebHdfs

HOME = "/services"


class RunningService:
    """`definition`: of the services API, with a name."""

    def __init__(self, c, definition):
        self.c, self.name, self.user = c, definition["name"], c.users[0].pw_name
        self.web = WebHdfs()
        for directory in ("", "/users", "/users/services", f"/users/services/{self.name}"):
            self.web.dirs[f"{HOME}{directory}"] = 0o700
        self.path = f"{HOME}/users/services/{self.name}/{self.name}.json"
        self.url = f"webhdfs://{self.web.server}{self.path}"
        self.store(definition)
        self.app = None

    def store(self, definition, version=None):
        directory = os.path.dirname(self.path)
        path = f"{directory}/upgrade/{version}/{self.name}.json" if version else self.path
        if version:
            self.web.dirs[f"{directory}/upgrade"] = 0o700
            self.web.dirs[f"{directory}/upgrade/{version}"] = 0o700
        self.web.files[path] = json.dumps(definition).encode()
        self.web.modes[path] = 0o600

    def stored(self):
        return json.loads(self.web.files[self.path])

    def records(self):
        """{path: record} of the registry, the service's own path cut off; {} for none."""
        top = f"{os.path.dirname(self.path)}/registry/users"
        mine = f"{top}/{self.user.lower().replace('_', '-')}/services/yarn-service/{self.name}"
        return {
            path.removeprefix(mine).removesuffix("/_record"): json.loads(text)
            for path, text in list(self.web.files.items())
            if path.startswith(top) and path.endswith("/_record")
        }

    # ---- YARN ----

    def rm(self, path, body=None):
        url = f"{self.c.rm_url}/ws/v1/cluster{path}?user.name={self.user}"
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise ClusterError(f"{path}: {error.code} {error.read()[:500]}") from None
        return json.loads(text) if text else None

    def _resource(self, directory, source, name):
        path = f"{directory}/{name}"
        shutil.copyfile(source, path)
        os.chmod(path, 0o755)
        os.utime(path, (1700000000, 1700000000))
        return {
            "key": name,
            "value": {
                "resource": f"file://{path}",
                "type": "FILE",
                "visibility": "APPLICATION",
                "size": os.path.getsize(path),
                "timestamp": 1700000000000,
            },
        }

    def submit(self, attempts=5):
        """As the services API does: the program, a configuration, and the definition's URL."""
        c = self.c
        directory = c.user_dir(f"master-{self.name}")
        self.app = self.rm("/apps/new-application", {})["application-id"]
        self.rm(
            "/apps",
            {
                "application-id": self.app,
                "application-name": self.name,
                "application-type": "yarn-service",
                "max-app-attempts": attempts,
                "keep-containers-across-application-attempts": True,
                "resource": {"memory": 128, "vCores": 1},
                "am-container-spec": {
                    "local-resources": {
                        "entry": [
                            self._resource(
                                directory,
                                f"{c.nodes[0].libexec}/selvedge-service-am",
                                "selvedge-service-am",
                            ),
                            self._resource(
                                directory, f"{c.conf_dir}/yarn-site.xml", "yarn-site.xml"
                            ),
                        ]
                    },
                    "environment": {
                        "entry": [
                            {"key": "HADOOP_CONF_DIR", "value": "{{PWD}}"},
                            {"key": "HADOOP_USER_NAME", "value": self.user},
                        ]
                    },
                    "commands": {
                        "command": f"exec ./selvedge-service-am -yarnfile {self.url} "
                        f"-service_name {self.name} 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr"
                    },
                },
            },
        )
        return self.app

    def report(self):
        return self.rm(f"/apps/{self.app}")["app"]

    def master(self):
        """Host and port of the running master; None: there is none."""
        address = self.report().get("amRPCAddress", "")
        host, _, port = address.rpartition(":")
        return (host, port) if host and port not in ("-1", "0") else None

    def master_pid(self):
        for pid in self.c.container_processes():
            try:
                with open(f"/proc/{pid}/comm", encoding="ascii") as f:
                    if f.read().startswith("selvedge-servic"):
                        return pid
            except OSError:
                pass
        return None

    # ---- The master ----

    def call(self, method, *args, user=None):
        """Exit status and output of one call of ClientAMProtocol."""
        where = self.master()
        if not where:
            return 1, "no master"
        program = os.path.join(self.c.build, "tests/integration/service/service-call")
        done = subprocess.run(
            [program, *where, user or self.user, method, *args],
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.returncode, done.stdout

    def status(self):
        code, text = self.call("getStatus")
        return json.loads(text) if code == 0 else None

    def containers(self, component=None):
        """{instance: container} of the status."""
        status = self.status() or {"components": []}
        return {
            i["component_instance_name"]: i
            for c in status["components"]
            if component in (None, c["name"])
            for i in c["containers"]
        }

    def wait(self, condition, what, seconds=60):
        self.c.wait(condition, seconds, f"{self.name}: {what}")

    def wait_stable(self, **counts):
        """Waits until the service is STABLE with these numbers of instances."""

        def stable():
            status = self.status()
            if not status or status["state"] != "STABLE":
                return False
            live = {c["name"]: len(c["containers"]) for c in status["components"]}
            return all(live[name] == n for name, n in counts.items())

        self.wait(stable, f"STABLE with {counts}")

    def web_port(self, path, method="GET", body=None, user=None, **headers):
        """Status, headers and text of a request at the tracking URL itself."""
        return self._web(self.own_url(), path, method, body, user, headers)

    def proxied(self, path, method="GET", body=None, user=None, **headers):
        """The same by the ResourceManager's proxy."""
        return self._web(f"{self.c.rm_url}/proxy/{self.app}", path, method, body, user, headers)

    def _web(self, base, path, method, body, user, headers):
        url = f"{base}{path}?user.name={user or self.user}"
        request = urllib.request.Request(url, body and body.encode(), headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, dict(answer.headers), answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, dict(error.headers), error.read().decode()

    def own_url(self):
        """The tracking URL as the master registered it: by its process' listening socket."""
        pid = self.master_pid()
        ports = listening_ports(pid)
        rpc = int(self.master()[1])
        return f"http://{self.master()[0]}:{next(p for p in ports if p != rpc)}"

    def end(self):
        """Kills the application if a failed test left it."""
        if self.app and self.report()["state"] not in ("FINISHED", "FAILED", "KILLED"):
            self.c.selvedge("kill", self.app)

    def close(self):
        self.web.close()


def listening_ports(pid):
    """TCP ports on which a process listens."""
    inodes = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{fd}")
        except OSError:
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    found = []
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{table}", encoding="ascii") as f:
            for line in list(f)[1:]:
                field = line.split()
                if field[3] == "0A" and field[9] in inodes:
                    found.append(int(field[1].rpartition(":")[2], 16))
    return found
