"""Jobs that `selvedge run` starts, for test-job and its cases."""
import json
import subprocess

from cluster import ClusterError


def run(c, *args, user=None):
    """selvedge --json run …: (exit code, the final table or None, what the containers printed).
    With --json the containers' output goes to stderr."""
    done = c.selvedge("--json", "run", *args, user=user)
    table = json.loads(done.stdout) if done.stdout.strip() else None
    return done.returncode, table, done.stderr


def expect(what, found, wanted):
    if found != wanted:
        raise ClusterError(f"{what}: {found!r}, wanted {wanted!r}")


def application(c, name):
    listed = json.loads(c.selvedge("--json", "ps", "-a").stdout)
    return next((a for a in listed if a["name"] == name), None)


class Running:
    """A job that prints "up" in each container and then waits to be killed."""

    started = []

    def __init__(
        self,
        c,
        name,
        instances=1,
        seconds=600,
        command=None,
        stderr=subprocess.DEVNULL,
        memory="256m",
    ):
        self.c = c
        self.job = c.popen(
            [
                f"{c.prefix}/bin/selvedge",
                "run",
                "--name",
                name,
                "-n",
                str(instances),
                "-m",
                memory,
                "--",
                command or f"echo low >&2; echo up; exec sleep {seconds}",
            ],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
        Running.started.append(self.job)
        for _ in range(instances):
            self.line = self.job.stdout.readline()
            if "up" not in self.line:
                raise ClusterError(f"{name}: a container did not start: {self.line!r}")
        self.id = application(c, name)["id"]

    def end(self):
        code = self.job.wait(120)
        self.job.stdout.close()
        self.c.wait(lambda: not self.c.container_processes(), 20, "no process of the job is left")
        return code
