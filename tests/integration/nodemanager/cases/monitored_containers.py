"""What the NodeManager itself limits: virtual memory, sizes of logs, priority. Cases of
test-real-settings."""
import os
import urllib.error
import urllib.request

from cluster import host
from lib.nm_driver import container
from lib.worker_machine import WorkerMachine

NM = "yarn.nodemanager."
# Address space that is never touched, in a process whose parent has little.
MAPS = (
    "exec python3 -c 'import mmap, sys, time; m = mmap.mmap(-1, int(sys.argv[1]) << 20, "
    'flags=34, prot=0); print("mapped", flush=True); time.sleep(600)\' {} ><LOG_DIR>/stdout'
)


class MonitoredContainers(WorkerMachine):
    def starts(self, app, number, command):
        answer = self.driver.start(app, number, 1, self.user, command)
        assert answer.get("ok"), answer

    def logs_of(self, app, number):
        """The container's directory below the node's log directory."""
        name = container(app, number)
        return f"{self.node.log_dirs[0]}/application_1700000000000_{app:04d}/{name}"

    def says(self, app, number, words):
        """Waits until its stdout has the words."""
        path = f"{self.logs_of(app, number)}/stdout"

        def said():
            if not os.path.exists(path):
                return False
            with open(path, encoding="ascii") as f:
                return words in f.read()

        self.wait(said, f"container {number} says {words}")

    def ends(self, app, number):
        self.wait(
            lambda: self.driver("beats", 60000, 1)["reached"]
            and self.driver.exits()[container(app, number)]["told"],
            "its end",
        )
        return self.driver.exits()[container(app, number)]

    def log_answer(self, app, number):
        """Status of a request for its stdout."""
        path = f"/ws/v1/node/containerlogs/{container(app, number)}/stdout?size=10"
        try:
            with urllib.request.urlopen(self.node.url + path, timeout=host.PATIENCE) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def virtual_memory(self):
        """One that maps twice its limit and more is killed; one within it goes on."""
        self.restart(
            {
                NM + "vmem-check-enabled": "true",
                NM + "vmem-pmem-ratio": "4",
                NM + "resource-monitor.interval-ms": "100",
            }
        )
        info = self.node.get("/ws/v1/node/info")["nodeInfo"]
        assert info["vmemCheckEnabled"] is True, info
        app = self.new_app()
        self.starts(app, 1, MAPS.format(1))
        self.starts(app, 2, MAPS.format(100000))
        row = self.ends(app, 2)
        assert row["exit"] == -103, row
        for words in (
            "beyond the 'VIRTUAL' memory limit. Current usage: ",
            "virtual memory used. Killing container.",
            "processes is ",
            "(python3) with ",
            "yarn.nodemanager.vmem-check-enabled",
        ):
            assert words in row["diagnostics"], row
        self.says(app, 1, "mapped")
        assert self.running() == [container(app, 1)], self.running()
        usage = self.node.get("/jmx?qry=Hadoop:service=NodeManager,name=NodeManagerMetrics")
        assert "ContainerUsedVMemGB" in usage["beans"][0], usage
        # between once and twice its limit, of 256 MB: when it has been read twice
        self.starts(app, 3, MAPS.format(350))
        row = self.ends(app, 3)
        assert row["exit"] == -103 and "of 256 MB virtual memory used" in row["diagnostics"], row
        self.driver("finish", app)

    def sizes_of_logs(self):
        """A container with larger logs than it may have is killed, wherever below its directory
        they are; what a link leads to does not count. A disk that hangs holds up no heartbeat, and
        when it is back its logs are measured again."""
        self.restart(
            {
                NM + "container-log-monitor.enable": "true",
                NM + "container-log-monitor.interval-ms": "100",
                NM + "container-log-monitor.dir-size-limit-bytes": "1000000",
            }
        )
        app = self.new_app()
        self.starts(
            app,
            1,
            "head -c 900000 /dev/zero ><LOG_DIR>/stdout; ln -s /bin/bash <LOG_DIR>/link; "
            "ln -s /usr <LOG_DIR>/usr; until [ -e go ]; do sleep 0.1; done; exit 7",
        )
        self.starts(
            app,
            2,
            "mkdir -p <LOG_DIR>/a/b; head -c 1100000 /dev/zero ><LOG_DIR>/a/b/more; "
            "exec sleep 1000",
        )
        row = self.ends(app, 2)
        assert row["exit"] == -109, row
        for words in (
            "has larger logs than one log directory may have",
            "Limit: 1000000 bytes, size: ",
            f"log directory: {self.node.log_dirs[0]}. Killing container.",
        ):
            assert words in row["diagnostics"], row
        self.starts(
            app,
            3,
            "cd <LOG_DIR>; for i in 1 2 3 4 5 6 7 8 9; do mkdir d; cd d; done; exec sleep 1000",
        )
        row = self.ends(app, 3)
        assert row["exit"] == -109 and "its logs cannot be measured" in row["diagnostics"], row
        assert self.running() == [container(app, 1)], self.running()
        with host.hung_disk(self.node.log_dirs[0]):
            self.wait(lambda: self.log_answer(app, 1) == 503, "the disk does not answer")
            assert self.driver("beats", 20000, 3)["reached"]
        self.starts(app, 4, "head -c 1100000 /dev/zero ><LOG_DIR>/stdout; exec sleep 1000")
        row = self.ends(app, 4)
        assert row["exit"] == -109, row
        assert self.running() == [container(app, 1)], self.running()
        assert self.log_answer(app, 1) == 200
        self.driver("finish", app)

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
