"""Jobs that are submitted, and what a command says: for test-cli and its cases."""
import concurrent.futures
import json

from cluster import ClusterError


def expect(what, found, wanted):
    if found != wanted:
        raise ClusterError(f"{what}: {found!r}, wanted {wanted!r}")


def says(done, code, text):
    """One command's end: its code, and a text in what it says on stdout or stderr."""
    if done.returncode != code or text not in done.stdout + done.stderr:
        raise ClusterError(
            f"{done.args}: {done.returncode}: {done.stdout!r} {done.stderr!r}; wanted "
            f"{code}, {text!r}"
        )


def at_once(function, items):
    """The function of each, in the items' order."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(function, items))


def submit(c, *args, user=None):
    done = c.selvedge("submit", "--quiet", *args, user=user)
    expect(f"submit {args} ({done.stderr})", (done.returncode, done.stderr), (0, ""))
    return done.stdout.strip()


def state(c, app):
    return json.loads(c.selvedge("app", "status", "--json", app).stdout)["state"]


def running(c, app, instances=1):
    """Waits until the containers run."""

    def now():
        told = c.selvedge("ps", app, "-o", "json").stdout
        found = [t["state"] for t in json.loads(told)["containers"]] if told else []
        return found == ["RUNNING"] * instances

    c.wait(now, 60, f"{app} runs")


def ready(c, app, instances=1):
    """Waits until each instance has printed that word."""
    running(c, app, instances)
    c.wait(
        lambda: c.selvedge("logs", app).stdout.count("ready\n") == instances, 60, f"{app} is ready"
    )
