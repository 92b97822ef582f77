"""Figures of an installed node that need a booted systemd, for docs/measurements/node.md; printed by test-systemd and not judged:
the machine may be emulated. bench-node has the others."""
import json
import subprocess
import time

from installed import Failed, tool

IDLE_SECONDS, COMMANDS, READS = 20, 40, 1000


def times(argvs):
    """Milliseconds of each command from its start to its end, sorted; the commands take turns."""
    took = [[] for _ in argvs]
    for _ in range(COMMANDS):
        for argv, mine in zip(argvs, took):
            begin = time.monotonic()
            said = tool(*argv)
            mine.append((time.monotonic() - begin) * 1000)
            if not said.strip():
                raise Failed(f"{' '.join(argv)} says nothing")
    return [sorted(mine) for mine in took]


def property_reads(client, name, path):
    """One property of a container: over an open connection, and by busctl beside `systemctl show` of one property of a unit."""
    said = subprocess.run([*client, "time", str(READS), path, "MemoryCurrent"], capture_output=True, text=True, check=True, timeout=600)
    read = json.loads(said.stdout)
    ours, theirs = times((["busctl", "get-property", name, path, f"{name}.Container", "MemoryCurrent"],
                          ["systemctl", "show", "-p", "MemoryCurrent", "selvedge-nodemanager.service"]))
    median, last = len(ours) // 2, len(ours) * 99 // 100
    print(f"        one property: {read['p50_us'] / 1000:.2f} ms, p99 {read['p99_us'] / 1000:.2f} ms; by busctl {ours[median]:.0f} ms, "
          f"p99 {ours[last]:.0f} ms; systemctl show {theirs[median]:.0f} ms, p99 {theirs[last]:.0f} ms: {theirs[median] / ours[median]:.2f} "
          f"times ours, p99 {theirs[last] / ours[last]:.2f}", flush=True)


def idle():
    """Of each unit's main process, for a while without a call."""
    units = ("selvedge-nodemanager.service", "selvedge-containers.service", "selvedge-rm.service")
    pids = {unit: int(tool("systemctl", "show", "-P", "MainPID", unit)) for unit in units}

    def counted(pid):
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
            used = int(f.read().split()[0])
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            fields = dict(line.split(":\t", 1) for line in f if ":\t" in line)
        return used, int(fields["voluntary_ctxt_switches"]), int(fields["VmRSS"].split()[0]) / 1024

    before = {unit: counted(pid) for unit, pid in pids.items()}
    time.sleep(IDLE_SECONDS)  # what is measured
    for unit, pid in pids.items():
        used, wakeups, rss = counted(pid)
        print(f"        {unit}, {IDLE_SECONDS} s: {(used - before[unit][0]) / 1e6 / IDLE_SECONDS:.2f} ms a second, "
              f"{(wakeups - before[unit][1]) / IDLE_SECONDS:.1f} wakeups a second, {rss:.1f} MiB", flush=True)
