"""Health scripts that find a fault, hang, fork, write 1 GiB, cannot be started, and a daemon that
is killed while one runs. Cases of test-real-settings."""
import contextlib
import os
import subprocess

from cluster import host
from cluster.node import Daemon
from lib.worker_machine import WorkerMachine

CHECKER = "yarn.nodemanager.health-checker."
TIMED_OUT = "Node health script timed out"
# $0.pids gets the numbers of their processes.
HANGS = "echo $$ >>$0.pids\nsleep 1000 &\necho $! >>$0.pids\nwait\n"
LEAVES = "setsid sh -c 'echo $$ >>'$0'.pids; exec sleep 1000' &\n"


class Supervised(Daemon):
    """In a cgroup that belongs to the daemon's account, as with Delegate= in its unit."""

    def start(self):
        self.argv = self.cluster.as_user(self.account) + self.argv
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [
                    "sh",
                    "-c",
                    'echo $$ >"$0" && exec "$@"',
                    f"{self.group}/cgroup.procs",
                    *self.argv,
                ],
                cwd="/",
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


class HealthScripts(WorkerMachine):
    def script(self, name, text):
        """Writes a script, in place of the one before, and returns its path."""
        os.makedirs(self.place, exist_ok=True)
        os.chmod(self.place, 0o777)  # the daemon's account writes beside it
        path = f"{self.place}/{name}"
        with open(f"{path}.new", "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\n" + text)
        os.chmod(f"{path}.new", 0o755)
        os.rename(f"{path}.new", path)
        return path

    @property
    def place(self):
        return f"{self.c.root}/tmp/health"

    def pids(self, path):
        with contextlib.suppress(FileNotFoundError), open(f"{path}.pids", encoding="ascii") as f:
            return f.read().split()
        return []

    def health(self):
        info = self.node.get("/ws/v1/node/info")["nodeInfo"]
        return info["nodeHealthy"], info["healthReport"]

    def wait_health(self, healthy, report):
        self.wait(lambda: self.health() == (healthy, report), f"{healthy} {report!r}")

    def wait_gone(self, pids):
        self.wait(lambda: not [p for p in pids if os.path.exists(f"/proc/{p}")], f"{pids} are gone")

    def restart_with(self, **scripts):
        """The node with these scripts, each of them {key: value}."""
        site = {CHECKER + "scripts": ",".join(scripts), CHECKER + "interval-ms": "300"}
        for name, keys in scripts.items():
            site |= {f"{CHECKER}{name}.{k.replace('_', '-')}": v for k, v in keys.items()}
        return self.restart(site)

    def health_reports(self):
        """Four scripts: each is a part of the report, whose time goes on; options; what fails is
        healthy."""
        error = self.script("error", "echo looked\necho ERROR $1 is broken\n")
        failing = self.script("failing", "echo ERROR no\nexit 1\n")
        good = self.script("good", "echo fine\necho ERROR here >&2\n")
        self.restart_with(
            a={"path": error, "opts": "/data/3,x"},
            b={"path": failing},
            c={"path": good},
            d={"path": error, "opts": "/data/4"},
        )
        one, two = "looked\nERROR /data/3 is broken\n", "looked\nERROR /data/4 is broken\n"
        self.wait_health(False, f"{one};{two}")
        words = "health script b exited with status 1: its output does not count"
        self.wait(lambda: words in self.log(), words)
        self.script("error", "echo looked\n")
        self.wait_health(True, "")
        self.script("error", "echo 'ERROR again ä'\n")
        self.wait_health(False, "ERROR again ä\n;ERROR again ä\n")

    def before_startup(self):
        """Registers when the first run has ended, and tells its result with it."""
        path = self.script("first", "mkfifo $0.go\nread x <$0.go\necho ERROR $x\n")
        self.stop()
        self.node.site = {
            **self.usual,
            CHECKER + "script.path": path,
            CHECKER + "run-before-startup": "true",
        }
        self.node.start()
        self.wait(lambda: os.path.exists(f"{path}.go"), "it runs")
        self.wait(lambda: self.health() == (True, ""), "REST answers meanwhile")
        assert "timeout" in self.driver("registered", 1), "it has registered"
        with open(f"{path}.go", "w", encoding="ascii") as f:
            f.write("go\n")
        self.driver.registered()
        assert self.health() == (False, "ERROR go\n"), self.health()

    def hanging_scripts(self):
        """Killed with what they have forked when their time is over; what a script leaves running
        ends with it, though it holds the pipe."""
        hangs = self.script("hangs", "echo ERROR before\n" + HANGS)
        leaves = self.script("leaves", "sleep 1000 &\necho $! >>$0.pids\necho ERROR left\n")
        self.restart_with(
            a={"path": hangs, "timeout_ms": "500", "interval_ms": "3600000"},
            b={"path": leaves, "interval_ms": "3600000"},
        )
        self.wait_health(False, f"{TIMED_OUT};ERROR left\n")
        found = self.pids(hangs) + self.pids(leaves)
        assert len(found) == 3, found
        self.wait_gone(found)
        assert self.driver("beats", 20000, 3)["reached"]

    def gibibyte(self):
        """1 GiB is read and not kept; the node goes on meanwhile."""
        path = self.script("much", "head -c 1073741824 /dev/zero\necho\necho ERROR at last\n")
        self.restart_with(a={"path": path, "interval_ms": "3600000"})
        self.wait_health(False, "ERROR at last\n...")
        with open(f"/proc/{self.node.process.pid}/status", encoding="ascii") as f:
            peak = next(int(line.split()[1]) for line in f if line.startswith("VmHWM:"))
        assert peak < 100 << 10, f"{peak} KiB"

    def cannot_be_started(self):
        """Not there or not executable: not run, with a warning. A wrong first line: unhealthy."""
        plain = self.script("plain", "echo ERROR\n")
        wrong = f"{self.place}/wrong"
        with open(wrong, "w", encoding="ascii") as f:
            f.write("#!/nonexistent/shell\n")
        os.chmod(wrong, 0o755)
        os.chmod(plain, 0o644)
        self.restart_with(
            a={"path": f"{self.place}/none"}, b={"path": plain}, c={"path": wrong}, d={}
        )
        self.wait_health(False, f"{wrong}: cannot be started: No such file or directory")
        for words in (
            f"health script a is not run: {self.place}/none: No such file or directory",
            f"health script b is not run: {plain}: Permission denied",
            f"health script d is not run: {CHECKER}d.path is not set",
        ):
            assert words in self.log(), (words, self.node.process.tail())
        self.script("wrong", "echo fine\n")
        self.wait_health(True, "")
        told = self.refused({CHECKER + "scripts": "a,b,c,d,e"})
        assert "5 scripts; more than 4 are not run" in told, told

    def supervised(self, site):
        group = f"{os.path.dirname(self.node.cgroup)}/supervisor"
        if not os.path.exists(group):
            os.mkdir(group)
            for name in (".", "cgroup.procs"):
                os.chown(f"{group}/{name}", self.c.daemon.pw_uid, self.c.daemon.pw_gid)
        self.node.site = {**self.usual, **site}
        self.node.write_conf()
        daemon = Supervised(
            self.c,
            self.node.name,
            [f"{self.node.prefix}/sbin/selvedge-nodemanager"],
            self.c.daemon_env(self.node.conf_dir, self.node.name),
        )
        daemon.group = group
        self.node.process = daemon
        daemon.start()
        self.driver.registered()

    def killed_daemon(self):
        """kill -9 while a script runs: its process ends with the daemon, what it has forked with
        the next daemon's start, though it has left its session. A timeout and a regular stop end
        such a process, too."""
        self.stop()
        path = self.script("leaver", "echo $$ >$0.own\n" + LEAVES + HANGS)
        site = {CHECKER + "script.path": path, CHECKER + "interval-ms": "3600000"}
        self.supervised(site)
        self.wait(lambda: len(self.pids(path)) == 3, "it runs")
        first = self.pids(path)
        group = f"{os.path.dirname(self.node.cgroup)}/health-0"
        with open(f"{group}/cgroup.procs", encoding="ascii") as f:
            assert set(f.read().split()) == set(first), first
        with open(f"{path}.own", encoding="ascii") as f:
            own = f.read().strip()
        self.node.process.kill()
        self.wait_gone([own])
        self.supervised(site)
        self.wait_gone(first)
        self.wait(lambda: len(self.pids(path)) == 6, "it runs again")
        second = self.pids(path)[3:]
        self.stop()
        self.wait_gone(second)
        assert not os.path.exists(group), "its cgroup is removed"
        self.supervised({**site, CHECKER + "script.timeout-ms": "500"})
        self.wait_health(False, TIMED_OUT)
        self.wait_gone(self.pids(path))
        self.stop()
        os.rmdir(f"{os.path.dirname(self.node.cgroup)}/supervisor")
