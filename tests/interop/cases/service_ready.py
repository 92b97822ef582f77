"""Readiness checks by HTTP and to a port, of containers on several hosts: what is not ready is not
counted, holds back what depends on it, and is ready again by itself."""
import contextlib
import os

from cluster import ClusterError
from interop import services
from interop.cases.service_cells import chosen
from interop.cases.service_life import NO_RETRY, component
from interop.service import Service, processes

HTTP, PORT = 18080, 18081
SERVER = "exec python3 -m http.server %d" % HTTP
LISTENER = "until [ -e ready ]; do sleep 0.1; done; exec python3 -m http.server %d" % PORT


def definition(master):
    """`listener` waits for `server`, `last` for both."""
    return {
        "configuration": chosen(master),
        "components": [
            component(
                "server",
                1,
                launch_command=SERVER,
                readiness_check={
                    "type": "HTTP",
                    "properties": {"url": "http://${THIS_HOST}:%d/ready" % HTTP},
                },
                configuration={"properties": NO_RETRY},
            ),
            component(
                "listener",
                1,
                dependencies=["server"],
                launch_command=LISTENER,
                readiness_check={"type": "PORT", "properties": {"port": str(PORT)}},
                configuration={"properties": NO_RETRY},
            ),
            component("last", 1, dependencies=["server", "listener"]),
        ],
    }


class Readiness:
    def __init__(self, c, master):
        self.c = c
        self.s = Service(c, "readiness", definition(master), services.OURS)

    def states(self, status=None):
        """{instance: state} of a status."""
        status = status or self.s.status()
        return {
            row["component_instance_name"]: row["state"]
            for one in status.get("components") or []
            for row in one.get("containers") or []
        }

    def wait(self, state, **states):
        """Waits for the service's state and the instances' ("server" is server-0), no others."""
        wanted = {f"{name}-0": value for name, value in states.items()}
        return self.s.wait(
            lambda status: status.get("state") == state
            and self.states(status) == wanted
            and status,
            120,
            f"{state} with {wanted}",
        )

    def containers(self):
        return {
            row["component_instance_name"]: row["id"]
            for one in self.s.status()["components"]
            for row in one["containers"]
        }

    def mark(self, instance, ready):
        """The file of the instance's work directory that makes it ready."""
        container = self.containers()[instance]

        def directory():
            for pid in processes(container):
                with contextlib.suppress(OSError):
                    if os.readlink(f"/proc/{pid}/cwd").endswith(container):
                        return f"/proc/{pid}/cwd"
            return None

        path = self.c.wait(directory, 60, f"{instance} runs") + "/ready"
        if ready:
            with open(path, "w", encoding="ascii"):
                pass
        else:
            os.unlink(path)

    def http(self):
        self.s.post()
        self.wait("STARTED", server="RUNNING_BUT_UNREADY")
        self.mark("server-0", True)
        self.wait("STARTED", server="READY", listener="RUNNING_BUT_UNREADY")

    def port(self):
        self.mark("listener-0", True)
        self.wait("STABLE", server="READY", listener="READY", last="READY")

    def not_ready(self):
        """One that is not ready any more keeps its container, and those that wait for it theirs."""
        before = self.containers()
        self.mark("server-0", False)
        self.wait("STARTED", server="RUNNING_BUT_UNREADY", listener="READY", last="READY")
        self.mark("server-0", True)
        self.wait("STABLE", server="READY", listener="READY", last="READY")
        if self.containers() != before:
            raise ClusterError(f"{self.containers()}, before {before}")
        self.s.end()


def run(report, c, row, master=services.OURS):
    r = Readiness(c, master)
    for name, function in (
        ("HTTP, and what depends on it", r.http),
        ("PORT", r.port),
        ("no longer ready", r.not_ready),
    ):
        if not report.case(f"{row}: {master}'s master: {name}", function):
            r.s.end()
            break
