"""The status of one service under Hadoop's master and under ours is the same: instances that run,
with the states of their files; that have ended well, and not."""
import json

from cluster import ClusterError
from interop import services
from interop.cases.service_calls import steady
from interop.cases.service_cells import chosen
from interop.cases.service_life import component, sleeper
from interop.service import Service

MORE = {"number_of_running_containers"}  # ours tells it, too
ENDED = {"done-0": "SUCCEEDED", "broken-0": "FAILED"}


def definition(master):
    once = {"restart_policy": "NEVER"}
    return {
        "configuration": chosen(master),
        "components": [
            sleeper(2),
            component("done", 1, launch_command="sleep 1", **once),
            component("broken", 1, launch_command="{ sleep 1; exit 3; }", **once),
        ],
    }


def settled(status):
    """What ends has ended, the files of what runs are there."""
    rows = [row for one in status.get("components") or [] for row in one.get("containers") or []]
    states = {row["component_instance_name"]: row["state"] for row in rows}
    return (
        states == {**dict.fromkeys(("sleeper-0", "sleeper-1"), "READY"), **ENDED}
        and all(row.get("localization_statuses") for row in rows if row["state"] == "READY")
        and status
    )


def without_defaults(value):
    """Members that are not set, or empty, are written by Hadoop's master and left out by ours."""
    if isinstance(value, list):
        return [without_defaults(v) for v in value]
    if not isinstance(value, dict):
        return value
    made = {k: without_defaults(v) for k, v in value.items()}
    return {k: v for k, v in made.items() if v not in (None, False, {}, [])}


def status_of(c, master):
    s = Service(c, f"status-{master}", definition(master), services.OURS)
    s.post()
    found = s.wait(settled, 120, "what ends has ended")
    s.end()
    found["configuration"] = {}  # names the master, as those that inherit it do
    for one in found["components"]:
        one["configuration"]["properties"] = {}
        # Hadoop's master says so of those that its hash map has before one that goes on.
        wanted = ENDED.get(f"{one['name']}-0")
        if one["name"] != "sleeper" and one.pop("state") != wanted and master == services.OURS:
            raise ClusterError(f"{one} is not {wanted}")
    kept = {name: value for name, value in found.items() if name not in {"name", *MORE}}
    return steady(c, without_defaults(kept))


def same(c):
    ours, apache = (status_of(c, master) for master in (services.OURS, services.APACHE))
    if ours != apache:
        raise ClusterError(f"ours:\n{json.dumps(ours)}\nApache's:\n{json.dumps(apache)}")


def run(report, c, row):
    report.case(f"{row}: the same status of both masters", same, c)
