"""What the NodeManager itself limits: the priority of jobs. Cases of test-real-settings."""
import os

from lib.nm_driver import container
from lib.worker_machine import WorkerMachine

NM = "yarn.nodemanager."


class MonitoredContainers(WorkerMachine):
    def starts(self, app, number, command):
        answer = self.driver.start(app, number, 1, self.user, command)
        assert answer.get("ok"), answer

    def logs_of(self, app, number):
        """The container's directory below the node's log directory."""
        name = container(app, number)
        return f"{self.node.log_dirs[0]}/application_1700000000000_{app:04d}/{name}"

    def ends(self, app, number):
        self.wait(
            lambda: self.driver("beats", 60000, 1)["reached"]
            and self.driver.exits()[container(app, number)]["told"],
            "its end",
        )
        return self.driver.exits()[container(app, number)]

    def lowered_priority(self):
        """Every process of a job has the niceness, and none can undo it."""
        before = os.getpriority(os.PRIO_PROCESS, 0)
        wanted = str(min(before + 7, 19))
        self.restart({NM + "container-executor.os.sched.priority.adjustment": "7"})
        app = self.new_app()
        self.starts(
            app,
            1,
            "(nice; nice -n -3 nice; renice -n 0 -p \\$\\$; nice; sh -c nice) 2>&1 "
            "><LOG_DIR>/stdout; exit 5",
        )
        row = self.ends(app, 1)
        assert row["exit"] == 5, row
        with open(f"{self.logs_of(app, 1)}/stdout", encoding="ascii") as f:
            said = [line for line in f.read().splitlines() if line.isdigit()]
        assert said == [wanted] * 4, said
        self.driver("finish", app)
        self.restart()
        assert self.one(f"test \\$(nice) = {before}")["exit"] == 0
