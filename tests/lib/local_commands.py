"""The commands of `selvedge` that ask the NodeManager of their machine over D-Bus: cases of
test-dbus, on its cluster and bus."""
import json
import os
import pty
import re
import select
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cluster import host  # noqa: E402
from lib.message_bus import path_of  # noqa: E402
from lib.nm_driver import container  # noqa: E402


class LocalCommands:
    def __init__(self, test):
        self.t, self.c, self.node = test, test.c, test.node

    def argv(self, *words):
        return [f"{self.c.prefix}/bin/selvedge", "--conf", self.node.conf_dir, *words]

    def run(self, *words, user=None):
        argv = (self.c.as_user(user) if user else []) + self.argv(*words)
        return subprocess.run(
            argv,
            env=self.c.daemon_env(self.node.conf_dir, "client"),
            cwd="/",
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=4 * host.PATIENCE,
            check=False,
        )

    def ok(self, *words, user=None):
        done = self.run(*words, user=user)
        assert done.returncode == 0 and not done.stderr, (words, done)
        return done.stdout

    def fails(self, code, text, *words, user=None):
        """With one line on stderr, nothing on stdout."""
        done = self.run(*words, user=user)
        assert done.returncode == code and not done.stdout, (words, done)
        assert done.stderr.count("\n") == 1 and text in done.stderr, (words, done.stderr)

    def without(self, text):
        """No bus, or no daemon on it."""
        for words in (
            ("node", "status", "--local"),
            ("node", "drain", "--wait=1"),
            ("node", "undrain"),
            ("ps", "--local"),
            ("top", "--local"),
            ("inspect", "--local", self.t.names[0]),
        ):
            self.fails(1, text, *words)

    def wrong_usage(self):
        """Exit code 2 before anything is done."""
        for words in (
            ("node", "status"),
            ("node", "undrain", "now"),
            ("node", "drain", "now"),
            ("top", "--local", "x"),
            ("inspect",),
            ("inspect", "--local"),
            ("ps", "--local", "application_1_1"),
        ):
            self.fails(2, "usage: ", *words)
        for words in (
            ("node", "drain", "--wait=soon"),
            ("node", "undrain", "--wait"),
            ("node", "status", "--local", "--reason", "x"),
            ("top", "--local", "--sort", "name"),
            ("node", "drain", "--reson", "x"),
            ("inspect", "--local", "application_1_1"),
        ):
            self.fails(2, "selvedge: ", *words)
        assert self.t.bus.get("/org/selvedge/NodeManager1", "Node", "Draining") is False

    def lists(self):
        """ps, top and inspect show whoever asks what he may see."""
        t = self.t
        for user, seen in (
            (None, t.names),
            (t.admin, t.names),
            (t.users[0], t.names[:1]),
            (t.stranger, []),
        ):
            for command in (
                ("ps", "top") if user in (None, t.users[0]) else ("ps",)
            ):  # top takes a second
                found = json.loads(self.ok(command, "--local", "--json", user=user))
                assert [p["Id"] for p in found] == seen or sorted(p["Id"] for p in found) == seen, (
                    user,
                    command,
                    found,
                )
        for command, user, n in (("ps", None, 2), ("ps", t.stranger, 0), ("top", t.users[1], 1)):
            lines = self.ok(command, "--local", user=user).splitlines()
            assert len(lines) == 1 + n and lines[0].startswith("CONTAINER"), (user, command, lines)
        for command in ("ps", "top"):
            assert sorted(self.ok(command, "--local", "-o", "name").split()) == sorted(
                t.names
            ), command
            fields = self.ok(command, "--local", "-o", "Id,State", "--no-headers").splitlines()
            assert sorted(fields) == sorted(f"{name}\tRUNNING" for name in t.names), fields
            assert self.ok(command, "--local", "-o", "yaml").count("\n  Id: ") + self.ok(
                command, "--local", "-o", "yaml"
            ).count("- Id: ") == len(t.names)
            self.fails(2, "nothing: no such field", command, "--local", "-o", "nothing")
        wide, table = (
            self.ok("ps", "--local", "-o", form).splitlines()[0].split()
            for form in ("wide", "table")
        )
        assert set(wide) - set(table) == {"PIDS", "PEAK", "EXIT", "STARTED"}, (wide, table)
        row = next(line for line in self.ok("ps", "--local").splitlines() if t.names[0] in line)
        assert (
            t.users[0].pw_name in row
            and "RUNNING" in row
            and "64.0 MiB" in row
            and row.endswith("PASSWORD=")
        ), row
        top = json.loads(self.ok("--json", "top", "--sort", "memory", "--local"))
        assert (
            top[0]["MemoryCurrent"] >= top[1]["MemoryCurrent"] and 0 <= top[0]["CPUCores"] < 64
        ), top
        one = json.loads(self.ok("inspect", "--local", "--json", t.names[0], user=t.users[0]))
        assert (
            one["Id"] == t.names[0] and one["State"] == "RUNNING" and len(one["CPUPressure"]) == 4
        ), one
        text = self.ok("inspect", "--local", t.names[0])
        for words in (
            rf"^Container +{t.names[0]}$",
            r"^State +RUNNING$",
            r"^Started +\d+s ago$",
            r"^Memory asked +64\.0 MiB$",
            r"^Waits for CPU +\d+\.\d % of the last 10 s, all of it ",
        ):
            assert re.search(words, text, re.M), (words, text)
        assert "Ended" not in text and "Exit code" not in text, text
        self.fails(
            1,
            "not on this node, or not one of yours",
            "inspect",
            "--local",
            t.names[1],
            user=t.users[0],
        )

    def screen(self):
        """top on a terminal: drawn again with another order after a key, ended by q; the terminal
        is left as it was."""
        main, terminal = pty.openpty()
        before = subprocess.run(
            ["stty", "-g"], stdin=terminal, capture_output=True, check=True
        ).stdout
        process = subprocess.Popen(
            self.argv("top", "--local"),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            cwd="/",
            env=self.c.daemon_env(self.node.conf_dir, "client"),
        )
        shown = b""
        try:
            for key, wanted in ((b"m", b"by processor;"), (b"q", b"by memory;")):
                while shown.count(b"\033[H") < 30 and (
                    wanted not in shown
                    or self.t.names[0].encode() not in shown.rsplit(wanted, 1)[1]
                ):
                    assert select.select([main], [], [], host.PATIENCE)[0], shown
                    shown += os.read(main, 65536)
                assert wanted in shown, shown
                os.write(main, key)
            assert process.wait(host.PATIENCE) == 0, shown
            while select.select([main], [], [], 0)[0]:
                shown += os.read(main, 65536)
            assert shown.rstrip().endswith(b"\033[?1049l"), shown
            assert (
                subprocess.run(
                    ["stty", "-g"], stdin=terminal, capture_output=True, check=True
                ).stdout
                == before
            )
        finally:
            process.kill()
            process.wait()
            os.close(main)
            os.close(terminal)

    def drains(self):
        """node drain, status --local, undrain; --wait ends at its time while containers run; others
        are refused."""
        self.fails(1, "refused: root may do this", "node", "drain", user=self.t.stranger)
        assert self.ok("node", "drain", "--reason", "two words").startswith(
            f"{self.node.id} is drained: two words; 2 containers"
        )
        shown = self.ok("node", "status", "--local", user=self.t.stranger)
        assert (
            f"Node          {self.node.id}\n" in shown and "Drained       two words\n" in shown
        ), shown
        assert "unhealthy: drained: two words" in shown, shown
        done = self.run("node", "drain", "--wait=1")
        assert done.returncode == 1 and "still has 2 containers after 1 s" in done.stderr, done
        node = json.loads(self.ok("node", "undrain", "--json"))
        assert (
            node["Draining"] is False and node["Healthy"] is True and node["Id"] == self.node.id
        ), node

    def waits(self):
        """node drain --wait on a node without containers."""
        assert "is drained: an operator (uid 0); 0 containers" in self.ok("node", "drain", "--wait")
        assert "healthy" in self.ok("node", "undrain")

    def waits_until_they_end(self):
        """node drain --wait returns when the container that runs has ended."""
        assert self.t.driver.start(6, 1, 1, self.t.users[0].pw_name, "sleep 1000")["ok"]
        waiting = subprocess.Popen(
            self.argv("node", "drain", "--wait"),
            env=self.c.daemon_env(self.node.conf_dir, "client"),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert waiting.stderr.readline() == "selvedge: waiting for 1 containers to end\n"
            assert waiting.poll() is None
            self.t.driver.stop(6, 1)
            out, errors = waiting.communicate(timeout=host.PATIENCE)
        finally:
            waiting.kill()
            waiting.wait()
        assert waiting.returncode == 0 and "; 0 containers" in out and not errors, (
            waiting.returncode,
            out,
            errors,
        )
        assert "healthy" in self.ok("node", "undrain")
        self.t.driver("finish", 6)
        gone = path_of("container", container(6, 1))
        self.c.wait(lambda: gone not in self.t.bus.objects(), host.PATIENCE, "the removal")
