"""`selvedge inspect` and `top` of the cluster: cases of test-cli, on its cluster."""
import json
import os
import pty
import re
import select
import signal
import subprocess
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def documented_keys():
    """{row of the table in docs/operate/inspect.md: its keys}."""
    with open(f"{TOP}/docs/operate/inspect.md", encoding="utf-8") as f:
        return {
            name: set(keys.split())
            for name, keys in re.findall(r"^\| (.*?) \| `([^`]*)` \|$", f.read(), re.M)
        }


class ClusterViews:
    def __init__(self, submit, running, says):
        self.submit, self.running, self.says = submit, running, says
        rows = documented_keys()
        self.keys = {
            name: next(keys for row, keys in rows.items() if row.startswith(start))
            for name, start in (
                ("application", "application"),
                ("scheduling", "its `scheduling`"),
                ("attempt", "each of its `attempts`"),
                ("listed", "each container there"),
                ("instance", "each of its `instances`"),
                ("container", "container"),
                ("on node", "its `onNode`, and"),
                ("node", "node"),
                ("info", "its `onNode` |"),
                ("queue", "queue"),
            )
            if any(row.startswith(start) for row in rows)
        }
        self.keys["info"] = rows["its `onNode`"]

    def has(self, kind, found, without=("unavailable",)):
        """Exactly the documented keys."""
        assert set(found) == self.keys[kind] - set(without), (kind, set(found) ^ self.keys[kind])

    def inspect(self, c, name):
        done = c.selvedge("inspect", name)
        assert done.returncode == 0 and not done.stderr, done
        found = json.loads(done.stdout)
        assert done.stdout.startswith("{\n  "), done.stdout  # for people
        one_line = c.selvedge("inspect", "--json", name).stdout
        assert one_line.count("\n") == 1 and set(json.loads(one_line)) == set(found), one_line
        return found

    def inspected(self, c):
        app = self.submit(c, "-n", "2", "-N", 'two \u202e"', "--", "exec sleep 600")
        self.running(c, app, 2)
        found = self.inspect(c, app)
        self.has("application", found)
        status = json.loads(c.selvedge("app", "status", "--json", app).stdout)
        for key in ("id", "user", "queue", "name", "type", "startedTime", "attempt"):
            assert found[key] == status[key], (key, found, status)
        assert found["kind"] == "application" and found["state"] == "RUNNING", found
        self.has("scheduling", found["scheduling"])
        assert found["scheduling"]["masterNode"] == c.nodes[0].id, found
        assert len(found["attempts"]) == 1 and len(found["attempts"][0]["containers"]) == 3, found[
            "attempts"
        ]
        self.has("attempt", found["attempts"][0])
        for one in found["attempts"][0]["containers"]:
            self.has("listed", one)
        for one in found["instances"]:
            self.has("instance", one)
        self.one_container(c, found["instances"][1]["container"], app)
        self.node_and_queue(c, app)
        for words in (str(int(app.rsplit("_", 1)[1])), "@last", 'two \u202e"'):
            assert self.inspect_once(c, words)["id"] == app, words
        self.says(c.selvedge("kill", app), 0, "is over")

    def one_container(self, c, name, app):
        # RUNNING at the ResourceManager is a heartbeat's word; it may be launched yet.
        c.wait(
            lambda: self.inspect(c, name)["onNode"]["state"] == "RUNNING",
            60,
            f"{name} runs on its node",
        )
        found = self.inspect(c, name)
        self.has("container", found)
        self.has("on node", found["onNode"])
        assert (found["kind"], found["application"], found["exitCode"]) == (
            "container",
            app,
            None,
        ), found
        assert found["onNode"]["state"] == "RUNNING", found
        assert (found["onNode"]["pids"] is not None) == c.cgroup.enforced, found
        assert "stdout" in found["onNode"]["logFiles"], found
        self.says(c.selvedge("inspect", "-o", "yaml", name), 0, f'application: "{app}"\n')

    def node_and_queue(self, c, app):
        node = c.nodes[0]
        found = self.inspect(c, node.id)
        self.has("node", found)
        self.has("info", found["onNode"])
        assert found["containers"] == 3 and len(found["containersOnNode"]) >= 3, found
        for one in found["containersOnNode"]:
            self.has("on node", one)
        assert self.inspect(c, node.id.split(":")[0])["id"] == node.id
        for name in ("root.default", "default"):
            found = self.inspect(c, name)
            self.has("queue", found)
            assert (found["path"], found["applications"], found["children"]) == (
                "root.default",
                [app],
                [],
            ), found
        assert self.inspect(c, "root")["children"] == ["root.default", "root.other"]

    def ended_and_unknown(self, c):
        app = self.submit(c, "--", "echo bad >&2; exit 7")
        self.says(c.selvedge("wait", app), 7, "FAILED")
        found = self.inspect(c, app)
        assert [(i["exitCode"], i["state"]) for i in found["instances"]] == [(7, "DONE")], found
        one = self.inspect(c, found["instances"][0]["container"])
        assert (one["exitCode"], one["onNode"]["exitCode"], one["kind"]) == (7, 7, "container"), one
        unknown = found["instances"][0]["container"].replace("_000002", "_000099")
        self.says(c.selvedge("inspect", unknown), 1, "lists this container")
        self.says(c.selvedge("inspect", "application_1_1"), 1, "does not know this application")
        self.says(
            c.selvedge("inspect", "container_1_0001_01_000001"), 1, "does not know this application"
        )
        self.says(
            c.selvedge("inspect", "nowhere"),
            1,
            "nowhere: no application, container, node or queue has this name",
        )
        self.says(c.selvedge("inspect", "container_1"), 2, "container_1: not a container")

    def silent_node(self, c):
        """What a node does not tell is listed, the rest is shown; the command succeeds."""
        c.nodes[0].process.process.send_signal(signal.SIGSTOP)
        try:
            found = self.inspect_once(c, c.nodes[0].id)
        finally:
            c.nodes[0].process.process.send_signal(signal.SIGCONT)
        assert found["onNode"] is None and {u["what"] for u in found["unavailable"]} == {
            "onNode",
            "containersOnNode",
        }, found

    @staticmethod
    def inspect_once(c, name):
        done = c.selvedge("--wait", "2s", "inspect", "--json", name)
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    def topped(self, c):
        # Busy a part of the time: other tests need the processors, too.
        app = self.submit(
            c,
            "-n",
            "2",
            "-N",
            "busy",
            "--",
            "while :; do for ((i = 0; i < 5000; i++)); do :; done; sleep 0.05; done",
        )
        self.running(c, app, 2)

        def used():  # the node reads the counters from time to time
            rows = json.loads(c.selvedge("top", "--json").stdout)
            return (
                [r["id"] for r in rows] == [app]
                and (rows[0]["cpuCores"] or 0) > 0
                and (rows[0]["memoryBytes"] is not None) == c.cgroup.enforced
            )

        c.wait(used, 30, "top tells the processors in use")
        table = c.selvedge("top").stdout.splitlines()
        assert len(table) == 2 and re.match(
            rf"{app} +\S+ +3 +[\d.]+% +(-|\S+ \S+) +\S+ \S+ +3 +(\S+% +){{3}}busy$", table[1]
        ), table
        rows = json.loads(c.selvedge("top", app, "--json", "--sort", "memory").stdout)
        assert {r["application"] for r in rows} == {app} and len(rows) == 3, rows
        memory = [r["memoryBytes"] or 0 for r in rows]  # null: the node does not count it
        assert memory == sorted(memory, reverse=True), rows
        names = c.selvedge(
            "top", "--containers", "--once", "--sort", "memory", "--quiet"
        ).stdout.split()
        assert sorted(names) == sorted(r["id"] for r in rows), (names, rows)
        self.says(c.selvedge("top", "--sort", "name"), 2, "--sort name: expected cpu or memory")
        self.says(
            c.selvedge("top", "application_1_1"),
            1,
            "application_1_0001: no such running application",
        )
        self.says(c.selvedge("top", "-c", "-o", "nothing"), 2, "nothing: no such field")
        self.on_terminal(c, app)
        self.says(c.selvedge("kill", app), 0, "is over")

    @staticmethod
    def on_terminal(c, app):
        """Drawn anew until q; the terminal is as before. --once: one list."""
        master, slave = pty.openpty()
        before = subprocess.run(["stty", "-g"], stdin=slave, capture_output=True, check=True).stdout
        done = subprocess.Popen(
            c.selvedge_argv("top"),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**c.client_env(), "TERM": "xterm"},
            cwd="/",
        )
        seen = ""

        def read_until(text):
            nonlocal seen
            until = time.monotonic() + 30
            while text not in seen:
                ready, _, _ = select.select([master], [], [], max(0, until - time.monotonic()))
                assert ready and time.monotonic() < until, seen
                seen += os.read(master, 65536).decode()

        try:
            read_until("by processor, m: by memory")
            os.write(master, b"m")
            read_until("by memory, c: by processor")
            os.write(master, b"q")
            read_until("\033[?1049l")
            assert done.wait(30) == 0 and app[:60] in seen, seen
            after = subprocess.run(
                ["stty", "-g"], stdin=slave, capture_output=True, check=True
            ).stdout
            assert before == after
            subprocess.run(
                c.selvedge_argv("top", "--once"),
                stdin=slave,
                stdout=slave,
                stderr=slave,
                env=c.client_env(),
                cwd="/",
                check=True,
                timeout=30,
            )
            seen = ""
            read_until(app)
            assert "\033[?1049h" not in seen and seen.startswith("APPLICATION"), seen
        finally:
            done.kill()
            done.wait()
            os.close(master)
            os.close(slave)
