"""Containers whose jobs let their node start them again after a failure: how often, after which
failures, where, and what remains of that when the daemon is killed. Cases of test-nodemanager."""
import os

from lib.driven_node import DrivenNode
from lib.nm_driver import container

NEVER, ALL, SOME = 0, 1, 2  # ContainerRetryPolicyProto
LONG_MS = 10**9
SCHEDULED, RUNNING = 1, 2  # sub-states
RUNS = "echo run >><LOG_DIR>/runs; echo run >>work; "


class Relaunches(DrivenNode):
    def log_path(self, app, n, name):
        logs = f"{self.node.log_dirs[0]}/application_1700000000000_{app:04d}"
        return f"{logs}/{container(app, n)}/{name}"

    def runs(self, app, n=1):
        path = self.log_path(app, n, "runs")
        if not os.path.exists(path):
            return 0
        with open(path, encoding="utf-8") as f:
            return len(f.readlines())

    def sub_state(self, app, n=1):
        return self.driver.status(app, n)["status"][container(app, n)]["sub"]

    def retry(self, policy, most, *codes, interval=0, window=-1):
        self.driver("retry", policy, most, interval, window, *codes)

    def retried(self):
        """In its work and log directories, with its files, until it stays."""
        app = self.new_app()
        path = f"{self.c.root}/tmp/again"
        with open(path, "w", encoding="utf-8") as f:
            f.write("resource\n")
        self.driver(f"resource 2 2 sub/got {path}")
        self.retry(ALL, 2)
        self.driver.start(
            app,
            1,
            1,
            self.user,
            RUNS
            + "grep -q resource sub/got && test -s container_tokens || exit 99; "
            + "test \\$(wc -l <work) = 3 || exit 7; echo ><LOG_DIR>/stays; sleep 1000",
        )
        self.driver("resources none")
        self.driver("retry none")
        self.wait(lambda: self.runs(app) == 3, 60, "its third run")
        self.wait(lambda: self.sub_state(app) == RUNNING, 20, "it runs")
        row = self.driver.status(app, 1)["status"][container(app, 1)]
        assert row["exit"] == 7, row  # as Hadoop: of the last attempt
        assert row["diagnostics"].count("]Diagnostic message from attempt : \n") == 2, row
        self.node.process.kill()
        self.node.start()
        self.driver.registered()
        self.wait(lambda: container(app, 1) in self.running(), 20, "it is adopted")
        assert self.driver.stop(app, 1)["ok"]
        self.expect_ends(1)
        assert self.driver.exits()[container(app, 1)]["exit"] == -105
        assert self.runs(app) == 3
        self.driver("finish", app)
        self.c.settle(30)

    def retries_end(self):
        app = self.new_app()
        for n, (policy, most, codes, code, runs) in enumerate(
            (
                (ALL, 2, (), 7, 3),
                (SOME, 3, (5,), 7, 1),
                (SOME, 1, (5, 7), 7, 2),
                (NEVER, 3, (), 7, 1),
                (ALL, 3, (), 0, 1),
                (SOME, 3, (137, 143), 143, 1),
            ),
            1,
        ):
            self.retry(policy, most, *codes)
            end = f"exit {code}" if code != 143 else "kill -TERM \\$\\$"
            self.driver.start(app, n, 1, self.user, RUNS + end)
            self.driver("retry none")
            self.expect_ends(1)
            row = self.driver.exits()[container(app, n)]
            assert (row["exit"], row["told"], self.runs(app, n)) == (code, 1, runs), (n, row)
        self.driver("finish", app)
        self.c.settle(30)

    def killed_before_relaunch(self):
        """The daemon is killed while a container waits for its next launch: the next one launches
        it, and what is left of its retries is right; another is stopped while it waits."""
        app = self.new_app()
        self.retry(ALL, 1, interval=LONG_MS)
        self.driver.start(app, 1, 2, self.user, RUNS + "exit 7")
        self.driver("retry none")
        rows = lambda: {
            r["id"]: r["state"]
            for r in self.node.get("/ws/v1/node/containers")["containers"]["container"]
        }
        self.wait(lambda: list(rows().values()) == ["RELAUNCHING"] * 2, 30, "both wait")
        assert self.sub_state(app) == SCHEDULED
        assert self.driver.stop(app, 2)["ok"]
        self.expect_ends(1)
        assert self.driver.exits()[container(app, 2)]["exit"] == -105
        self.node.process.kill()
        self.node.start()
        self.driver.registered()
        self.expect_ends(1)
        row = self.driver.exits()[container(app, 1)]
        assert (row["exit"], row["told"], self.runs(app, 1), self.runs(app, 2)) == (7, 1, 2, 1), row
        self.driver("finish", app)
        self.c.settle(30)

    def failed_while_away(self):
        """What fails while no daemon is there is launched by the next one."""
        app = self.new_app()
        self.retry(ALL, 1)
        self.driver.start(
            app,
            1,
            1,
            self.user,
            RUNS + "until test -e <LOG_DIR>/go-on; do read -t 0.05 <> <(:); done; exit 7",
        )
        self.driver("retry none")
        self.wait(lambda: self.runs(app) == 1, 30, "it runs")
        self.wait(lambda: container(app, 1) in self.running(), 20, "it is told so")
        self.node.process.kill()
        with open(self.log_path(app, 1, "go-on"), "w", encoding="utf-8"):
            pass
        self.wait(lambda: not self.c.container_processes(), 30, "it has ended")
        self.node.start()
        self.driver.registered()
        self.expect_ends(1)
        row = self.driver.exits()[container(app, 1)]
        assert (row["exit"], row["told"], self.runs(app)) == (7, 1, 2), row
        self.driver("finish", app)
        self.c.settle(30)
