"""A MapReduce job that is hurt while its reducers fetch: it ends right, or fails in Hadoop's words.

Each case counts words with reducers that begin when all maps are done. The shuffles are stopped
(SIGSTOP) at that moment, so that what is hurt is hurt before a reducer has it, and every reducer
waits for an answer."""
import contextlib
import glob
import itertools
import os
import re
import signal
import struct
import zlib

from cluster import ClusterError
from interop import peers
from interop.cases import mapreduce
from interop.cases.mapreduce import counter, shuffles

MAPS, REDUCES = 6, 2
# A reducer tells the master of each failure instead of each tenth, and tries again after a second.
# One that waits for a stopped shuffle looks slow: without speculation no second attempt of it is
# started.
OPTIONS = [
    f"-Dmapreduce.job.reduces={REDUCES}",
    "-Dmapreduce.job.reduce.slowstart.completedmaps=1.0",
    "-Dmapreduce.reduce.speculative=false",
    "-Dmapreduce.reduce.shuffle.maxfetchfailures=1",
    "-Dmapreduce.reduce.shuffle.retry-delay.max.ms=1000",
]


class Counting:
    """A wordcount that stands still when its maps are done; with `still` false it goes on."""

    def __init__(self, c, h, name, options=(), still=True):
        self.c, self.lines, self.still, self.stopped = c, [], still, []
        self.words = mapreduce.Words(c, h, name, MAPS)
        self.process = peers.start_client(
            c,
            mapreduce.EXAMPLES,
            "wordcount",
            *options,
            *OPTIONS,
            self.words.input,
            self.words.output,
        )

    def __enter__(self):
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.search(r"Submitted application (application_\d+_\d+)", line)
            if found:
                self.application = found.group(1)
                break
        else:
            self.failed("submitted nothing")
        if self.still:
            self.c.wait(
                lambda: len(self.outputs()) == MAPS or self.process.poll() is not None,
                120,
                "all map outputs are there",
            )
            self.stopped = shuffles(self.c)
            for pid in self.stopped:
                os.kill(pid, signal.SIGSTOP)
        return self

    def __exit__(self, *_error):
        self.go_on()
        if self.process.poll() is None:
            peers.kill_application(self.c, self.application)
        self.process.stdout.close()
        self.process.wait()

    def go_on(self):
        for pid in self.stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def failed(self, what):
        text = "".join(self.lines)
        raise ClusterError(f"{what}:\n{text[-3000:]}{mapreduce.logs_of(self.c, text)}")

    def outputs(self, node=None):
        """Directories of finished map outputs."""
        found = []
        for n in [node] if node else self.c.nodes:
            for local in n.local_dirs:
                for index in glob.glob(
                    f"{local}/usercache/*/appcache/{self.application}/output/attempt_*/file.out.index"
                ):
                    with contextlib.suppress(OSError):
                        if os.path.getsize(index) == 24 * REDUCES + 8:
                            found.append(os.path.dirname(index))
        return found

    def data_of(self, output):
        """file.out of an output, which may be in another local directory than its index."""
        tail = output[output.index("/usercache/") :]
        (found,) = [
            p
            for n in self.c.nodes
            for p in (f"{local}{tail}/file.out" for local in n.local_dirs)
            if os.path.exists(p)
        ]
        return found

    def tasks(self, kind):
        """{attempt: pid} of running tasks, "m" or "r"."""
        found = {}
        for pid in self.c.container_processes():
            with contextlib.suppress(OSError), open(
                f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace"
            ) as f:
                words = f.read().split("\0")
                if words[0].endswith("java"):
                    found |= {
                        w: pid for w in words if re.fullmatch(rf"attempt_\d+_\d+_{kind}_\d+_\d+", w)
                    }
        return found

    def first_maps(self, number):
        """[(attempt, pid)] of so many that run."""
        self.c.wait(
            lambda: len(self.tasks("m")) >= number or self.process.poll() is not None,
            120,
            f"{number} maps run",
        )
        running = sorted(self.tasks("m").items())
        if len(running) < number:
            self.failed(f"{len(running)} maps ran at the same time")
        return running[:number]

    def reducers_wait(self):
        """Every reducer waits for a stopped shuffle."""

        def waiting():
            return (
                sum(unread(n.process.pid, port_of(n)) for n in self.c.nodes if n.ours) >= REDUCES
                or self.process.poll() is not None
            )

        self.c.wait(waiting, 120, "the reducers wait for the shuffles")
        if self.process.poll() is not None:
            self.failed("the job ended before its reducers waited for the shuffles")

    def ended(self, status=0):
        """What the client has printed."""
        self.lines += self.process.stdout
        if self.process.wait() != status:
            self.failed(f"exit {self.process.returncode}, wanted {status}")
        return "".join(self.lines)

    def right(self):
        out = self.ended()
        self.words.check()
        return out


def unread(pid, port):
    """Established connections to a port on the host of a process with bytes that nobody has
    read."""
    found = 0
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{table}", encoding="ascii") as f:
            for row in [line.split() for line in f][1:]:
                found += (
                    int(row[1].split(":")[1], 16) == port
                    and row[3] == "01"
                    and int(row[4].split(":")[1], 16) > 0
                )
    return found


def port_of(node):
    with open(node.process.log, encoding="utf-8", errors="replace") as f:
        return int(re.findall(r"serving map outputs on port (\d+)", f.read())[-1])


def node_killed(c, h):
    """kill -9 of a NodeManager while reducers wait for it: its containers live on, the next one
    serves the same outputs."""
    with Counting(c, h, "node-killed") as job:
        job.reducers_wait()
        node = c.nodes[0]
        node.process.kill()
        peers.start_node(c, node)
        peers.wait_nodes(c)
        job.go_on()
        out = job.right()
    if counter(out, "Launched reduce tasks") != REDUCES:
        raise ClusterError(f"reducers did not live on: {out[-3000:]}")


def node_lost(c, h):
    """A node that never comes back, with outputs that no reducer has: its maps run again
    elsewhere."""
    # the master waits so long for a node that it has to tell of a killed container, before the job
    # ends
    with Counting(
        c, h, "node-lost", ["-Dyarn.client.nodemanager-connect.max-wait-ms=10000"]
    ) as job:
        master = glob.glob(f"{c.root}/node*/containers/{job.application}/container_*_000001")[0]
        lost = next(n for n in c.nodes if not master.startswith(n.dir + "/") and n.ours)
        maps = len(job.outputs(lost))
        if maps == 0:
            raise ClusterError("no map ran on the node that is to be lost")
        lost.process.kill()
        kill_containers(lost)
        c.wait(
            lambda: lost.id in lost_nodes(c) or job.process.poll() is not None,
            120,
            "the ResourceManager gives the node up",
        )
        job.go_on()
        out = job.right()
        peers.start_node(c, lost)
        peers.wait_nodes(c)
    if counter(out, "Launched map tasks") < MAPS + maps:
        raise ClusterError(
            f"{maps} maps were lost, {counter(out, 'Launched map tasks')} were launched in "
            f"all: {out[-3000:]}"
        )


def lost_nodes(c):
    nodes = (c.rm_get("/ws/v1/cluster/nodes?states=LOST") or {}).get("nodes") or {}
    return [n["id"] for n in nodes.get("node", [])]


def kill_containers(node):
    """Everything in the node's cgroup: containers, their monitors."""
    for where, _, names in os.walk(node.cgroup):
        if "cgroup.procs" in names:
            with contextlib.suppress(OSError), open(f"{where}/cgroup.procs", encoding="ascii") as f:
                for pid in f.read().split():
                    with contextlib.suppress(OSError):
                        os.kill(int(pid), signal.SIGKILL)


def index_of(parts):
    records = b"".join(struct.pack(">qqq", *part) for part in parts)
    return records + struct.pack(">Q", zlib.crc32(records))


def rewrite(path, data):
    with open(path, "r+b") as f:
        f.truncate(0)
        f.write(data)


def cut(data, _index):
    os.truncate(data, os.path.getsize(data) // 2)


def overwritten(data, _index):
    """The same length: only the reducer's checksum of the part tells."""
    with open(data, "r+b") as f:
        size = os.fstat(f.fileno()).st_size
        f.write(os.urandom(size))


def link(data, _index):
    st = os.stat(data)
    os.unlink(data)
    os.symlink("/etc/passwd", data)
    os.lchown(data, st.st_uid, st.st_gid)


def lying_index(data, index):
    """A good checksum, parts behind the end of the file."""
    size = os.path.getsize(data)
    rewrite(index, index_of([(size, 107, 100), (size + 100, 107, 100)]))


def removed(data, index):
    os.unlink(data)
    os.unlink(index)


def spread(job):
    """The finished outputs, in turns of the nodes that have some."""
    by_node = [job.outputs(node) for node in job.c.nodes if node.ours]
    return [output for each in itertools.zip_longest(*by_node) for output in each if output]


def hurt(*ways):
    """One map's output in each of these ways. All in one job are more lost fetches than a reducer
    survives (Hadoop's MAX_FAILED_UNIQUE_FETCHES)."""

    def case(c, h):
        with Counting(c, h, ways[0].__name__.replace("_", "-")) as job:
            for how, output in zip(ways, spread(job), strict=False):
                how(job.data_of(output), f"{output}/file.out.index")
            job.go_on()
            out = job.right()
        if counter(out, "Launched map tasks") < MAPS + len(ways):
            raise ClusterError(
                f"{len(ways)} outputs were hurt, {counter(out, 'Launched map tasks')} maps "
                f"ran: {out[-3000:]}"
            )

    return case


def killed_job(c, h):
    """Its containers go while reducers wait, and its client says how."""
    with Counting(c, h, "killed-job") as job:
        job.reducers_wait()
        done = peers.kill_application(c, job.application)
        if done.returncode:
            raise ClusterError(f"yarn application -kill: {done.stdout[-2000:]}")
        out = job.ended(1)
        if "failed with state KILLED" not in out:
            raise ClusterError(out[-3000:])
        job.go_on()
    c.settle()


def killed_reducer(c, h):
    """Another attempt of it fetches everything anew."""
    with Counting(c, h, "killed-reducer") as job:
        job.reducers_wait()
        attempt, pid = sorted(job.tasks("r").items())[0]
        os.kill(pid, signal.SIGKILL)
        job.go_on()
        out = job.right()
    if (
        counter(out, "Failed reduce tasks") != 1
        or counter(out, "Launched reduce tasks") != REDUCES + 1
    ):
        raise ClusterError(f"{attempt} was killed: {out[-3000:]}")


def hurt_maps(c, h):
    """Of a map that hangs for ever a second attempt is started beside it and wins; a killed one is
    run again."""
    with Counting(c, h, "hurt-maps", still=False) as job:
        (hangs, stopped), (dies, killed) = job.first_maps(2)
        os.kill(stopped, signal.SIGSTOP)
        os.kill(killed, signal.SIGKILL)
        out = job.right()
    if (
        counter(out, "Launched map tasks") < MAPS + 2
        or counter(out, "Failed map tasks") != 1
        or counter(out, "Killed map tasks") == 0
    ):
        raise ClusterError(f"{hangs} was stopped, {dies} killed: {out[-3000:]}")


CASES = {
    "NodeManager killed while reducers fetch": node_killed,
    "map outputs cut, replaced by a link, with a lying index": hurt(cut, link, lying_index),
    "map outputs overwritten, removed": hurt(overwritten, removed),
    "map that hangs, speculation; map killed": hurt_maps,
    "reducer killed": killed_reducer,
    "job killed": killed_job,
    "node lost for good": node_lost,
}
