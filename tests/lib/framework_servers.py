"""Frameworks on two selvedge-services of a test's cluster with their state in ZooKeeper, of which
one is active: redirects of the other; one that is killed, ended in order, and stopped until its
session has ended; the tasks run on, there is one master, and what was stopped writes nothing."""
import http.client
import json
import os
import signal
import socket
import subprocess

from cluster import Cluster, host
from lib import services_api, services_cluster
from lib.frameworks import Frameworks, descriptor, role
from lib.job_runs import expect

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DRIVER = os.path.join(
    TOP, os.environ.get("BUILD") or "build", "tests", "integration", "service", "launcher-store"
)
ROOT = "/selvedge-launcher"
RETRIES = ("retriedCount", "transientNormalRetriedCount", "transientConflictRetriedCount")


class OneOf(services_api.Api):
    def __init__(self, cluster, name):
        super().__init__(cluster)
        self.log = f"{cluster.root}/log/services-{name}"
        self.url = f"http://127.0.0.1:{self.port}"

    def get(self, path, method="GET", body=None):
        """Status, Location, text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=host.PATIENCE)
        user = self.cluster.users[0].pw_name
        try:
            connection.request(
                method,
                f"{path}?user.name={user}",
                None if body is None else json.dumps(body),
                headers={"Content-Type": "application/json", "UserName": user},
            )
            answer = connection.getresponse()
            return answer.status, answer.getheader("Location"), answer.read().decode()
        finally:
            connection.close()

    def answers(self):
        try:
            return self.get("/metrics")[0] == 200
        except OSError:
            return False

    def is_active(self):
        return self.get("/v1")[0] == 200

    def until_active(self):
        self.cluster.wait(self.is_active, 30, f"{self.url} is active")

    def must_redirect(self, other):
        def redirects():
            return self.get("/v1")[0] == 307

        self.cluster.wait(redirects, 30, f"{self.url} redirects")
        for path in ("/v1/Frameworks/f", "/app/v1/services/version"):
            status, location, text = self.get(path)
            expect(f"{path}: {text}", (status, location.split("?")[0]), (307, other.url + path))


class Servers:
    """`zookeeper`: with its address and get(PATH), the text of a node or None."""

    def __init__(self, c, zookeeper, a, b):
        self.c, self.zookeeper, self.a, self.b = c, zookeeper, a, b
        self.f = Frameworks(c, a.port)
        self.before = None

    def put(self, name, tasks):
        roles = {"W": role("sleep 7777", f"file://{self.c.root}/services/none", tasks)}
        self.f.put(name, descriptor(self.f.user, roles))

    def one_master(self, name="f"):
        masters = self.f.master_pids(name)
        expect("masters", len(masters), 1)
        return masters[0]

    def said(self):
        """The end of what each master has written."""
        text = ""
        for node in self.c.nodes:
            for directory in node.log_dirs:
                for place, _, names in os.walk(directory):
                    if place.endswith("_000001") and "stderr" in names:
                        with open(f"{place}/stderr", encoding="utf-8", errors="replace") as f:
                            text += f"{os.path.basename(place)}: {f.read()[-1500:]}\n"
        return text

    def same(self):
        """Its two tasks are where they were, and nothing was retried."""
        tasks = self.f.until_running("f", 2)
        expect("containers", {t: s["containerId"] for t, s in tasks.items()}, self.before["tasks"])
        master = self.one_master()
        if master != self.before["master"]:
            raise ClusterError(f"another master, {master}: {self.said()}")
        state = self.f.state("f")
        counts = [state["frameworkRetryPolicyState"][key] for key in RETRIES]
        counts += [s["taskRetryPolicyState"][key] for s in tasks.values() for key in RETRIES]
        expect("retries", set(counts), {0})
        expect("application", state["applicationId"], self.before["application"])

    def begin(self):
        self.a.start()
        self.a.until_active()
        self.b.start()
        self.b.must_redirect(self.a)
        self.put("f", 2)
        tasks = self.f.until_running("f", 2)
        self.before = {
            "tasks": {t: s["containerId"] for t, s in tasks.items()},
            "master": self.one_master(),
            "application": self.f.state("f")["applicationId"],
        }

    def listed(self):
        """The command line finds the active one, behind one that is away or stands by."""
        done = self.c.selvedge("framework", "list")
        expect(f"listed: {done.stderr}", (done.returncode, "f" in done.stdout.split()), (0, True))

    def scale(self, count):
        path = "/Frameworks/f/TaskRoles/W/TaskNumber"
        expect("scale", self.f.ask("PUT", path, {"taskNumber": count})[0], 202)
        self.f.until_running("f", count)

    def killed(self):
        """Its master finds the other server: it hears of another task, and of one less."""
        self.a.kill()
        self.b.until_active()
        self.f.port = self.b.port
        self.same()
        self.scale(3)
        self.scale(2)
        self.same()
        self.listed()
        self.a.start()
        self.a.must_redirect(self.b)
        self.listed()

    def handed_over(self):
        """In order: there and back, without the session's timeout."""
        for one, other in ((self.b, self.a), (self.a, self.b)):
            expect("its exit", one.stop(), 0)
            other.until_active()
            self.f.port = other.port
            self.same()
            one.start()
            one.must_redirect(other)

    def stopped(self):
        """A change that reached it while it was stopped is refused when it wakes."""
        late = json.dumps(descriptor(self.f.user, {"W": role("true", "file:///none")}))
        self.b.process.send_signal(signal.SIGSTOP)
        asking = socket.create_connection(("127.0.0.1", self.b.port))
        asking.settimeout(host.PATIENCE)
        asking.sendall(
            f"PUT /v1/Frameworks/late?user.name={self.f.user} HTTP/1.1\r\nHost: b\r\n"
            f"Content-Type: application/json\r\nUserName: {self.f.user}\r\n"
            f"Content-Length: {len(late)}\r\n\r\n{late}".encode()
        )
        self.a.until_active()
        self.f.port = self.a.port
        self.same()
        self.put("g", 1)
        self.f.until_running("g", 1)
        fence = self.zookeeper.get(f"{ROOT}/Fence").split()[0]
        self.b.process.send_signal(signal.SIGCONT)
        status = asking.recv(100).split()[1]
        asking.close()
        expect(f"its answer: {status}", status in (b"307", b"503"), True)
        self.b.must_redirect(self.a)
        expect("fence", self.zookeeper.get(f"{ROOT}/Fence").split()[0], fence)
        expect("late", self.f.ask("GET", "/Frameworks/late")[0], 404)
        expect("late's node", self.zookeeper.get(f"{ROOT}/Requests/late"), None)
        self.same()
        self.one_master("g")

    def away(self):
        """Without ZooKeeper nothing is answered for longer than a session lasts; the tasks run, and
        afterwards the frameworks are there."""
        self.zookeeper.kill()
        self.c.wait(lambda: self.a.get("/v1")[0] == 503, 30, "no answer without ZooKeeper")
        self.one_master()
        self.zookeeper.start()
        self.zookeeper.wait()
        self.c.wait(lambda: self.a.is_active() or self.b.is_active(), 60, "one is active")
        self.f.port = (self.a if self.a.is_active() else self.b).port
        self.same()

    def end(self):
        path = "/Frameworks/f/ExecutionType"
        expect("stop", self.f.ask("PUT", path, {"executionType": "STOP"})[0], 202)
        expect("its end", self.f.until_ended("f")["applicationExitCode"], -7351)
        expect("deleted", self.f.ask("DELETE", "/Frameworks/g")[0], 202)
        for name in ("f", "g"):
            self.c.wait(lambda n=name: not self.f.master_pids(n), 60, f"{name}'s master has ended")


def refused(c):
    """What cannot be right is refused at the start, in words."""
    for keys, words in (
        ({"selvedge.framework.web-server-address": "http://other:1"}, "none is this server's"),
        ({"hadoop.zk.address": ""}, "hadoop.zk.address is not set"),
        ({"selvedge.framework.zk-root": "/a/"}, "selvedge.framework.zk-root"),
    ):
        argv = [f"{c.prefix}/sbin/selvedge-services"]
        for key, value in (keys | {"yarn.service.api-server.address": "127.0.0.1:1"}).items():
            argv += ["-D", f"{key}={value}"]
        done = subprocess.run(
            argv,
            env=c.daemon_env(c.conf_dir, "services"),
            capture_output=True,
            text=True,
            timeout=host.PATIENCE,
        )
        expect(f"{keys}: {done.stderr}", words in done.stderr and done.returncode != 0, True)


def run(report, zookeeper, session_ms, away=False):
    """`away`: the server of ZooKeeper can be killed and started."""
    with Cluster(
        "framework-servers", nodes=1, users=1, quiet=True, policy=services_cluster.POLICY
    ) as c:
        a, b = OneOf(c, "a"), OneOf(c, "b")
        c.site |= services_cluster.site(c) | {
            "selvedge.framework.enabled": "true",
            "selvedge.framework.store": "zookeeper",
            "selvedge.framework.web-server-address": f"{a.url},{b.url}",
            "hadoop.zk.address": zookeeper.address,
            "hadoop.zk.timeout-ms": str(session_ms),
            "yarn.scheduler.minimum-allocation-mb": "16",
            "yarn.nodemanager.resource.memory-mb": "2048",
            "yarn.nodemanager.resource.cpu-vcores": "20",
        }
        with open(f"{c.root}/services/none", "w", encoding="ascii"):
            pass
        os.chmod(f"{c.root}/services/none", 0o644)
        c.start_rm()
        c.start_nodes()
        report.case("refused at the start", refused, c)
        servers = Servers(c, zookeeper, a, b)
        if report.case("one is active", servers.begin):
            report.case("the active one is killed", servers.killed)
            report.case("the active one is ended in order", servers.handed_over)
            report.case("the active one stands still", servers.stopped)
            if away:
                report.case("ZooKeeper is away", servers.away)
            report.case("its end", servers.end)
        for server in (a, b):
            if server.process:
                server.stop()
        c.close()


def store(zookeeper):
    """The store's own cases."""
    done = subprocess.run(
        [DRIVER, zookeeper.address, "/apps/store"], capture_output=True, text=True, timeout=240
    )
    expect(f"its cases: {done.stdout[-1500:]}{done.stderr[-1500:]}", done.returncode, 0)
