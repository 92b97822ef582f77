"""The daemon ends, is killed or is stopped at any moment, and another one takes its containers up.
Cases of test-nodemanager."""
import contextlib
import os

from cluster import host
from lib.driven_node import DrivenNode
from lib.nm_driver import container

INIT_APP, SIGNAL = 2, 5  # of executor/request.h


class Restarts(DrivenNode):
    def acknowledgement_lost(self):
        """An end that nobody acknowledges is told again after a restart, with the same exit
        code."""
        app = self.new_app()
        self.driver("ack", "off")
        self.driver.start(app, 1, 1, self.user, "exit 5")
        self.expect_ends(1)
        self.node.process.kill()
        self.node.start()
        again = self.driver.registered()
        row = [c for c in again["containers"] if c["id"] == container(app, 1)]
        assert row and row[0]["exit"] == 5 and row[0]["state"] == 3, again
        self.driver("ack", "on")
        self.driver("finish", app)

    def replay_after_restart(self):
        app = self.new_app()
        assert self.driver.start(app, 1, 1, self.user, "true")["ok"]
        self.expect_ends(1)
        self.node.process.kill()
        self.node.start()
        self.driver.registered()
        answer = self.driver.start(app, 1, 1, self.user, "true")
        assert (
            not answer["ok"]
            and "Attempt to relaunch" in answer["failed"][container(app, 1)]["message"]
        ), answer
        self.driver("finish", app)

    def directories_first(self):
        """What a killed daemon had accepted, and perhaps asked for, is launched by the next one
        when the application has its directories, not before; killed meanwhile it ends as killed,
        also by the daemon after that one.
        """
        app, other = self.new_app(), self.new_app()
        with self.held_back(INIT_APP) as held:
            assert self.driver.start(app, 1, 3, self.user, "exit 4")["ok"]
            assert self.driver.start(other, 1, 1, self.user, "exit 4")["ok"]
            for life in (1, 2, 3):
                self.wait(
                    lambda n=2 * life: len(held()) >= n,
                    60,
                    "the helper is asked for the directories",
                )
                if life == 2:
                    self.driver("cleanup", app, 3)
                    assert self.driver("beats", 60000, 3)["reached"]
                if life == 3:
                    break
                self.node.process.kill()
                self.node.start()
                self.driver.registered()
            self.driver("cleanup", app, 2)
            self.driver("finish", other)
            assert self.driver("beats", 60000, 5)["reached"]
            mine = [container(app, 1), container(app, 2), container(app, 3), container(other, 1)]
            assert not [c for c in mine if self.driver.exits()[c]["told"]], self.driver.exits()
        self.expect_ends(4)
        rows = [self.driver.exits()[c] for c in mine]
        assert [row["exit"] for row in rows] == [4, -106, -106, -107], rows
        self.driver("finish", app)
        self.c.settle(30)

    def stopped_meanwhile(self):
        """Stopped while the helper makes an application's directories: the next daemon asks again,
        and nothing has leaked."""
        app = self.new_app()
        with self.held_back(INIT_APP) as held:
            assert self.driver.start(app, 1, 1, self.user, "exit 4")["ok"]
            self.wait(held, 60, "the helper is asked for the directories")
            self.node.process.stop()
            self.node.start()
            self.driver.registered()
        self.expect_ends(1)
        assert self.driver.exits()[container(app, 1)]["exit"] == 4, self.driver.exits()
        self.driver("finish", app)
        self.c.settle(30)

    @contextlib.contextmanager
    def held_back(self, *operations):
        """Requests of these operations reach the helper when the block is left. Gives a function
        that tells the processes that have held one back; one whose daemon has gone ends."""
        for old in ("held", "go"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{self.c.root}/tmp/{old}")
        helper, seen, go = self.helper, f"{self.c.root}/tmp/held", f"{self.c.root}/tmp/go"
        real, new, wrapper = (
            f"{self.node.libexec}/container-executor",
            f"{helper}-new",
            f"{helper}-wrapper",
        )
        owner = os.stat(real)
        # The kernel reads the one at its exec, Python the other some time later: that one stays.
        for path, text in (
            (
                wrapper,
                "#!/usr/bin/python3 -IS\n"
                "import os, select, socket, struct, sys\n"
                "peer = select.poll()\n"
                "peer.register(0, select.POLLHUP)\n"
                "request = socket.socket(fileno=os.dup(0)).recv(8, socket.MSG_PEEK)\n"
                "if len(request) < 8: sys.exit(1)\n"  # hung up without a request
                f"if struct.unpack_from('<H', request, 6)[0] in {list(operations)}:\n"
                f"    with open('{seen}', 'a') as f: f.write('%d\\n' % os.getpid())\n"
                f"    while not os.path.exists('{go}'):\n"
                "        if peer.poll(10): sys.exit(1)\n"
                f"os.execve('{real}', ['container-executor'], {{}})\n",
            ),
            (new, f"#!{wrapper}\n"),
        ):
            with open(path, "w", encoding="ascii") as f:
                f.write(text)
            os.chown(path, owner.st_uid, owner.st_gid)
            os.chmod(path, 0o750)
        os.rename(new, helper)

        def held():
            with contextlib.suppress(FileNotFoundError), open(seen, encoding="ascii") as f:
                return f.read().split()
            return []

        try:
            yield held
        finally:
            os.symlink(real, new)
            os.rename(new, helper)
            with open(go, "w", encoding="ascii"):
                pass

    def launch_begun_elsewhere(self):
        """A killed daemon had begun a launch on one disk, its successor made it on another: what
        the first began goes with the application."""
        app = self.new_app()
        self.driver.start(app, 1, 1, self.user, "true")
        self.expect_ends(1)
        for local in self.node.local_dirs:
            begun = f"{local}/nmPrivate/application_1700000000000_{app:04d}/{container(app, 2)}"
            os.makedirs(begun, exist_ok=True)
            with open(f"{begun}/{container(app, 2)}.status", "wb"):
                pass
            for path in (os.path.dirname(begun), begun, f"{begun}/{container(app, 2)}.status"):
                os.chown(path, self.c.daemon.pw_uid, self.c.daemon.pw_gid)
        self.driver("finish", app)
        self.c.settle(30)

    def clean_stop_keeps_containers(self):
        app = self.new_app()
        self.driver.start(app, 1, 1, self.user, "sleep 1000")
        self.wait(lambda: container(app, 1) in self.running(), 20, "running")
        self.node.process.stop()
        assert self.driver("unregistered")["unregistered"] is False
        self.node.start()
        again = self.driver.registered()
        assert [c["state"] for c in again["containers"] if c["id"] == container(app, 1)] == [
            2
        ], again
        self.wait(lambda: self.driver.stop(app, 1)["ok"], 20, "stop after the adoption")
        self.expect_ends(1)
        assert self.driver.exits()[container(app, 1)]["exit"] == -105
        self.driver("finish", app)

    def stopped_while_asking(self):
        """Stopped before the helper has answered: the next daemon goes on, and nothing has
        leaked."""
        app = self.new_app()
        self.driver.start(app, 1, 1, self.user, "sleep 1000")
        self.wait(lambda: container(app, 1) in self.running(), 60, "running")
        with self.held_back(SIGNAL) as held:
            self.driver("cleanup", app, 1)
            self.wait(held, 60, "the helper is asked for a signal")
            self.node.process.stop()
        self.node.start()
        self.driver.registered()
        self.expect_ends(1)
        assert self.driver.exits()[container(app, 1)]["exit"] == -106, self.driver.exits()
        self.driver("finish", app)

    def term_comes_first(self):
        """However long the helper takes to send it, a container has its time from SIGTERM to
        SIGKILL."""
        app = self.new_app()
        log = f"{self.node.log_dirs[0]}/application_1700000000000_{app:04d}/{container(app, 1)}"
        self.driver.start(
            app,
            1,
            1,
            self.user,
            "trap '' TERM; echo ><LOG_DIR>/ready; while :; do read -t 0.02 <> <(:); done",
        )
        self.wait(lambda: os.path.exists(f"{log}/ready"), 20, "it runs")
        with self.held_back(SIGNAL) as held:
            self.driver.stop(app, 1)
            self.wait(held, 60, "the helper is asked for a signal")
            assert self.driver("beats", 60000, 10)[
                "reached"
            ]  # a second; SIGKILL comes a quarter of one after SIGTERM
            assert not self.driver.exits()[container(app, 1)][
                "told"
            ], "it was killed before it was asked to end"
        self.expect_ends(1)
        assert self.driver.exits()[container(app, 1)]["exit"] == -105, self.driver.exits()
        self.driver("finish", app)

    def stopped_then_ended_while_away(self):
        """A stop was recorded, and the process ends before the next daemon is there: as stopped."""
        app = self.new_app()
        self.driver.start(app, 1, 1, self.user, "exec sleep 1000")
        self.wait(lambda: container(app, 1) in self.running(), 20, "running")
        assert self.driver.stop(app, 1)["ok"]
        self.node.process.kill()
        for pid in self.c.container_processes():
            with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as f:
                if f.read() == b"sleep\x001000\x00":
                    os.kill(pid, 9)
        self.wait(lambda: not self.c.container_processes(), 20, "its end")
        self.node.start()
        self.driver.registered()
        self.expect_ends(1)
        row = self.driver.exits()[container(app, 1)]
        assert row["exit"] == -105, row
        self.driver("finish", app)
        self.c.settle(30)

    def killed_monitor(self):
        """With its monitor the container dies; while the daemon is away nobody sees how: 154."""
        app = self.new_app()
        self.driver.start(app, 1, 1, self.user, "sleep 1000")
        self.wait(lambda: container(app, 1) in self.running(), 20, "running")
        self.node.process.kill()
        for pid in host.processes_of({self.c.monitor.pw_uid}):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        self.wait(lambda: not self.c.container_processes(), 20, "the container dies with it")
        self.node.start()
        self.driver.registered()
        self.expect_ends(1)
        row = self.driver.exits()[container(app, 1)]
        assert row["exit"] == 154, row
        self.driver("finish", app)

    def without_recovery(self):
        """A stop kills and unregisters; a start after a crash removes what the last life left."""
        self.node.process.stop()
        self.node.site["yarn.nodemanager.recovery.enabled"] = "false"
        self.node.start()
        self.driver.registered()
        app = self.new_app()
        self.driver.start(app, 1, 1, self.user, "touch here; sleep 1000")
        self.wait(lambda: container(app, 1) in self.running(), 20, "running")
        self.node.process.kill()
        self.node.start()
        again = self.driver.registered()
        assert not again["containers"] and not again["apps"], again
        self.c.settle(20)
        app = self.new_app()
        self.driver.start(app, 1, 1, self.user, "sleep 1000")
        self.wait(lambda: container(app, 1) in self.running(), 20, "running")
        self.node.process.stop()
        assert self.driver("unregistered")["unregistered"] is True
        self.c.settle(20)
        del self.node.site["yarn.nodemanager.recovery.enabled"]
        self.node.start()
        self.driver.registered()
        self.driver("finish", app)
        self.ended = sum(1 for r in self.driver.exits().values() if r["told"])
