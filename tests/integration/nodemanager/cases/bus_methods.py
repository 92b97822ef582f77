"""Methods of the D-Bus interface, with a polkit that says yes, no, nonsense or nothing, or is not
there. Cases of test-dbus."""
import subprocess

from cluster import host
from lib.bus_node import ERROR, BusNode
from lib.message_bus import NAME, ROOT, path_of
from lib.nm_driver import container


class BusMethods(BusNode):
    def polkit(self, answer):
        process = subprocess.Popen(
            [self.client, self.bus.address, "polkit", answer],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout.readline() == "ready\n"
        return process

    def end_polkit(self, process):
        return process.communicate("", timeout=host.PATIENCE)[0].splitlines()

    def method(self, name, *arguments, user=None, path=None):
        interface = f"{NAME}.{'Node' if path == ROOT else 'Container'}"
        return self.bus.call(path or self.paths[0], interface, name, *arguments, user=user)

    def refused_methods(self):
        """Every method, without polkit and with one that does not say yes: refused, and nothing
        happens (81, 84)."""
        methods = (
            ("Stop",),
            ("Kill",),
            ("Signal", "i", "15"),
            ("Freeze",),
            ("Thaw",),
            ("SetLimit", "st", "cpu-weight", "1"),
        )
        for answer, words in (
            (None, "polkit is not there"),
            ("no", "not authorized by polkit"),
            ("challenge", "without a password"),
            ("garbage", "malformed"),
            ("error", "polkit has not answered"),
        ):
            process = self.polkit(answer) if answer else None
            try:
                for user in (
                    self.users[0],
                    self.users[1],
                    self.stranger,
                    self.admin,
                    self.c.daemon,
                ):
                    for name, *arguments in methods:
                        self.refused("Access denied", self.method, name, *arguments, user=user)
                    self.refused(
                        "Access denied", self.method, "Drain", "s", "x", user=user, path=ROOT
                    )
                    self.refused("Access denied", self.method, "Undrain", user=user, path=ROOT)
                said = self.calls(
                    "ask", 1, path_of("container", "container_9"), "Stop", user=self.stranger
                )
                assert said.startswith(ERROR + "AccessDenied: ") and words in said, said
            finally:
                questions = self.end_polkit(process) if process else []
            if answer:
                assert len(questions) == 5 * 8 + 1, questions
                assert (
                    questions[0] == f"system-bus-name name {NAME}.stop container={self.names[0]} "
                    f"user={self.users[0].pw_name}"
                ), questions[0]
        assert self.bus.get(self.paths[0], "Container", "State") == "RUNNING"
        assert self.bus.get(ROOT, "Node", "Draining") is False

    def slow_polkit(self):
        """Others are answered meanwhile; a caller has eight questions; the object is looked up
        after the answer; a caller that leaves has done nothing (82, 84)."""
        process = self.polkit("wait")
        caller = subprocess.Popen(
            self.c.as_user(self.admin)
            + [self.client, self.bus.address, "ask", "10", self.paths[0], "Thaw"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout.readline().startswith("system-bus-name name")
        assert [caller.stdout.readline().split(": ")[0] for _ in range(2)] == [
            ERROR + "LimitsExceeded"
        ] * 2
        assert self.bus.get(self.paths[0], "Container", "State") == "RUNNING"
        self.driver("beats", 30000, 3)
        caller.kill()
        caller.communicate()
        self.end_polkit(process)
        self.caller_left()
        name = container(4, 1)
        assert self.driver.start(4, 1, 1, self.users[0].pw_name, "sleep 1000")["ok"]
        path = path_of("container", name)
        self.c.wait(
            lambda: self.bus.get(path, "Container", "State") == "RUNNING",
            60,
            "a container that runs",
        )
        process = self.polkit("wait")
        caller = subprocess.Popen(
            self.c.as_user(self.admin)
            + [self.client, self.bus.address, "ask", "1", path, "Freeze"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout.readline().startswith("system-bus-name name")
        self.method("Kill", path=path)
        self.driver.wait(3)
        self.driver("finish", 4)
        self.c.wait(lambda: path not in self.bus.objects(), 60, "the removal")
        process.stdin.write("yes\n")
        process.stdin.flush()
        assert caller.communicate(timeout=host.PATIENCE)[0].startswith(ERROR + "UnknownObject: ")
        self.end_polkit(process)
        assert self.driver.exits()[name]["exit"] == -100, self.driver.exits()[name]

    def caller_left(self):
        """A caller that has left before polkit's yes has done nothing (82)."""
        process = self.polkit("wait")
        caller = subprocess.Popen(
            self.c.as_user(self.admin)
            + [self.client, self.bus.address, "ask", "1", self.paths[0], "Freeze"],
            stdout=subprocess.PIPE,
        )
        assert process.stdout.readline().startswith("system-bus-name name")
        caller.kill()
        caller.communicate()
        process.stdin.write("yes\n")
        process.stdin.flush()
        self.c.wait(
            lambda: "D-Bus: Freeze is dropped: its caller has left" in self.node.process.tail(1000),
            60,
            "the end of the call",
        )
        assert self.bus.get(self.paths[0], "Container", "Frozen") is False
        self.end_polkit(process)

    def restarted_while_paused(self):
        self.node.process.kill()
        self.node.start()
        self.driver.registered()
        self.connected()
        self.c.wait(
            lambda: self.bus.get(self.paths[0], "Container", "State") == "PAUSED",
            60,
            "the recovered container",
        )
        assert self.driver.status(1, 1)["status"][self.names[0]]["sub"] == 3

    def methods(self):
        """As root, and as whom polkit authorizes."""
        process = self.polkit("yes")
        try:
            for user in (None, self.admin):
                self.method("Freeze", user=user)
                group = self.bus.get(self.paths[0], "Container", "ControlGroup")
                assert self.bus.get(self.paths[0], "Container", "Frozen") is True
                assert self.bus.get(self.paths[0], "Container", "State") == "PAUSED"
                with open(f"{group}/cgroup.freeze", encoding="ascii") as f:
                    assert f.read() == "1\n"
                assert self.driver.status(1, 1)["status"][self.names[0]]["sub"] == 3  # CSS_PAUSED
                self.refused("thaw it first", self.method, "Signal", "i", "15", user=user)
                self.method("Freeze", user=user)  # again is no error
                if user is None:
                    self.restarted_while_paused()
                self.method("Thaw", user=user)
                assert self.bus.get(self.paths[0], "Container", "Frozen") is False
                assert self.bus.get(self.paths[0], "Container", "State") == "RUNNING"
                said = self.driver.status(1, 1)["status"][self.names[0]]["diagnostics"]
                assert "]Container resumed by " in said, said
                self.refused("call Kill for SIGKILL", self.method, "Signal", "i", "9", user=user)
                self.refused("signal 4242", self.method, "Signal", "i", "4242", user=user)
                self.refused("other types", self.method, "Signal", "s", "TERM", user=user)
                for name, value in (
                    ("memory", 4095),
                    ("memory", 2**64 - 1),
                    ("cpu-weight", 10001),
                    ("cpu-quota", 1),
                    ("cpu-quota", 2**32),
                    ("pids", 2**40),
                ):
                    self.refused(
                        f"{name} {value}: expected ",
                        self.method,
                        "SetLimit",
                        "st",
                        name,
                        str(value),
                        user=user,
                    )
                self.refused(
                    "is no limit", self.method, "SetLimit", "st", "x" * 1000, "1", user=user
                )
                self.refused(
                    "other types", self.method, "SetLimit", "sd", "memory", "1e9", user=user
                )
                assert self.bus.get(self.paths[0], "Container", "LimitsSet") == [0, 0, 0, 0]
        finally:
            self.end_polkit(process)
