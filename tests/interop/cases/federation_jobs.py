"""One DistributedShell job on both sub-clusters of a federation of ours, while something happens to
it; and what must not be left of it."""
import contextlib
import glob
import re
import sqlite3

from cluster import ClusterError
from interop import peers
from interop.cases import shell

SITE = {
    "yarn.resourcemanager.connect.retry-interval.ms": "1000",
    "yarn.resourcemanager.max-completed-applications": "1",
}
TOLD = re.compile(r"got container status for containerID=(container_\w+), state=COMPLETE")
CUT = re.compile(
    r"EOFException|Connection reset|Broken pipe|relaunch the same container|already is running"
)
# All containers begin, and the last ones run on.
LONG = "date; sleep 8"


def outputs(f, application):
    """Directories of containers that have written."""
    return [
        path
        for node in f.c.nodes
        for path in glob.glob(f"{node.log_dirs[0]}/{application}/container_*/stdout")
    ]


def no_records(f):
    """Of ended attempts, in the AMRMProxy's table, once its node has stopped: it is locked before.
    They have the masters' tokens."""
    f.c.nodes[0].process.stop()
    left = []
    for path in glob.glob(f"{f.c.nodes[0].dir}/recovery/*.db"):
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            left += db.execute("SELECT DISTINCT attempt FROM amrmproxy").fetchall()
    if left:
        raise ClusterError(f"records of ended attempts: {left}")


def _unmanaged_master_ends(f, application):
    def ended():
        app = (f.second_get(f"/ws/v1/cluster/apps/{application}") or {}).get("app") or {}
        return app.get("state") in (None, "FINISHED", "KILLED", "FAILED")

    f.c.wait(ended, 60, f"{application} ends in SC-2")


def _homes_end(f):
    """A job's home stays in the store until its ResourceManager forgets it."""

    def forgotten():
        known = ((f.c.rm_get("/ws/v1/cluster/apps") or {}).get("apps") or {}).get("app") or []
        rows = f.run("apps", "-o", "id").splitlines()[1:]
        return set(rows) <= {app["id"] for app in known}

    f.c.wait(forgotten, 60, "homes of forgotten applications are deleted")


def nothing_is_left(f, application):
    """No unmanaged master, home, process, control group or directory."""
    _unmanaged_master_ends(f, application)
    _homes_end(f)
    f.c.settle()


def _master_log(f, application):
    text = ""
    for path in glob.glob(f"{f.c.nodes[0].log_dirs[0]}/{application}/container_*/AppMaster.stderr"):
        with open(path, encoding="utf-8", errors="replace") as log:
            text += log.read()
    return text


def told_once(f, application):
    """The master is told each container's end once; (ends that it was told, outputs)."""
    told = TOLD.findall(_master_log(f, application))
    twice = {each for each in told if told.count(each) > 1}
    if twice:
        raise ClusterError(f"{application}: told twice: {sorted(twice)[:5]}")
    return len(told), len(outputs(f, application))


def starts_cut(f, application):
    """Starts whose connection broke before the answer came, as the node was killed: Hadoop's
    NMClient does not repeat them, or repeats them to a node that has done them. DistributedShell
    counts each as a container that failed."""
    log = _master_log(f, application)
    starts = log.split("Failed to start Container ")[1:]
    return len([each for each in starts if CUT.search(each[:600])])


def _succeeds(f, done, cut):
    failed = re.search(r"failed = (\d+)", done.report().get("diagnostics") or "")
    if failed and cut and int(failed[1]) == starts_cut(f, done.id):
        print(f"        {done.id}: {failed[1]} starts were cut", flush=True)
        return
    shell.expect(done, shell.SUCCEEDED)


def job(f, count, after, event, again=False, cut=False, command="date"):
    """Calls `event` once so many containers have begun; the application's id. The job succeeds,
    each container counted once; `again`: some may be run again, as SC-2 has lost them; `cut`: it
    may fail by starts that were cut, and by nothing else."""
    args = ("-shell_command", command, "-num_containers", str(count))
    with peers.RunningShell(f.c, *args) as running:
        application = f.running = running.application.id
        f.c.wait(
            lambda: len(outputs(f, application)) >= after or running.process.poll() is not None,
            240,
            f"{after} containers have begun",
        )
        event(f)
        done = running.finish()
    _succeeds(f, done, cut)
    told, texts = told_once(f, application)
    lost = starts_cut(f, application) if cut else 0
    if texts < count - lost or (texts > count and not again):
        raise ClusterError(f"{application}: {texts} containers wrote, wanted {count} ({told} ends)")
    nothing_is_left(f, application)
    return application
