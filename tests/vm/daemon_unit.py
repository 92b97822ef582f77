"""Which processes the unit of an installed node's daemon has: for test-systemd and its cases."""
import os

from cluster import host
from installed import ROOT, SLICE, expect, read


def is_helper(pid):
    """A helper that serves a request: it runs as root."""
    try:
        return "Uid:\t0\t0\t0\t0\n" in read(f"/proc/{pid}/status") + "\n"
    except OSError:
        return True  # it has exited


def daemon_alone(pid):
    """The daemon's unit has no monitor and no localizer; a monitor moves out after its answer.
    Without the daemon the unit is empty."""
    group = f"{SLICE}/selvedge-nodemanager.service"

    def alone():
        there = read(f"{group}/cgroup.procs").split() if os.path.exists(group) else []
        return there == [] if not pid else [p for p in there if not is_helper(p)] == [str(pid)]

    host.wait_for(alone, 10, "the daemon is alone in its unit")
    expect("monitors", read(f"{ROOT}/monitors/cgroup.procs") != "", True)
