"""What one side has saved the other one starts, with its own master, in one cluster with both API
servers: placement, a readiness check, files and counts are those of the definition each time."""
import os

from cluster import ClusterError
from interop import services
from interop.cases.service_life import SLEEP, expect_version, sleeper
from interop.service import Service, processes, ready

NAME = "swapped"
OTHER = {services.OURS: services.APACHE, services.APACHE: services.OURS}


def definition():
    apart = {"type": "ANTI_AFFINITY", "scope": "NODE", "target_tags": ["sleeper"]}
    one = {
        **sleeper(2),
        "placement_policy": {"constraints": [apart]},
        "readiness_check": {"type": "DEFAULT", "properties": {"timeout": "2000"}},
    }
    return {"lifetime": 3600, "components": [one]}


def master(s):
    """The side whose master runs it, by the programs in its container."""
    container = s.attempts()[-1]["containerId"]
    programs = {os.path.basename(os.readlink(f"/proc/{p}/exe")) for p in processes(container)}
    return services.APACHE if "java" in programs else services.OURS


def running(s, count):
    now = s.stable({"sleeper": count})
    expect_version(s, now, SLEEP)
    hosts = {row["bare_host"] for row in ready(s.status()).values()}
    if len(hosts) != count or set(now) != {f"sleeper-{i}" for i in range(count)}:
        raise ClusterError(f"{now} on {hosts}")


def started_by(s, api, count):
    s.put({"state": "STARTED"})
    running(s, count)
    if master(s) != api:
        raise ClusterError(f"{s.attempts()[-1]} runs the master of {master(s)}, not of {api}")


def swapped(c, saver):
    """Saved by one, started by the other, flexed, stopped, started by the first; destroyed by the
    other."""
    first, second = saver, OTHER[saver]
    one, two = (Service(c, NAME, definition(), api) for api in (first, second))
    one.definition["state"] = "STOPPED"
    one.post()
    one.until("STOPPED")
    started_by(two, second, 2)
    two.put({"number_of_containers": 3}, "/components/sleeper")
    running(two, 3)
    one.put({"number_of_containers": 1}, "/components/sleeper")  # by the other's server
    running(one, 1)
    one.put({"state": "STOPPED"})
    two.until("STOPPED")
    started_by(one, first, 1)
    two.put({"state": "STOPPED"})
    one.until("STOPPED")
    answer = two.call("DELETE")
    if answer.status != 200 or one.call("GET").status != 404:
        raise ClusterError(f"{answer}")


def run(report, c, row):
    for api in (services.APACHE, services.OURS):
        if not report.case(f"{row}: saved by {api}'s API server, started by both", swapped, c, api):
            Service(c, NAME, definition(), services.OURS).end()
