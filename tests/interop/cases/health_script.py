"""The health script of the node, the same for Apache's NodeManager and ours: what it writes makes
the node UNHEALTHY at the ResourceManager, with this report, and RUNNING again. All-Apache pairings
prove the reports."""
import os

from cluster import ClusterError

CHECKER = "yarn.nodemanager.health-checker."
SITE = {CHECKER + "interval-ms": "1000", CHECKER + "script.timeout-ms": "3000"}
SCRIPT = """#!/bin/sh
cd `dirname $0`
if test -e hang; then exec sleep 1000; fi
cat say
exit `cat status`
"""
# What it writes, its exit status, the report; "" is healthy.
CASES = (
    ("ERROR disk 3 is broken\n", 0, "ERROR disk 3 is broken\n"),
    ("looked at 4 disks\nERROR one\nERROR two ä\ndone", 0, None),
    ("ERROR but it fails itself\n", 3, ""),
    (" ERROR\nno ERROR\nError\n", 0, ""),
    ("ERRORS\n", 0, None),
)


def place(c):
    return f"{c.root}/health"


def say(c, text, status=0):
    for name, content in (("say", text), ("status", f"{status}\n")):
        with open(f"{place(c)}/{name}.new", "w", encoding="utf-8") as f:
            f.write(content)
        os.rename(f"{place(c)}/{name}.new", f"{place(c)}/{name}")


def prepare(c):
    os.makedirs(place(c))
    say(c, "fine\n")
    with open(f"{place(c)}/check", "w", encoding="ascii") as f:
        f.write(SCRIPT)
    os.chmod(f"{place(c)}/check", 0o755)
    c.site[CHECKER + "script.path"] = f"{place(c)}/check"


def seen(c):
    """State and report at the ResourceManager, and the node's own."""
    nodes = (c.rm_get("/ws/v1/cluster/nodes?states=running,unhealthy") or {}).get("nodes") or {}
    port = str(c.nodes[0].ports["rpc"])
    row = next(n for n in nodes["node"] if n["id"].rsplit(":", 1)[1] == port)
    info = c.nodes[0].get("/ws/v1/node/info")["nodeInfo"]
    return row["state"], row["healthReport"], info["nodeHealthy"], info["healthReport"]


def becomes(c, report):
    wanted = ("UNHEALTHY" if report else "RUNNING", report, not report, report)
    try:
        c.wait(lambda: seen(c) == wanted, 60, f"{wanted}")
    except ClusterError as error:
        raise ClusterError(f"{error}; {seen(c)}") from None


def reports(c):
    for text, status, report in CASES:
        say(c, text, status)
        becomes(c, text if report is None else report)
        say(c, "ERROR between\n")
        becomes(c, "ERROR between\n")
    say(c, "fine\n")
    becomes(c, "")


def hangs(c):
    open(f"{place(c)}/hang", "w", encoding="ascii").close()
    becomes(c, "Node health script timed out")
    os.unlink(f"{place(c)}/hang")
    becomes(c, "")


def run(report, c):
    report.case(f"{c.pairing}: reports of a health script", reports, c)
    report.case(f"{c.pairing}: a health script that hangs", hangs, c)
