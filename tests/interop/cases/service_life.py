"""The life of a service under Hadoop's master (ServiceMaster) or ours, by Hadoop's command line:
launched, flexed, containers and masters killed, upgraded, instances decommissioned, stopped,
started, destroyed. Each case goes on with the service that the one before has left."""
import contextlib
import signal

from cluster import ClusterError
from interop import peers
from interop.service import Service, kill, processes, ready

SLEEP = 100000
NO_RETRY = {"yarn.service.container-failure.retry.max": "0"}
# The node starts these again where they are.
RETRY = {
    "yarn.service.container-failure.retry.max": "5",
    "yarn.service.container-failure.retry-interval-ms": "100",
}
WORDS = "said by ${COMPONENT_INSTANCE_NAME} of ${SERVICE_NAME}"


def component(name, count, properties=None, **more):
    return {
        "name": name,
        "number_of_containers": count,
        "launch_command": f"sleep {SLEEP}",
        "resource": {"cpus": 1, "memory": "64"},
        "configuration": {"properties": properties or NO_RETRY},
        **more,
    }


def printer():
    """A component with an environment and files in which the master replaces tokens."""
    return component(
        "printer",
        1,
        dependencies=["sleeper"],
        launch_command="{ cat conf/words conf/list.properties; echo $GREETING; sleep %d; }" % SLEEP,
        configuration={
            "properties": RETRY,
            "env": {"GREETING": "hello"},
            "files": [
                {"type": "TEMPLATE", "dest_file": "words", "properties": {"content": WORDS + "\n"}},
                {
                    "type": "PROPERTIES",
                    "dest_file": "list.properties",
                    "properties": {"first": "${SLEEPER-0_HOST}", "second": "2"},
                },
            ],
        },
    )


def sleeper(count, seconds=SLEEP):
    """A component whose containers show by command, environment and a file which version they
    run."""
    return component(
        "sleeper",
        count,
        launch_command="{ echo $GREETING; cat conf/words; sleep %d; }" % seconds,
        configuration={
            "properties": NO_RETRY,
            "env": {"GREETING": f"hello {seconds} of ${{COMPONENT_INSTANCE_NAME}}"},
            "files": [
                {
                    "type": "TEMPLATE",
                    "dest_file": "words",
                    "properties": {"content": f"words of {seconds}\n"},
                }
            ],
        },
    )


def runs(container, name, seconds):
    """The command and the environment of this version are the container's."""
    for pid in processes(container):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                argv = f.read().split(b"\0")
            with open(f"/proc/{pid}/environ", "rb") as f:
                env = f.read().split(b"\0")
            if argv[:2] == [b"sleep", str(seconds).encode()]:
                return f"GREETING=hello {seconds} of {name}".encode() in env
    return False


def expect_version(s, now, seconds):
    """Waits for the version in each container, and looks for it in what they have written."""
    for name, container in now.items():
        s.c.wait(
            lambda c=container, n=name: runs(c, n, seconds), 60, f"{name}, {container}: {seconds}"
        )
    for name, container in now.items():
        said = s.outputs().get(container, "")
        if f"hello {seconds} of {name}" not in said or f"words of {seconds}" not in said:
            raise ClusterError(f"{name} in {container} has written {said!r}, not of {seconds}")


def definition():
    return {"components": [sleeper(2), printer()]}


class Life:
    """`service`: the class that drives it. `api`: the API server, None for the cluster's."""

    def __init__(self, c, service=Service, api=None):
        self.c = c
        self.s = service(c, "sleepers", definition(), api)
        self.now = {}  # {instance: container}

    def launched(self):
        self.s.app("launch", self.s.file())
        self.now = self.s.stable({"sleeper": 2, "printer": 1})
        if sorted(self.now) != ["printer-0", "sleeper-0", "sleeper-1"]:
            raise ClusterError(f"instances {self.now}")
        app = self.s.application()
        if app["applicationType"].lower() != "yarn-service" or app["state"] != "RUNNING":
            raise ClusterError(f"{app}")

    def files(self):
        """The master has written the printer's files to HDFS, the node has fetched them."""
        wanted = [f"said by printer-0 of {self.s.name}", "first=node", "second=2", "hello"]

        def said():
            return self.s.outputs().get(self.now["printer-0"], "")

        self.c.wait(lambda: "hello" in said(), 60, "the printer's output")
        missing = [line for line in wanted if line not in said()]
        if missing:
            raise ClusterError(f"{missing} not in {said()!r}")

    def facts(self):
        """Addresses that the nodes tell the master, which shows them."""
        names = {node.address for node in self.c.nodes}
        for name, row in ready(self.s.status()).items():
            wanted = {"ip", "hostname", "bare_host", "launch_time", "id"}
            if not wanted <= set(row) or row["bare_host"] not in names:
                raise ClusterError(f"{name}: {row}")

    def flexed(self):
        for count in (4, 1):
            self.s.app("flex", "-component", "sleeper", str(count))
            found = self.s.stable({"sleeper": count, "printer": 1})
            wanted = {f"sleeper-{i}" for i in range(count)} | {"printer-0"}
            kept = {name: self.now[name] for name in wanted & set(self.now)}
            if set(found) != wanted or not kept.items() <= found.items():
                raise ClusterError(f"flexed to {count}: {found}, before {self.now}")
            self.now = found
        self._only(self.now)

    def _only(self, containers):
        """The nodes run these containers and the master's alone."""
        app = self.s.application()

        def running():
            return self.s.application().get("runningContainers") == len(containers) + 1

        self.c.wait(running, 60, f"{app['id']} has {len(containers)} containers and its master")

    def replaced(self):
        """A container whose command may not be started again is replaced by another one."""
        before = self.now["sleeper-0"]
        kill(before)
        self.now = self.s.stable({"sleeper": 1, "printer": 1}, without=[before])
        if set(self.now) != {"sleeper-0", "printer-0"}:
            raise ClusterError(f"instances {self.now}")

    def started_again(self):
        """The node itself starts the command again in the same container, though not after SIGKILL
        and SIGTERM."""
        container = self.now["printer-0"]
        before = kill(container, signal.SIGUSR1)
        self.c.wait(
            lambda: set(processes(container)) - set(before), 60, f"{container} has processes again"
        )
        found = self.s.stable({"sleeper": 1, "printer": 1})
        if found != self.now:
            raise ClusterError(f"{found}, before {self.now}")

    def master_killed(self):
        """The next attempt keeps the containers: none is started anew."""
        pids = {name: processes(container) for name, container in self.now.items()}
        attempts = self.s.attempts()
        kill(attempts[-1]["containerId"])
        self.c.wait(lambda: len(self.s.attempts()) > len(attempts), 120, "another attempt")
        with contextlib.suppress(OSError):  # the API server gives up on a master that starts
            found = self.s.stable({"sleeper": 3, "printer": 1})
        if found != self.now or pids != {n: processes(i) for n, i in found.items()}:
            raise ClusterError(f"{found}, before {self.now}")

    def daemons_killed(self):
        """Our ResourceManager and a NodeManager, restarted with their state: the master registers
        again, nothing is started anew, and asks are answered."""
        c = self.c
        if peers.version_of(c.peer_rm) or peers.version_of(c.peer_nm):
            return
        pids = {name: processes(container) for name, container in self.now.items()}
        c.nodes[0].process.kill()
        c.rm.kill()
        peers.start_rm(c)
        peers.start_node(c, c.nodes[0])
        peers.wait_nodes(c)
        found = self.s.stable({"sleeper": 3, "printer": 1})
        if found != self.now or pids != {n: processes(i) for n, i in found.items()}:
            raise ClusterError(f"{found}, before {self.now}")
        kill(self.now["sleeper-0"])
        self.now = self.s.stable({"sleeper": 3, "printer": 1}, without=[self.now["sleeper-0"]])

    def upgraded(self):
        """A component's command: the nodes re-initialise its containers. Before a master is killed:
        Hadoop's next one cannot upgrade the containers that it has been given."""
        self.s.app("flex", "-component", "sleeper", "3")
        self.now = self.s.stable({"sleeper": 3, "printer": 1})
        self._upgrade("2.0.0", 200000)

    def upgraded_instances(self):
        self.s.app("upgrade", "-initiate", self._file("3.0.0", 300000), "-autoFinalize")
        self.s.until("UPGRADING_AUTO_FINALIZE")
        self.s.app("upgrade", "-instances", "sleeper-0,sleeper-1,sleeper-2")
        self._runs("3.0.0", 300000)

    def upgraded_express(self):
        self.s.app("upgrade", "-express", self._file("4.0.0", 400000))
        self._runs("4.0.0", 400000)

    def upgrade_cancelled(self):
        version = self.s.status()["version"]
        self.s.app("upgrade", "-initiate", self._file("5.0.0", 500000))
        self.s.until("UPGRADING")
        self.s.app("upgrade", "-instances", "sleeper-0")
        expect_version(self.s, {"sleeper-0": self.now["sleeper-0"]}, 500000)
        self.s.app("upgrade", "-cancel")
        self._runs(version, int(version[0]) * 100000)

    def _file(self, version, seconds):
        return self.s.file(version=version, components=[sleeper(3, seconds), printer()])

    def _upgrade(self, version, seconds):
        self.s.app("upgrade", "-initiate", self._file(version, seconds))
        self.s.until("UPGRADING")
        self.s.app("upgrade", "-components", "sleeper")
        self.s.wait(
            lambda status: len(ready(status)) == 4, 240, f"{version}: instances are READY again"
        )
        self.s.app("upgrade", "-finalize")
        self._runs(version, seconds)

    def _runs(self, version, seconds):
        """The version is STABLE, in the same containers."""
        found = self.s.stable({"sleeper": 3, "printer": 1})
        status = self.s.status()
        if found != self.now or status["version"] != version:
            raise ClusterError(f"{status['version']}: {found}, before {self.now}")
        sleepers = {name: i for name, i in found.items() if name.startswith("sleeper")}
        expect_version(self.s, sleepers, seconds)

    def decommissioned(self):
        """An instance in the middle goes, its name is not used again."""
        gone = self.now["sleeper-1"]
        self.s.app("decommission", "-instances", "sleeper-1")
        self.now = self.s.stable({"sleeper": 2, "printer": 1}, without=[gone])
        self.s.app("flex", "-component", "sleeper", "3")
        self.now = self.s.stable({"sleeper": 3, "printer": 1})
        if set(self.now) != {"printer-0", "sleeper-0", "sleeper-2", "sleeper-3"}:
            raise ClusterError(f"instances {self.now}")

    def listed(self):
        """`yarn container -list NAME`"""
        out = self.s.cli("container", "-list", self.s.name, "-components", "sleeper")
        missing = [i for n, i in self.now.items() if "sleeper" in n and i not in out]
        if missing or self.now["printer-0"] in out:
            raise ClusterError(f"{missing} missing: {out[-3000:]}")

    def stopped(self):
        first = self.s.application()["id"]
        self.s.app("stop")
        self.s.until("STOPPED")
        left = [i for i in self.now.values() if processes(i)]
        self.c.wait(
            lambda: not any(processes(i) for i in self.now.values()), 60, f"{left} have ended"
        )
        self.s.app("start")
        count = sum("sleeper" in name for name in self.now)
        self.now = self.s.stable({"sleeper": count, "printer": 1})
        if self.s.application()["id"] == first:
            raise ClusterError(f"started as {first} again")

    def destroyed(self):
        self.s.app("stop")
        self.s.until("STOPPED")
        self.s.app("destroy")
        if self.s.direct:
            return
        answer = self.s.call("GET")
        if answer.status != 404:
            raise ClusterError(f"a destroyed service: {answer}")


CASES = {
    "launched by `yarn app -launch`": Life.launched,
    "files with tokens, from HDFS": Life.files,
    "addresses of instances": Life.facts,
    "flexed to 4, to 1": Life.flexed,
    "killed container replaced": Life.replaced,
    "failed command started again by the node": Life.started_again,
    "upgraded by component": Life.upgraded,
    "upgraded by instance, finalized by itself": Life.upgraded_instances,
    "upgraded express": Life.upgraded_express,
    "upgrade cancelled": Life.upgrade_cancelled,
    "instance decommissioned": Life.decommissioned,
    "instances listed": Life.listed,
    "killed master: containers kept": Life.master_killed,
    "killed ResourceManager and NodeManager": Life.daemons_killed,
    "stopped, started": Life.stopped,
    "destroyed": Life.destroyed,
}
# Hadoop's master waits 30 s for each instance that it has upgraded.
HADOOP = [
    name for name in CASES if name.split(",")[0] not in ("upgraded by instance", "upgraded express")
]
SHORT = [
    "launched by `yarn app -launch`",
    "files with tokens, from HDFS",
    "flexed to 4, to 1",
    "killed container replaced",
    "stopped, started",
    "destroyed",
]


def run(report, c, row, cases=CASES, service=Service, api=None):
    life = Life(c, service, api)
    for name in cases:
        if not report.case(f"{row}: {name}", CASES[name], life) and name == SHORT[0]:
            break  # nothing to go on with
