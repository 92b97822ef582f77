"""Jobs for bench-cli: `selvedge run` of one, 100 and 1,000 instances, beside Hadoop's
DistributedShell on the same daemons and crun for one command."""
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import threading
import time

from cluster import ClusterError
from interop import hadoop, peers

LINES = 10  # a second apart
STREAM = f"for ((i = 0; i < {LINES}; i++)); do echo line $i of the instance; sleep 1; done"
SITE = {"yarn.scheduler.maximum-allocation-mb": 65536}
CRUN_ROUNDS = """mount -t cgroup2 none /sys/fs/cgroup || exit 1
for ((i = 0; i < $2; i++)); do
	begin=$EPOCHREALTIME
	crun --cgroup-manager=disabled --root "$1/state" run --bundle "$1" true || exit 1
	end=$EPOCHREALTIME
	echo $((${end/./} - ${begin/./}))
done"""
ROOM = {"yarn.nodemanager.resource.memory-mb": 262144, "yarn.nodemanager.resource.cpu-vcores": 8192}


class Largest(threading.Thread):
    """The most resident memory of a process, in MiB. Its rusage would count what this program had
    when it started it."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.path, self.mib, self.over = f"/proc/{pid}/status", 0, threading.Event()
        self.start()

    def run(self):
        while not self.over.wait(0.05):
            with contextlib.suppress(OSError), open(self.path, encoding="ascii") as f:
                found = re.search(r"VmHWM:\s+(\d+) kB", f.read())
                self.mib = int(found[1]) / 1024 if found else self.mib

    def end(self):
        self.over.set()
        self.join()
        return self.mib


def timed(c, *words):
    """`selvedge` with these words: seconds, its processor seconds, its largest resident MiB, what
    it printed."""
    user = c.users[0]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.monotonic()
        job = subprocess.Popen(
            [f"{c.prefix}/bin/selvedge", *words],
            env=c.client_env(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            user=user.pw_uid,
            group=user.pw_gid,
            extra_groups=[],
        )
        largest = Largest(job.pid)
        _, status, used = os.wait4(job.pid, 0)
        seconds = time.monotonic() - begin
        job.returncode = os.waitstatus_to_exitcode(status)
        for f in (out, err):
            f.seek(0)
        if job.returncode != 0:
            raise ClusterError(f"{words}: {job.returncode}: {err.read()[-500:]}")
        return seconds, used.ru_utime + used.ru_stime, largest.end(), out.read()


def stream(c, n):
    """Each instance prints a line a second."""
    seconds, cpu, rss, out = timed(c, "run", "-n", str(n), "-m", "64m", "--", STREAM)
    if out.count(b"\n") != n * LINES:
        raise ClusterError(f"{n} instances printed {out.count(b'lines')} lines")
    return {
        f"run_{n}_lines": seconds,
        f"run_{n}_lines_cpu": 100 * cpu / seconds,
        f"run_{n}_lines_rss": rss,
    }


def median(rounds, call):
    return statistics.median(call() for _ in range(rounds))


def crun_true(rounds):
    """ms of `crun run` for `true` in new namespaces, without cgroups; None where there is no
    crun."""
    if not shutil.which("crun"):
        return None
    with tempfile.TemporaryDirectory() as base:
        os.makedirs(f"{base}/rootfs/proc")
        for name in ("usr", "dev", "tmp", "etc"):
            os.makedirs(f"{base}/rootfs/{name}")
        for link in ("bin", "lib", "lib64"):
            os.symlink(f"usr/{link}", f"{base}/rootfs/{link}")
        subprocess.run(["crun", "spec"], cwd=base, check=True)
        with open(f"{base}/config.json", encoding="ascii") as f:
            spec = json.load(f)
        spec["process"].update(terminal=False, args=["/usr/bin/true"], rlimits=[])
        spec["mounts"] = [m for m in spec["mounts"] if m["type"] in ("proc", "tmpfs")] + [
            {"destination": "/usr", "type": "bind", "source": "/usr", "options": ["rbind", "ro"]}
        ]
        spec["linux"]["namespaces"] = [{"type": t} for t in ("pid", "ipc", "uts", "mount")]
        for key in ("seccomp", "resources", "cgroupsPath"):
            spec["linux"].pop(key, None)
        with open(f"{base}/config.json", "w", encoding="ascii") as f:
            json.dump(spec, f)

        # crun refuses the hybrid layout: it sees cgroup v2 alone.
        done = subprocess.run(
            [
                "unshare",
                "--mount",
                "--propagation",
                "private",
                "bash",
                "-c",
                CRUN_ROUNDS,
                "bash",
                base,
                str(rounds),
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise ClusterError(f"crun: {done.stderr[-500:]}")
        return statistics.median(int(line) / 1000 for line in done.stdout.split())


def shell(c, n):
    """Seconds of DistributedShell for `true`, with its JVM's start as `yarn jar` has it."""
    begin = time.monotonic()
    app = peers.distributed_shell(c, "-shell_command", "true", "-num_containers", str(n))
    if app.exit_code != 0:
        raise ClusterError(f"DistributedShell of {n}: {app.output[-500:]}")
    return time.monotonic() - begin


def room(c):
    for node in c.nodes:
        node.site.update(ROOM)


def measure(instances, rounds, with_java):
    """Two dictionaries by the names of bench-cli's rows: ours and the peer's."""
    got, peer = {}, {}
    with peers.cluster("bench-cli", peers.SELVEDGE, peers.SELVEDGE, site=SITE, prepare=room) as c:
        # The first of a kind warms what is read from the disk.
        timed(c, "run", "--", "true")
        got["run_true"] = 1000 * median(rounds, lambda: timed(c, "run", "--", "true")[0])
        peer["run_true"] = crun_true(rounds)
        for n in instances:
            got[f"run_{n}"] = timed(c, "run", "-n", str(n), "-m", "64m", "--", "true")[0]
            got.update(stream(c, n))
        if with_java:
            peer[f"run_{instances[0]}"] = shell(c, instances[0])
        c.rm.stop()
        c.site["yarn.resourcemanager.nodemanagers.heartbeat-interval-ms"] = 1000
        c.start_rm()
        c.wait_nodes()
        got["run_true_1s"] = 1000 * median(
            max(rounds // 2, 1), lambda: timed(c, "run", "--", "true")[0]
        )
        if with_java:
            peer["run_true_1s"] = 1000 * shell(c, 1)
    return got, peer
