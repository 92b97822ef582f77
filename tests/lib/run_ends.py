"""How `selvedge run` ends when it is told to, or cannot go on: cases of test-cli. Nothing runs on,
nothing stays in the staging directory, the last line is true, the exit code tells why."""
import contextlib
import json
import os
import re
import signal
import subprocess


class RunEnds:
    def __init__(self, running):
        self.running = running

    @staticmethod
    def start(c, name, command="exec sleep 600", before=(), **more):
        """Started, and its first words read."""
        argv = [*before, f"{c.prefix}/bin/selvedge", "run", "-N", name, "--", command]
        more = {"stdout": subprocess.PIPE, **more}
        return c.popen(argv, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, **more)

    @staticmethod
    def application(c, name):
        found = [
            a for a in json.loads(c.selvedge("ps", "-a", "-o", "json").stdout) if a["name"] == name
        ]
        return found[0] if found else None

    def until_running(self, c, name):
        c.wait(
            lambda: (self.application(c, name) or {}).get("state") == "RUNNING", 60, f"{name} runs"
        )
        app = self.application(c, name)["id"]
        self.running(c, app)
        return app

    def ended(self, c, name, job, code, last):
        """The command has ended with this code and last line, the application is over, its files
        are gone."""
        try:
            _, said = job.communicate(timeout=60)
            assert job.returncode == code, (job.returncode, said)
            assert re.search(last, said.rstrip("\n").rsplit("\n", 1)[-1]), (last, said)
        finally:
            with contextlib.suppress(OSError):
                job.kill()
            job.wait()
        c.wait(
            lambda: not (self.application(c, name) or {"state": "KILLED"})["state"]
            in ("NEW", "SUBMITTED", "ACCEPTED", "RUNNING"),
            60,
            f"{name} is over",
        )
        left = [
            n
            for _, dirs, names in os.walk(f"{c.root}/staging")
            for n in names + dirs
            if n.startswith("application_")
        ]
        assert not left, left

    def signals(self, c):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            name = f"ends by {number.name}"
            job = self.start(c, name)
            self.until_running(c, name)
            job.send_signal(number)
            self.ended(c, name, job, 128 + number, "application_.* KILLED")

    def nohup(self, c):
        job = self.start(
            c,
            "not by SIGHUP",
            "trap 'exit 3' TERM; while :; do sleep 0.05; done",
            before=["env", "--ignore-signal=HUP"],
        )
        app = self.until_running(c, "not by SIGHUP")
        job.send_signal(signal.SIGHUP)
        c.selvedge("stop", app)
        self.ended(c, "not by SIGHUP", job, 3, "application_.* FAILED")

    def at_once(self, c):
        """Twice within a moment, from its first line on: the kill still goes out."""
        job = self.start(c, "at once")
        assert "submitted" in job.stderr.readline()
        job.send_signal(signal.SIGINT)
        job.send_signal(signal.SIGTERM)
        self.ended(
            c,
            "at once",
            job,
            130,
            r"(killing )?application_\S+ (\(once more: leave it\)$|ACCEPTED$|RUNNING$|KILLED)",
        )

    def while_submitting(self, c):
        """The ResourceManager has the submission and does not answer yet."""
        c.rm.process.send_signal(signal.SIGSTOP)
        job = self.start(c, "early")
        try:
            c.wait(lambda: caught(job.pid), 30, "SIGINT is caught")
            job.send_signal(signal.SIGINT)
            self.ended_early(job)
        finally:
            c.rm.process.send_signal(signal.SIGCONT)
        assert self.application(c, "early") is None

    @staticmethod
    def ended_early(job):
        try:
            _, said = job.communicate(timeout=60)
            assert job.returncode == 130, said
        finally:
            job.kill()
            job.wait()

    def closed_stdout(self, c):
        """As with `| head -1`."""
        name = "stdout is closed"
        job = self.start(c, name, "while :; do echo line; sleep 0.1; done")
        assert job.stdout.readline() == "line\n"
        job.stdout.close()
        self.ended(c, name, job, 141, "application_.* KILLED")

    def full_disk(self, c):
        name = "a full disk"
        with open("/dev/full", "w", encoding="ascii") as full:
            job = self.start(c, name, "while :; do echo line; sleep 0.1; done", stdout=full)
            self.ended(c, name, job, 1, "application_.* KILLED")


def caught(pid):
    """SIGINT is blocked: it comes through a signalfd."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"SigBlk:\s+(\w+)", f.read()).group(1), 16) >> (signal.SIGINT - 1) & 1
