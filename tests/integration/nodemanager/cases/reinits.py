"""Running containers that their ApplicationMaster changes: another launch context, back, committed,
restarted; further files localized; and the daemon killed meanwhile. Cases of test-nodemanager."""
import os

from lib.driven_node import DrivenNode
from lib.nm_driver import YARN, container

SIGNAL = 5  # of executor/request.h
SCHEDULED, RUNNING = 1, 2  # sub-states
PENDING, COMPLETED, FAILED = 1, 2, 3  # LocalizationStateProto


def names(name, then="sleep 1000"):
    """A command that notes its name in the log directory, and in the work directory."""
    return f"echo {name} >><LOG_DIR>/names; echo {name} >>work; {then}"


class Reinits(DrivenNode):
    def log_lines(self, app, n, name):
        logs = f"{self.node.log_dirs[0]}/application_1700000000000_{app:04d}"
        path = f"{logs}/{container(app, n)}/{name}"
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as f:
            return f.read().split()

    def told_of(self, app, n=1):
        return self.driver.status(app, n)["status"][container(app, n)]

    def runs_as(self, app, wanted, n=1):
        """Until these have run, one after the other, and the last one does."""
        self.wait(
            lambda: self.log_lines(app, n, "names") == wanted
            and self.told_of(app, n)["sub"] == RUNNING,
            60,
            f"{wanted} run",
        )

    def refused_change(self, words, *args, **kw):
        answer = self.driver.change(*args, **kw)
        assert answer.get("class") == YARN + "YarnException", answer
        assert words in answer["message"], answer

    def file(self, name, content="late\n"):
        path = f"{self.c.root}/tmp/{name}"
        with open(path, "w", encoding="utf-8") as f:
            f.write(content)
        return path

    # --- cases ------------------------------------------------------------------------------

    def reinitialized(self):
        app, other = self.new_app(), self.new_app()
        name, change = container(app, 1), self.driver.change
        self.refused_change(f"Specified {name} does not exist!", "restartContainer", app, 1)
        self.driver.start(app, 1, 1, self.user, names("a"))
        self.runs_as(app, ["a"])
        for method, op in (
            ("localize", "LOCALIZE"),
            ("reInitializeContainer", "RE_INIT"),
            ("restartContainer", "RE_INIT"),
            ("rollbackLastReInitialization", "ROLLBACK"),
            ("commitLastReInitialization", "COMMIT"),
        ):
            self.refused_change(
                f"ApplicationMaster not authorized to perform [{op}] on Container [{name}]!!",
                method,
                app,
                1,
                command="true",
                caller=other,
            )
        self.refused_change("Nothing to rollback to !!", "rollbackLastReInitialization", app, 1)
        self.refused_change("Nothing to Commit !!", "commitLastReInitialization", app, 1)
        assert change("reInitializeContainer", app, 1, False, names("b")) == {}
        self.runs_as(app, ["a", "b"])
        assert change("restartContainer", app, 1) == {}
        self.runs_as(app, ["a", "b", "b"])
        self.node.process.kill()
        self.node.start()
        self.driver.registered()
        self.runs_as(app, ["a", "b", "b"])
        assert change("rollbackLastReInitialization", app, 1) == {}
        self.runs_as(app, ["a", "b", "b", "a"])
        self.refused_change("Nothing to rollback to !!", "rollbackLastReInitialization", app, 1)
        assert change("reInitializeContainer", app, 1, False, names("d", "exit 9")) == {}
        self.runs_as(app, ["a", "b", "b", "a", "d", "a"])
        assert change("reInitializeContainer", app, 1, False, names("e")) == {}
        self.runs_as(app, ["a", "b", "b", "a", "d", "a", "e"])
        assert change("commitLastReInitialization", app, 1) == {}
        self.refused_change("Nothing to rollback to !!", "rollbackLastReInitialization", app, 1)
        command = names("f", "cp work <LOG_DIR>/work; sleep 1000")
        assert change("reInitializeContainer", app, 1, True, command) == {}
        wanted = ["a", "b", "b", "a", "d", "a", "e", "f"]
        self.runs_as(app, wanted)
        self.wait(lambda: self.log_lines(app, 1, "work") == wanted, 20, "one work directory")
        text = self.told_of(app)["diagnostics"]
        for words, count in (
            ("]Container will be Re-initialized.\n", 3),
            ("]Container Re-init Auto Rolled-Back.\n", 1),
        ):
            assert text.count(words) == count, text  # since the restart
        log = self.node.process.tail(400)
        assert "Container ReInitialization - Started" in log
        assert "Container ReInitialization - Finished" in log
        assert self.driver.stop(app, 1)["ok"]
        self.expect_ends(1)
        assert self.driver.exits()[name]["exit"] == -105
        for a in (app, other):
            self.driver("finish", a)
        self.c.settle(30)

    def killed_while_reinitializing(self):
        """The daemon is killed once it has asked for the end of the old process: the next one
        launches the new context, with the files that it brings."""
        app = self.new_app()
        self.driver.start(app, 1, 2, self.user, names("a"))
        for n in (1, 2):
            self.runs_as(app, ["a"], n)
        self.driver(f"resource 2 2 new {self.file('new')}")
        with self.held_back(SIGNAL) as held:
            for n in (1, 2):
                answer = self.driver.change(
                    "reInitializeContainer", app, n, False, names("b", "cat new && sleep 1000")
                )
                assert answer == {}, answer
            self.wait(lambda: len(held()) >= 2, 60, "the helper is asked for signals")
            assert self.told_of(app)["sub"] == SCHEDULED
            self.refused_change("Cannot perform RE_INIT on [", "restartContainer", app, 1)
            self.node.process.kill()
        self.driver("resources none")
        self.node.start()
        self.driver.registered()
        for n in (1, 2):
            self.runs_as(app, ["a", "b"], n)
        assert self.driver.change("rollbackLastReInitialization", app, 1) == {}
        self.runs_as(app, ["a", "b", "a"])
        self.driver("cleanup", app, 2)
        assert self.driver.stop(app, 1)["ok"]
        self.expect_ends(2)
        exits = self.driver.exits()
        assert (exits[container(app, 1)]["exit"], exits[container(app, 2)]["exit"]) == (-105, -106)
        self.driver("finish", app)
        self.c.settle(30)

    def reinit_aborted(self):
        """Files of a new context that are not there: the old process goes on."""
        app = self.new_app()
        self.driver.start(app, 1, 1, self.user, names("a"))
        self.runs_as(app, ["a"])
        path = self.file("changed")
        self.driver(f"resource 2 2 changed {path}")
        self.file("changed", "longer than it was")
        assert self.driver.change("reInitializeContainer", app, 1, False, names("b")) == {}
        self.driver("resources none")
        self.wait(
            lambda: "]Container aborting re-initialization.. " in self.told_of(app)["diagnostics"],
            60,
            "it is refused",
        )
        self.runs_as(app, ["a"])
        assert self.driver.change("reInitializeContainer", app, 1, True, names("c")) == {}
        self.runs_as(app, ["a", "c"])
        self.driver("cleanup", app, 1)
        self.expect_ends(1)
        self.driver("finish", app)
        self.c.settle(30)

    def localized_late(self):
        app = self.new_app()
        self.driver.start(
            app,
            1,
            1,
            self.user,
            "echo mine >taken; "
            + names(
                "a",
                "until test -e sub/late; do read -t 0.05 <> <(:); done; "
                "cat sub/late taken ><LOG_DIR>/seen; sleep 1000",
            ),
        )
        self.runs_as(app, ["a"])
        self.driver(f"resource 2 2 sub/late {self.file('late')}")
        self.driver(f"resource 2 2 taken {self.file('taken', 'theirs')}")
        self.driver(f"resource 2 2 wrong {self.file('wrong')}")
        self.file("wrong", "another size")
        assert self.driver.change("localize", app, 1) == {}
        self.driver("resources none")
        statuses = {"sub/late": COMPLETED, "taken": COMPLETED, "wrong": FAILED}
        self.wait(lambda: self.driver("localization", app, 1) == statuses, 60, "it is localized")
        self.wait(lambda: self.log_lines(app, 1, "seen") == ["late", "mine"], 60, "the job sees it")
        self.node.process.kill()
        self.node.start()
        self.driver.registered()
        self.wait(lambda: container(app, 1) in self.running(), 60, "it is adopted")
        self.wait(lambda: self.driver("localization", app, 1) == statuses, 60, "and has its files")
        assert self.driver.change("restartContainer", app, 1) == {}
        self.runs_as(app, ["a", "a"])
        # A launch puts its links in the place of what is there, as Hadoop's.
        self.wait(lambda: self.log_lines(app, 1, "seen") == ["late", "theirs"], 60, "again")
        assert self.driver.stop(app, 1)["ok"]
        self.expect_ends(1)
        self.driver("finish", app)
        self.c.settle(30)
