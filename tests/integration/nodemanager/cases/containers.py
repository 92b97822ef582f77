"""Containers as an ApplicationMaster has them: starts, exits, stops, signals, key rolls, a
ResourceManager that is away, and REST. Cases of test-nodemanager."""
import json
import os
import re
import urllib.error
import urllib.request
import xml.etree.ElementTree

from cluster import host
from lib.driven_node import DrivenNode
from lib.nm_driver import YARN, container

LAUNCH = 3  # of executor/request.h
GOLDEN = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../../golden/commands/apache-3.4.2.json"
)


class Containers(DrivenNode):
    # --- cases ------------------------------------------------------------------------------

    def registers(self):
        answer = self.driver.registered()
        assert answer["containers"] == [] and answer["apps"] == [], answer
        assert answer["port"] == self.node.ports["rpc"], answer
        assert answer["http_port"] == self.node.ports["web"], answer
        assert answer["memory"] == 8192 and answer["vcores"] == 32, answer

    def fifty(self):
        app = self.new_app()
        answer = self.driver.start(app, 1, 50, self.user, "true")
        assert len(answer["ok"]) == 50 and not answer["failed"], answer
        self.expect_ends(50)
        exits = self.driver.exits()
        for n in range(1, 51):
            row = exits[container(app, n)]
            assert row["exit"] == 0 and row["told"] == 1 and row["diagnostics"] == "", row
        self.driver("finish", app)

    def exit_codes(self):
        app = self.new_app()
        for n, (command, wanted) in enumerate(
            [
                ("exit 1", 1),
                ("exit 3", 3),
                ("exit 255", 255),
                ("kill -TERM \\$\\$", 143),
                ("kill -KILL \\$\\$", 137),
                ("/no/such/program", 127),
            ],
            1,
        ):
            self.driver.start(app, n, 1, self.user, command)
            self.expect_ends(1)
            row = self.driver.exits()[container(app, n)]
            assert row["exit"] == wanted, (command, row)
            text = re.sub(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\]", "[]", row["diagnostics"])
            if wanted in (137, 143):
                assert text == (
                    f"[]Container killed on request. Exit code is {wanted}\n"
                    f"[]Container exited with a non-zero exit code {wanted}. \n"
                    "[]Killed by external signal\n"
                ), text
            else:
                assert text.startswith(
                    f"[]Exception from container-launch.\nContainer id: {container(app, n)}\n"
                    f"Exit code: {wanted}\nException message: Launch container failed\n\n"
                    f"[]Container exited with a non-zero exit code {wanted}. "
                    "Error file: prelaunch.err.\nLast 4096 bytes of prelaunch.err :\n"
                ), text
        self.driver("finish", app)

    def error_tails(self):
        app = self.new_app()
        self.driver.start(
            app,
            1,
            1,
            self.user,
            "(seq 5000; echo the end) 2>/dev/null >&2 2><LOG_DIR>/stderr; "
            "seq 5000 ><LOG_DIR>/stderr; echo the end >><LOG_DIR>/stderr; exit 7",
        )
        self.expect_ends(1)
        text = self.driver.exits()[container(app, 1)]["diagnostics"]
        assert "Last 4096 bytes of stderr :\n" in text, text
        assert text.endswith("the end\n\n\n"), repr(text[-60:])
        assert text.count("Last 4096 bytes of stderr :") == 2 and len(text) <= 10000, len(text)
        self.driver("finish", app)

    def stops(self):
        app = self.new_app()
        self.driver.start(app, 1, 3, self.user, "sleep 1000")
        self.wait(
            lambda: all(s["sub"] == 2 for s in self.driver.status(app, 1, 3)["status"].values()),
            20,
            "running",
        )
        answer = self.driver.stop(app, 1, 2)
        assert len(answer["ok"]) == 2, answer
        self.expect_ends(2)
        exits = self.driver.exits()
        for n in (1, 2):
            row = exits[container(app, n)]
            assert row["exit"] == -105, row
            assert "Container killed by the ApplicationMaster." in row["diagnostics"], row
        assert self.driver.stop(app, 1)["ok"], "stopping a stopped one again is no error"
        row = self.driver.stop(app, 99)["failed"][container(app, 99)]
        assert (
            row["class"] == YARN + "YarnException"
            and row["message"]
            == f"Container {container(app, 99)} is not handled by this NodeManager"
        )
        row = self.driver.status(app, 1)["failed"][container(app, 1)]
        assert (
            row["message"] == f"Container {container(app, 1)} was recently stopped on node manager."
        )
        self.driver("cleanup", app, 3)
        self.expect_ends(1)
        assert self.driver.exits()[container(app, 3)]["exit"] == -106
        self.driver("finish", app)

    def stubborn(self):
        """One that ignores TERM and has left its session is killed all the same."""
        app = self.new_app()
        self.driver.start(
            app,
            1,
            1,
            self.user,
            "trap '' TERM; setsid sleep 1000 & setsid setsid sleep 1000 & sleep 1000; sleep 1000",
        )
        self.wait(lambda: len(self.c.container_processes()) >= 5, 20, "its processes")
        self.driver.stop(app, 1)
        self.expect_ends(1)
        assert self.driver.exits()[container(app, 1)]["exit"] == -105
        self.driver("finish", app)

    def signals(self):
        app, other = self.new_app(), self.new_app()
        self.driver.start(
            app,
            1,
            1,
            self.user,
            "trap 'echo dump ><LOG_DIR>/dumped' QUIT; trap 'exit 9' TERM; "
            "echo ><LOG_DIR>/ready; while :; do read -t 0.05 <> <(:); done",
        )
        log = f"{self.node.log_dirs[0]}/application_1700000000000_{app:04d}/{container(app, 1)}"
        self.wait(lambda: os.path.exists(f"{log}/ready"), 20, "it runs")
        answer = self.driver.signal(app, 1, 3, caller=other)
        assert answer["class"] == YARN + "YarnException", answer  # Hadoop would have killed it
        assert self.driver.signal(app, 1, 1) == {}
        self.wait(lambda: os.path.exists(f"{log}/dumped"), 20, "it has got SIGQUIT")
        self.wait(
            lambda: "Sent signal OUTPUT_THREAD_DUMP (SIGQUIT) to pid "
            in self.driver.status(app, 1)["status"][container(app, 1)]["diagnostics"],
            20,
            "the diagnostics name who has got it",
        )  # the helper's answer comes after the signal
        assert self.driver.signal(app, 1, 2) == {}
        self.expect_ends(1)
        assert self.driver.exits()[container(app, 1)]["exit"] == 9
        self.driver.start(app, 2, 1, self.user, "sleep 1000")
        self.wait(
            lambda: self.driver.status(app, 2)["status"][container(app, 2)]["sub"] == 2,
            20,
            "running",
        )
        self.driver("rmsignal", app, 2, 1)  # does not end what does not catch it
        self.wait(
            lambda: "to no process, as none catches it"
            in self.driver.status(app, 2)["status"][container(app, 2)]["diagnostics"],
            20,
            "the answer that nobody got it",
        )
        self.driver("rmsignal", app, 2, 3)
        self.expect_ends(1)
        assert self.driver.exits()[container(app, 2)]["exit"] == 137
        for a in (app, other):
            self.driver("finish", a)

    def signalled_before_start(self):
        """A signal to a container whose process is not there yet is dropped, and does not keep it
        from starting."""
        app = self.new_app()
        words = f"Container {container(app, 1)[:-1]}"
        with self.held_back(LAUNCH) as held:
            assert self.driver.start(app, 1, 3, self.user, "exit 4")["ok"]
            self.wait(lambda: len(held()) >= 3, 60, "the helper is asked for the launches")
            for n, command in ((1, 1), (2, 2), (3, 3)):
                assert self.driver.signal(app, n, command) == {}
                assert self.told(f"{words}{n} not launched. Not sending the signal") == 1
            self.driver("rmsignal", app, 1, 3)
            assert self.driver("beats", 60000, 3)["reached"]
        self.expect_ends(3)
        exits = self.driver.exits(app)
        assert [(r["exit"], r["told"]) for r in exits.values()] == [(4, 1)] * 3, exits
        self.driver("finish", app)
        self.c.settle(30)

    def key_roll(self):
        app, new = self.new_app(), self.new_app()
        self.driver.start(app, 1, 1, self.user, "sleep 1000")
        for _ in range(2):
            self.driver("roll")
            assert self.driver("beats", 60000, 3)["reached"]
        assert self.driver.start(new, 1, 1, self.user, "true")["ok"]
        self.expect_ends(1)
        assert self.driver.stop(app, 1)["ok"]
        self.expect_ends(1)
        self.driver("finish", app)
        self.driver("finish", new)

    def counts_applications(self):
        """Those that run, in JMX and in REST: earlier cases' may be ending."""
        beans = self.node.get("/jmx?qry=Hadoop:service=NodeManager,name=NodeManagerMetrics")[
            "beans"
        ]
        apps = self.node.get("/ws/v1/node/apps")["apps"]["app"]
        running = sum(a["state"] in ("INITING", "RUNNING") for a in apps)
        return beans[0]["ApplicationsRunning"] == running

    def rest(self):
        app = self.new_app()
        self.driver.start(
            app,
            1,
            1,
            self.user,
            "echo hello ><LOG_DIR>/stdout; ln -s /etc/passwd <LOG_DIR>/link; "
            "mkfifo <LOG_DIR>/fifo; sleep 1000",
        )
        name = container(app, 1)
        self.wait(
            lambda: os.path.exists(
                f"{self.node.log_dirs[0]}/application_1700000000000_{app:04d}/{name}/fifo"
            ),
            20,
            "logs",
        )
        info = self.node.get("/ws/v1/node/info")["nodeInfo"]
        assert info["id"] == self.node.id and info["nodeHealthy"] is True, info
        assert (info["selvedge"]["limitsNotEnforced"] == []) == self.c.cgroup.enforced, info
        apps = self.node.get("/ws/v1/node/apps")["apps"]["app"]
        assert [a for a in apps if name in a["containerids"] and a["state"] == "RUNNING"], apps
        assert (
            self.node.get(f"/ws/v1/node/apps/application_1700000000000_{app:04d}")["app"]["user"]
            == self.user
        )
        one = self.node.get(f"/ws/v1/node/containers/{name}")["container"]
        assert one["state"] == "RUNNING" and one["exitCode"] == -1000 and one["user"] == self.user
        assert "stdout" in one["containerLogFiles"] and "link" not in one["containerLogFiles"]
        status, headers, body = self.get(
            f"/ws/v1/node/containers/{name}/logs/stdout?format=octet-stream"
        )
        assert body == b"hello\n" and headers["Content-Type"].startswith(
            "application/octet-stream"
        ), headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        for path in (
            f"containers/{name}/logs/stdout",
            f"containerlogs/{name}/stdout",
            f"containers/{name}/logs/stdout/",
        ):
            _, headers, body = self.get(f"/ws/v1/node/{path}")
            lines = body.decode().split("\n")
            assert lines[0] == f"Container: {name} on {self.node.id}" and lines[2] == "=" * len(
                lines[0]
            ), body
            assert lines[3] == "LogType:stdout" and lines[5:8] == [
                "LogLength:6",
                "LogContents:",
                "hello",
            ], body
            assert lines[8] == (
                f"End of LogType:stdout.This log file belongs to a running container ({name}) and "
                "so may not be complete."
            ), body
            assert headers["Content-Type"].startswith("text/plain"), headers
        assert (
            b"LogContents:\nlo\nEnd"
            in self.get(f"/ws/v1/node/containers/{name}/logs/stdout?size=-3")[2]
        )
        bean = self.node.get("/jmx?qry=Hadoop:service=NodeManager,name=NodeManagerMetrics")[
            "beans"
        ][0]
        assert (
            bean["ContainersRunning"] >= 1
            and bean["ContainersLaunched"] >= bean["ContainersRunning"]
        ), bean
        assert bean["BadLocalDirs"] == 0 and bean["AllocatedVCores"] >= 1, bean
        assert (
            bean["ContainerLaunchDurationNumOps"] == bean["ContainersLaunched"]
            and bean["NodeUsedMemGB"] <= bean["NodeUsedVMemGB"]
            and 0 <= bean["GoodLocalDirsDiskUtilizationPerc"] <= 100
            and bean["AllocatedGB"] >= 1
        ), bean
        self.wait(self.counts_applications, 30, "both count the same applications")
        self.rest_beans(name)
        self.rest_xml(name)
        body = self.get("/metrics")[2].decode()
        assert "container_resource" not in body, body
        assert f"\nselvedge_container_launch_seconds_count {bean['ContainersLaunched']}\n" in body
        assert '\nselvedge_containers_cpu_throttled_seconds_total{limit="container"} ' in body
        for resource in ("cpu", "memory", "io"):
            line = f'selvedge_containers_pressure_stalled_seconds_total{{resource="{resource}"}} '
            assert f"\n{line}" in body, body
        assert re.search(
            r'^node_manager_metrics_containers_running\{context="yarn",hostname="[^"]*"\} \d+$',
            body,
            re.M,
        ), body
        assert (
            self.get(f"/node/containerlogs/{name}/{self.user}/stdout?start=1&end=4&format=text")[2]
            == b"ell"
        )
        assert (
            self.get(f"/node/containerlogs/{name}/{self.user}/stdout/?start=-4096&format=text")[2]
            == b"hello\n"
        )
        assert (
            b"<pre>hello\n</pre>"
            in self.get(f"/node/containerlogs/{name}/{self.user}/stdout/?start=-4096")[2]
        )
        files = self.node.get(f"/ws/v1/node/containers/{name}/logs")["containerLogsInfo"]
        assert {"stdout"} <= {f["fileName"] for f in files["containerLogInfo"]}, files
        for path in (
            f"containers/{name}/logs/link",
            f"containers/{name}/logs/fifo",
            f"containers/{name}/logs/..%2f..%2fx",
            f"containers/{name}/logs/nothing",
            f"containers/{name}/logs/..",
            "containers/container_1_0001_01_000001",
            "containers/nonsense",
            "apps/application_1_0001",
            "apps?state=NONSENSE",
            f"containers/{name}/logs/stdout?format=nonsense",
            f"containerlogs/{name}/link",
            "nothing",
        ):
            code = self.refused("/ws/v1/node/" + path)
            assert code in (400, 404), (path, code)
        text = self.get("/conf?name=yarn.nodemanager.webapp.address")[2].decode()
        assert f"<value>{self.c.address}:{self.node.ports['web']}</value>" in text, text
        self.driver.stop(app, 1)
        self.expect_ends(1)
        self.driver("finish", app)
        self.wait(
            lambda: self.node.get("/jmx")["beans"][0]["ContainersKilled"]
            > bean["ContainersKilled"],
            20,
            "its end is counted",
        )
        one = self.node.get(f"/ws/v1/node/containers/{name}")["container"]
        assert one["state"] == "DONE" and one["exitCode"] == -105, one
        assert one["selvedge"]["cpuTimeMs"] > 0 and one["selvedge"]["peakMemoryBytes"] > 0, one

    def rest_beans(self, name):
        """Of the process, its port and a container."""
        service = "Hadoop:service=NodeManager,name="
        beans = {b["name"]: b for b in self.node.get("/jmx")["beans"]}
        port = beans[f"{service}RpcActivityForPort{self.node.ports['rpc']}"]
        assert (
            port["RpcProcessingTimeNumOps"] >= 1
            and port["RpcAuthenticationSuccesses"] >= 1
            and port["RpcAuthorizationSuccesses"] >= 1
            and port["ReceivedBytes"] > 100 < port["SentBytes"]
            and port["NumInProcessHandler"] == 0
        ), port
        with open(GOLDEN, encoding="utf-8") as f:
            lines = [line.rsplit(":", 1)[0] for line in json.load(f)["nm GET /jmx"]]
        prefix = ".NodeManagerMetrics."
        assert {line[len(prefix) :] for line in lines if line.startswith(prefix)} ^ set(
            beans[f"{service}NodeManagerMetrics"]
        ) == {"FailedLogUploads", "ContainerUsedVMemGB"}, "names of NodeManagerMetrics"
        jvm = beans[f"{service}JvmMetrics"]
        assert 0 < jvm["MemHeapUsedM"] < jvm["MemHeapMaxM"] and jvm["GcCount"] == 0, jvm
        one = beans[f"{service}ContainerResource_{name}"]
        assert one["pMemLimitMBs"] > 0 and one["launchDurationMs"] >= 0, one
        assert self.node.get(f"/jmx?get={service}ContainerResource_{name}::vCoreLimit")[
            "beans"
        ] == [{k: one[k] for k in ("name", "modelerType", "vCoreLimit")}]

    def rest_xml(self, name):
        """Every REST path as XML has what its JSON has, for a client that prefers it."""
        for path, root, child in (
            ("", "nodeInfo", "id"),
            ("/info", "nodeInfo", "nodeHostName"),
            ("/apps", "apps", "app/containerids"),
            (f"/apps/{name.rsplit('_', 2)[0].replace('container', 'application')}", "app", "id"),
            ("/containers", "containers", "container/containerLogsLink"),
            (f"/containers/{name}", "container", "containerLogFiles"),
            (f"/containers/{name}/logs", "containerLogsInfoes", "containerLogsInfo/containerId"),
            ("/auxiliaryservices", "services", "."),
            ("/apps/application_1_0001", "RemoteException", "message"),
        ):
            status, headers, text = self.accepting(path, "application/xml")
            tree = xml.etree.ElementTree.fromstring(text)
            assert headers["Content-Type"].startswith("application/xml"), headers
            assert tree.tag == root and tree.find(child) is not None, (status, text)
        for accept in ("*/*", "application/json", "application/json, application/xml"):
            assert self.accepting("/info", accept)[1]["Content-Type"].startswith("application/json")

    def accepting(self, path, accept):
        request = urllib.request.Request(
            f"{self.node.url}/ws/v1/node{path}", headers={"Accept": accept}
        )
        try:
            with urllib.request.urlopen(request, timeout=host.PATIENCE) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def resync(self):
        app = self.new_app()
        self.driver.start(app, 1, 2, self.user, "sleep 1000")
        self.driver("resync")
        again = self.driver.registered()
        alive = {c["id"] for c in again["containers"] if c["state"] == 2}
        assert alive == {container(app, 1), container(app, 2)}, again
        assert f"application_1700000000000_{app:04d}" in again["apps"], again
        assert self.driver.stop(app, 1, 2)["ok"]
        self.expect_ends(2)
        self.driver("finish", app)

    def resource_manager_away(self):
        """Containers live and end while nobody listens; the end is told once it is back."""
        app = self.new_app()
        over = (
            f"{self.node.log_dirs[0]}/application_1700000000000_{app:04d}/{container(app, 1)}/over"
        )
        self.driver.start(app, 2, 1, self.user, "sleep 1000")
        self.wait(lambda: container(app, 2) in self.running(), 20, "the one that stays")
        self.driver.start(app, 1, 1, self.user, "sleep 0.5; echo ><LOG_DIR>/over")
        self.driver("pause", "on")
        self.wait(
            lambda: os.path.exists(over) and container(app, 1) not in self.running(), 20, "its end"
        )
        self.driver("pause", "off")
        self.expect_ends(1)
        assert self.driver.exits()[container(app, 1)]["exit"] == 0
        assert container(app, 2) in self.running()
        self.driver("finish", app)
        self.expect_ends(1)
        assert self.driver.exits()[container(app, 2)]["exit"] == -107
