"""Orders to the ResourceManager: app, node and queue. Cases of test-cli."""
import json
import re

from cluster import ClusterError, conf
from lib.submitted_jobs import expect, running, says, state, submit


def apps(c):
    app = submit(c, "-N", "moved", "--", "exec sleep 600")
    running(c, app)
    says(c.selvedge("app", "move", app, "default"), 0, "")
    for queue in ("other", "default"):
        says(c.selvedge("app", "move", app, queue), 0, "")
        expect(
            "queue",
            json.loads(c.selvedge("app", "status", app, "--json").stdout)["queue"],
            "root." + queue,
        )
    says(c.selvedge("app", "move", app, "nowhere"), 1, app)
    says(c.selvedge("app", "priority", app, "3"), 0, f"{app} has priority 3")
    says(c.selvedge("app", "priority", app, "99"), 0, f"{app} has priority 10")
    says(c.selvedge("app", "priority", app, "high"), 2, "high: expected a number")

    def listed():
        return json.loads(c.selvedge("app", "attempts", app, "-o", "json").stdout)

    c.wait(
        lambda: [a["state"] for a in listed()] == ["RUNNING"], 60, "the attempt runs"
    )  # its ApplicationMaster registers
    attempts = listed()
    expect(
        "attempts",
        [(a["state"], a["container"].endswith("_000001")) for a in attempts],
        [("RUNNING", True)],
    )
    expect(
        "their names",
        c.selvedge("app", "attempts", app, "--quiet").stdout.strip(),
        attempts[0]["id"],
    )
    says(c.selvedge("app", "move", app), 2, "usage: selvedge app move")
    says(c.selvedge("app", "kill", app), 0, f"{app} is over")


def nodes(c):
    node = c.nodes[0]
    host = node.id.split(":")[0]
    says(c.selvedge("node", "status", node.id), 0, "RUNNING")
    says(c.selvedge("node", "status", "--json", host), 0, f'"id":"{node.id}"')
    says(c.selvedge("node", "status", "nowhere"), 1, "nowhere: no such node")
    path = c.site["yarn.resourcemanager.nodes.exclude-path"]
    before = open(path, encoding="ascii").read()
    # A user does not own the list: nothing changes.
    says(
        c.selvedge("node", "decommission", host),
        1,
        f"{path}, the ResourceManager's exclude list, must have the "
        f"line {host}; it is {c.daemon.pw_name}'s",
    )
    expect("the list", open(path, encoding="ascii").read(), before)
    says(c.selvedge("node", "decommission", "a b"), 2, "a b: not a host")
    says(c.selvedge("node", "decommission", "--timeout", "3", host), 2, "requires --graceful")

    def owner(*args):
        return c.selvedge("node", *args, user=c.daemon)

    says(owner("decommission", node.id), 0, f"{path} changed")
    expect("the list", open(path, encoding="ascii").read(), before + host + "\n")
    c.wait(
        lambda: c.selvedge("node", "list", "-a", "-o", "id,state", "--no-headers").stdout
        == f"{node.id}\tDECOMMISSIONED\n",
        30,
        "the node leaves",
    )
    node.process.process.wait(60)  # told to stop, if it asks before it is on the list again
    says(owner("decommission", host), 0, "has read its list")
    says(owner("recommission", host), 0, f"{path} changed")
    expect("the list", open(path, encoding="ascii").read(), before)
    node.start()
    c.wait(
        lambda: c.selvedge("node", "list", "-o", "name").stdout.strip() == node.id,
        60,
        "the node is back",
    )
    says(
        owner("decommission", "--graceful", "--timeout", "5m", "elsewhere.example"),
        0,
        "has read its list",
    )
    says(owner("recommission", "elsewhere.example"), 0, "has read its list")
    says(owner("-D", "yarn.resourcemanager.nodes.exclude-path=", "decommission", host), 2, "usage")
    says(
        owner("decommission", "-D", "yarn.resourcemanager.nodes.exclude-path=", host),
        1,
        "exclude-path is not set",
    )


def graceful(c):
    """A node leaves once its job has ended, or after --timeout; with --refresh the list is read as
    the file is."""
    node, path = c.nodes[0], c.site["yarn.resourcemanager.nodes.exclude-path"]
    host = node.id.split(":")[0]
    before = open(path, encoding="ascii").read()

    def owner(*args):
        return c.selvedge("node", *args, user=c.daemon)

    def has(state):
        c.wait(
            lambda: c.selvedge("node", "list", "-a", "-o", "id,state", "--no-headers").stdout
            == f"{node.id}\t{state}\n",
            60,
            f"the node is {state}",
        )

    def back():
        node.start()
        c.wait(
            lambda: c.selvedge("node", "list", "-o", "name").stdout.strip() == node.id,
            60,
            "the node is back",
        )

    app = submit(c, "--", "exec sleep 600")
    running(c, app)
    says(owner("decommission", "--graceful", "--timeout", "10m", host), 0, f"{path} changed")
    has("DECOMMISSIONING")
    expect("its job", state(c, app), "RUNNING")
    says(owner("recommission", host), 0, f"{path} changed")
    has("RUNNING")
    with open(path, "w", encoding="ascii") as f:
        f.write(before + host + "\n")
    says(
        owner("decommission", "--graceful", "--timeout", "10m", "--refresh", host),
        0,
        "has read its list",
    )
    has("DECOMMISSIONING")
    says(c.selvedge("kill", app), 0, "is over")
    has("DECOMMISSIONED")
    node.process.process.wait(60)
    with open(path, "w", encoding="ascii") as f:
        f.write(before)
    done = owner("recommission", "--refresh", host)
    expect("--refresh changes no list", (done.returncode, "changed" in done.stdout), (0, False))
    back()
    app = submit(c, "--", "exec sleep 600")
    running(c, app)
    says(owner("decommission", "--graceful", "--timeout", "1s", host), 0, f"{path} changed")
    has("DECOMMISSIONED")  # the job still runs
    node.process.process.wait(60)
    says(owner("recommission", host), 0, f"{path} changed")
    c.selvedge("kill", app)
    back()


def queues(c):
    path = f"{c.conf_dir}/capacity-scheduler.xml"
    prefix = "yarn.scheduler.capacity.root."
    with open(path, encoding="utf-8") as f:
        before = f.read()
    conf.write_xml(path, {**QUEUES, prefix + "other.state": "STOPPED"})
    says(c.selvedge("queue", "refresh", user=c.daemon), 0, "")
    expect(
        "state",
        c.selvedge("queue", "status", "other", "-o", "state", "--no-headers").stdout,
        "STOPPED\n",
    )
    says(c.selvedge("run", "-q", "other", "--", "true"), 2, "is STOPPED and accepts no jobs")
    with open(path, "w", encoding="utf-8") as f:
        f.write(before)
    says(c.selvedge("queue", "refresh", user=c.daemon), 0, "")
    says(c.selvedge("queue", "refresh", "x"), 2, "usage: selvedge queue refresh")


QUEUES = {
    **conf.capacity_scheduler(),
    "yarn.scheduler.capacity.root.queues": "default,other",
    "yarn.scheduler.capacity.root.default.capacity": 50,
    "yarn.scheduler.capacity.root.other.capacity": 50,
    "yarn.scheduler.capacity.root.default.maximum-capacity": 100,
    "yarn.scheduler.capacity.root.other.maximum-am-resource-percent": "0.9",
}


APP = r"application_\d+_\d+"
SIZE = r"<memory:\d+, vCores:\d+>"
MASTERS = (
    rf"Queue's AM resource limit exceeded\. Masters in queue root\.other use {SIZE} of at most "
    rf"{SIZE}, this one asks for {SIZE}\."
)


def told(what, found, lines):
    """The whole output, line by line, by patterns."""
    found = [" ".join(line.split()) for line in found.splitlines()]
    if len(found) != len(lines) or not all(map(re.fullmatch, lines, found)):
        raise ClusterError(f"{what}: {found}, wanted {lines}")


def waiting(c):
    """A job that waits says why, with one command, wherever one looks."""
    path = f"{c.conf_dir}/capacity-scheduler.xml"
    with open(path, encoding="utf-8") as f:
        before = f.read()
    share = "yarn.scheduler.capacity.root.other.maximum-am-resource-percent"
    conf.write_xml(path, {**QUEUES, share: "0.0001"})
    says(c.selvedge("queue", "refresh", user=c.daemon), 0, "")
    first = submit(c, "-q", "other", "--", "exec sleep 600")
    running(c, first)
    log = open(f"{c.root}/log/waiting", "w", encoding="utf-8")
    job = c.popen(
        [f"{c.prefix}/bin/selvedge", "run", "-q", "other", "-N", "second", "--", "true"],
        stdout=log,
        stderr=log,
    )

    def said():
        with open(log.name, encoding="utf-8") as f:
            return f.read()

    def waits():
        if job.poll() is not None:
            raise ClusterError(f"run has ended with {job.returncode}: {said()}")
        return re.search(rf"({APP}) submitted[\s\S]* waits: {MASTERS}\n", said())

    try:
        app = c.wait(waits, 30, "run says why it waits").group(1)
    except ClusterError as error:
        raise ClusterError(f"{error}: {said()}") from None
    told(
        "ps APP",
        c.selvedge("ps", app).stdout,
        [
            rf"{app} second user \S+, queue root\.other, ACCEPTED",
            f"waits: {MASTERS}",
        ],
    )
    told(
        "ps -o",
        c.selvedge("ps", "-o", "id,waiting", "--no-headers").stdout,
        [rf"{app} {MASTERS}", rf"{first}( -)?"],
    )
    told(
        "queue list",
        c.selvedge("queue", "list").stdout,
        [
            "QUEUE STATE CAPACITY MAXIMUM USED RUNNING PENDING WAITING",
            r"root RUNNING .* -",
            r"root\.default RUNNING .* -",
            rf"root\.other RUNNING .* {MASTERS}",
        ],
    )
    told("inspect", json.loads(c.selvedge("inspect", app).stdout)["waiting"], [MASTERS])
    says(c.selvedge("kill", first), 0, "is over")
    expect("the job's end", job.wait(60), 0)
    log.close()
    with open(path, "w", encoding="utf-8") as f:
        f.write(before)
    says(c.selvedge("queue", "refresh", user=c.daemon), 0, "")
