"""The state machine of our NodeManager's containers beside that of Hadoop's ContainerImpl
(java/ContainerGraph.java): every transition of one that the other lacks has its reason here. Used
by test-proto-facts."""
import os
import re
import subprocess

from interop import hadoop

ENDED = ("EXITED_WITH_SUCCESS", "EXITED_WITH_FAILURE", "CONTAINER_CLEANEDUP_AFTER_KILL", "DONE")
LIVE = ("PAUSING", "PAUSED", "RESUMING", "REINITIALIZING_AWAITING_KILL")
RESOURCES = ("RESOURCE_LOCALIZED", "RESOURCE_FAILED")
REINIT = ("REINITIALIZE_CONTAINER", "ROLLBACK_REINIT")
ANY = None

# (from, event, to: one, several or any) that only Hadoop has → why.
THEIRS = (
    (ANY, "UPDATE_CONTAINER_TOKEN", ANY, "updateContainer changes the container by itself"),
    ("LOCALIZING", "RESOURCE_LOCALIZED", "LOCALIZING", "one event tells of all resources"),
    (
        ("RELAUNCHING", "REINITIALIZING", "REINITIALIZING_AWAITING_KILL"),
        "PAUSE_CONTAINER",
        ANY,
        "what is not RUNNING is killed, not paused",
    ),
    (
        ENDED,
        (
            "CONTAINER_EXITED_WITH_SUCCESS",
            "CONTAINER_EXITED_WITH_FAILURE",
            "CONTAINER_KILLED_ON_REQUEST",
        ),
        ANY,
        "an exit is told once",
    ),
)
# … that only ours has → why.
OURS = (
    ("NEW", "KILL_CONTAINER", "NEW", "one of the last daemon is adopted before it is ended"),
    (
        "LOCALIZING",
        "RESOURCE_FAILED",
        ("SCHEDULED", "KILLING"),
        "one of the last daemon is adopted without its resources",
    ),
    (
        ENDED + ("SCHEDULED", "RELAUNCHING"),
        RESOURCES,
        ANY,
        "a resource that was added while it ran",
    ),
    (LIVE, RESOURCES, ANY, "a resource that was added while it ran"),
    (
        "REINITIALIZING",
        "RESOURCE_FAILED",
        "REINITIALIZING",
        "a resource that was added while it ran",
    ),
    ("RUNNING", "PAUSE_CONTAINER", "RUNNING", "its cgroup cannot be frozen"),
    ("PAUSED", "RESUME_CONTAINER", "PAUSED", "its cgroup cannot be thawed"),
    (
        "REINITIALIZING",
        "CONTAINER_KILLED_ON_REQUEST",
        "EXITED_WITH_FAILURE",
        "a signal that is not the daemon's",
    ),
    (
        "REINITIALIZING_AWAITING_KILL",
        "CONTAINER_KILLED_ON_REQUEST",
        "EXITED_WITH_FAILURE",
        "the next launch cannot be recorded",
    ),
    (ENDED + ("KILLING",), REINIT, ANY, "its record came after its end"),
)


def matches(pattern, value):
    return pattern is ANY or value == pattern or (isinstance(pattern, tuple) and value in pattern)


def reason(rules, edge):
    for *patterns, why in rules:
        if all(matches(p, v) for p, v in zip(patterns, edge)):
            return why
    return None


def ours():
    done = subprocess.run(
        [os.path.join(hadoop.BUILD, "selvedge-nodemanager"), "--print-graph", "container"],
        capture_output=True,
        text=True,
        check=True,
    )
    edges = re.findall(r'^  (\w+) -> (\w+) \[label="(\w+)"', done.stdout, re.M)
    return {(a, event, b) for a, b, event in edges}


def theirs():
    done = subprocess.run(
        hadoop.java(hadoop.REFERENCE, "ContainerGraph"), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"ContainerGraph:\n{done.stderr[-2000:]}")
    return {tuple(line.split()) for line in done.stdout.splitlines()}


def compare(report):
    mine, real = ours(), theirs()
    states = {s for a, _, b in real for s in (a, b)}
    wrong = []
    for name, only, rules in (("Hadoop's", real - mine, THEIRS), ("ours", mine - real, OURS)):
        wrong += [f"only {name}: {' '.join(e)}" for e in sorted(only) if not reason(rules, e)]
        for *patterns, why in rules:
            if not any(reason([(*patterns, why)], e) for e in only):
                wrong.append(f"only {name}: {patterns}: there is no such difference any more")
    report.check(
        f"Hadoop {hadoop.REFERENCE}: {len(real)} transitions between {len(states)} states of a "
        f"container, ours {len(mine)}",
        not wrong and len(states) >= 16 and len(real & mine) > 80,
        "\n    ".join(["", *wrong]),
    )
