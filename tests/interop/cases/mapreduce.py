"""Hadoop's own MapReduce examples, unmodified, with their files on HDFS. What they compute is
compared with what Python computes, so that a map output that is lost, doubled or cut is seen."""
import collections
import contextlib
import hashlib
import json
import os
import random
import re
import socket
import urllib.request

from cluster import ClusterError, HostError, conf
from cluster.cluster import PLACE, Daemon
from cluster.host import free_port
from interop import hadoop, peers

EXAMPLES = "org.apache.hadoop.examples.ExampleDriver"
HISTORY = "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer"
SERVICE = "yarn.nodemanager.aux-services"
NODE_MEMORY = "yarn.nodemanager.resource.memory-mb"
APACHE = f"apache-{hadoop.REFERENCE}"
SMALL = " ".join(hadoop.SHORT_LIVED) + " -Xmx160m -XX:-UsePerfData"
OURS = peers.SELVEDGE


def pairings(version=hadoop.REFERENCE):
    """ResourceManager and NodeManagers, with Apache's of a version."""
    apache = f"apache-{version}"
    return {
        "selvedge+selvedge": (OURS, [OURS] * 3),
        "apache+selvedge": (apache, [OURS] * 3),
        # reducers fetch across both
        "mixed": (OURS, [OURS, OURS, apache]),
        "apache": (apache, [apache] * 3),
    }


DOCUMENT = os.path.join(hadoop.TOP, "docs", "operate", "mapreduce.md")
# Sums of outputs of the pairing "apache": MAPREDUCE_RECORD=1 writes them.
RECORD = os.path.join(hadoop.TOP, "tests", "golden", "mapreduce", f"{APACHE}.json")
# On hosts of their own a node has room for an ApplicationMaster or two tasks, one of Apache's
# beside ours for one task: those of a job are on two hosts at least, and on both kinds of nodes. A
# wide node has room for a task beside the master: what is hurt runs again while reducers wait, with
# one node less.
MASTER_MB, TASK_MB, NODE_MB, WIDE_NODE_MB, APACHE_BESIDE_OURS_MB = 384, 256, 512, 640, 320


def site(h):
    """For yarn-site.xml of all nodes, ours and Apache's."""
    return {
        "fs.defaultFS": h.url(""),
        SERVICE: "mapreduce_shuffle",
        f"{SERVICE}.mapreduce_shuffle.class": "org.apache.hadoop.mapred.ShuffleHandler",
        # cases stop a shuffle, and lose a node
        "selvedge.nodemanager.aux-services.event-timeout-ms": 600000,
        "yarn.nm.liveness-monitor.expiry-interval-ms": 30000,
        # of Apache's ResourceManager, which waits for ever where it may not write on HDFS
        "yarn.node-attribute.fs-store.root-dir": f"file://{PLACE}/rm/attributes",
    }


def _documented(c):
    """The lines for mapred-site.xml that the documentation tells an operator, with paths and
    addresses of this cluster."""
    with open(DOCUMENT, encoding="utf-8") as f:
        block = re.search(r"`mapred-site\.xml`[^\n]*:\n\n((?:    .*\n)+)", f.read()).group(1)
    lines = dict(line.strip().split(" = ") for line in block.splitlines())
    here = {
        "mapreduce.application.classpath": ",".join(c.container_classpath),
        "mapreduce.jobhistory.address": f"{c.address}:{c.history_port}",
        "mapreduce.jobhistory.webapp.address": f"{c.address}:{c.history_web_port}",
    }
    if here.keys() - lines:
        raise ClusterError(
            f"{DOCUMENT}: {sorted(here.keys() - lines)} among the lines of mapred-site.xml"
        )
    return {**lines, **here}


def _mapred_site(c):
    """What an operator sets, and what makes jobs small and short."""
    return {
        **_documented(c),
        "mapreduce.jobhistory.move.interval-ms": 1000,
        "mapreduce.jobhistory.admin.address": "127.0.0.1:0",
        "mapreduce.client.progressmonitor.pollinterval": 100,
        "mapreduce.client.completion.pollinterval": 100,
        "mapreduce.client.submit.file.replication": 2,
        "yarn.app.mapreduce.am.resource.mb": MASTER_MB,
        # before 3.4
        "yarn.app.mapreduce.am.command-opts": SMALL
        + " --add-opens=java.base/java.lang=ALL-UNNAMED",
        "mapreduce.map.memory.mb": TASK_MB,
        "mapreduce.map.java.opts": SMALL,
        "mapreduce.reduce.memory.mb": TASK_MB,
        "mapreduce.reduce.java.opts": SMALL,
        "mapreduce.task.io.sort.mb": 16,
        "mapreduce.job.reduce.slowstart.completedmaps": "0.5",
        "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": 100,
    }


def prepare(c, h, more=None, node_mb=NODE_MB):
    """Before the nodes start: mapred-site.xml for everybody. `more`: further keys; `node_mb`: of
    nodes on hosts of their own."""
    c.history_port, c.history_web_port = free_port(), free_port()
    values = {**_mapred_site(c), **(more or {})}
    conf.write_xml(f"{c.conf_dir}/mapred-site.xml", values)
    for node in c.nodes:
        # Hadoop's port on hosts of their own; else one that stays the same, as an operator's does.
        node.shuffle_port = 13562 if node.host else free_port()
        conf.write_xml(
            f"{node.conf_dir}/mapred-site.xml",
            {**values, "mapreduce.shuffle.port": node.shuffle_port},
        )
        if node.host:
            node.site[NODE_MEMORY] = (
                APACHE_BESIDE_OURS_MB
                if c.peer_nms[node.number - 1] != OURS in c.peer_nms
                else node_mb
            )
        # the program's directory of this node, not the one that is compiled in
        node.site[
            "selvedge.nodemanager.aux-services.mapreduce_shuffle.command"
        ] = f"{node.libexec}/selvedge-shuffle"


def swap_node(c, node):
    """Apache's NodeManager takes an idle node over."""
    node.site[NODE_MEMORY] = APACHE_BESIDE_OURS_MB
    peers.swap_node(c, node, APACHE)


class History:
    """Hadoop's JobHistoryServer, which clients ask when an ApplicationMaster has gone. As HDFS's
    superuser."""

    def __init__(self, c):
        self.c = c

    def __enter__(self):
        c = self.c
        self.daemon = Daemon(
            c,
            "historyserver",
            hadoop.java(
                c.peer_client, HISTORY, conf=c.conf_dir, options=peers.options(c, "daemon")
            ),
            {
                **c.daemon_env(c.conf_dir, "historyserver"),
                "JAVA_HOME": peers.java_home(),
                "HADOOP_USER_NAME": "root",
            },
        )
        self.daemon.start()

        def listens():
            self.daemon.must_run()
            with socket.socket() as s:
                return s.connect_ex((c.address, c.history_port)) == 0

        c.wait(listens, 120, "the JobHistoryServer listens")
        return self

    def __exit__(self, *_error):
        self.daemon.kill()


def home(c, h):
    at = f"/user/{c.submitter.pw_name}"
    h.ask("mkdir", at, "700")
    h.ask("own", at, c.submitter.pw_name)
    return at


def base_of(c, h, name):
    """A name below the submitter's home that no other pairing on this HDFS has: a job's output
    directory must be new."""
    at = f"{home(c, h)}/{'+'.join([c.peer_client, c.peer_rm, *c.peer_nms])}"
    h.ask("mkdir", at, "755")
    h.ask("own", at, c.submitter.pw_name)
    return f"{at}/{name}"


def input_dir(c, h, name):
    """A directory of the submitter's; the path without "-in"."""
    base = base_of(c, h, name)
    h.ask("mkdir", f"{base}-in", "755")
    h.ask("own", f"{base}-in", c.submitter.pw_name)
    return base


def example(c, *args, wanted=0, timeout=400):
    """Output of an example's client."""
    done = peers.client(c, EXAMPLES, *args, timeout=timeout)
    if done.returncode != wanted:
        raise ClusterError(
            f"{' '.join(args)}: exit {done.returncode}, wanted "
            f"{wanted}:\n{done.stdout[-4000:]}{logs_of(c, done.stdout)}"
        )
    return done.stdout


def logs_of(c, output):
    """The ends of the logs of a job's containers."""
    found = re.search(r"application_\d+_\d+", output)
    text = ""
    for name in ("stderr", "stdout", "syslog", "launch_container.sh") if found else ():
        for container, log in sorted(peers.Application(c, found.group(0)).outputs(name).items()):
            text += f"\n{container} {name}: {log[-3000:]}"
    return text


def counter(output, name):
    return int(re.search(rf"^\s*{re.escape(name)} ?=(\d+)", output, re.M).group(1))


def history(c, path):
    """JSON of the JobHistoryServer."""
    with urllib.request.urlopen(
        f"http://{c.address}:{c.history_web_port}/ws/v1/history/mapreduce/jobs{path}", timeout=60
    ) as answer:
        return json.load(answer)


def rows(found):
    """Hadoop 3.5's Jersey writes a list of one row as the row alone."""
    return found if isinstance(found, list) else [found]


def across(c, output):
    """On hosts of their own: reducers have fetched from another host, and from each kind of shuffle
    that the cluster has."""
    if not c.network:
        return
    job, hosts = re.search(r"\bjob_\d+_\d+", output).group(0), {"MAP": set(), "REDUCE": set()}
    for task in rows(history(c, f"/{job}/tasks")["tasks"]["task"]):
        for attempt in rows(
            history(c, f"/{job}/tasks/{task['id']}/attempts")["taskAttempts"]["taskAttempt"]
        ):
            hosts[task["type"]].add(attempt["nodeHttpAddress"].split(":")[0])
    served = {kind for node, kind in zip(c.nodes, c.peer_nms) if node.address in hosts["MAP"]}
    if len(hosts["MAP"] | hosts["REDUCE"]) < 2 or served != set(c.peer_nms):
        raise ClusterError(f"{job}: maps and reducers were on {hosts}, map outputs on {served}")


def same_as_apache(c, name, data):
    """What an all-Apache cluster has put out for the same input was recorded."""
    with contextlib.ExitStack() as stack:
        sums = (
            json.load(stack.enter_context(open(RECORD, encoding="ascii")))
            if os.path.exists(RECORD)
            else {}
        )
    found = hashlib.sha256(data).hexdigest()
    if os.environ.get("MAPREDUCE_RECORD") == "1" and {c.peer_rm, *c.peer_nms} == {APACHE}:
        with open(RECORD, "w", encoding="ascii") as f:
            json.dump({**sums, name: found}, f, indent=1, sort_keys=True)
            f.write("\n")
    elif sums.get(name) != found:
        raise ClusterError(
            f"{name}: another output ({found}) than that of {APACHE} ({sums.get(name)})"
        )


def pi(c, maps=2, samples=1000):
    """The digits do not depend on the cluster: a quasi-Monte-Carlo sequence."""
    out = example(c, "pi", str(maps), str(samples))
    wanted = {(2, 1000): "3.14400000000000000000", (16, 1000): "3.14250000000000000000"}[
        maps, samples
    ]
    found = re.search(r"^Estimated value of Pi is (\S+)$", out, re.M)
    if not found or found.group(1) != wanted:
        raise ClusterError(
            f"pi {maps} {samples}: {found and found.group(1)}, wanted {wanted}\n{out[-2000:]}"
        )
    if counter(out, "Shuffled Maps") != maps or counter(out, "Failed Shuffles") != 0:
        raise ClusterError(
            f"pi: {counter(out, 'Shuffled Maps')} maps shuffled, "
            f"{counter(out, 'Failed Shuffles')} failed"
        )
    if maps > 2:  # two have room on one host
        across(c, out)


class Words:
    """Text on HDFS, a file a map, and the number of each word as Python counts."""

    def __init__(self, c, h, name, files=3):
        choose = random.Random(5)
        self.h, words = h, [f"word{choose.randrange(3000)}" for _ in range(60000)]
        base = input_dir(c, h, name)
        self.input, self.output = f"{base}-in", f"{base}-out"
        for i in range(files):
            lines = words[i::files]
            text = "".join(" ".join(lines[k : k + 20]) + "\n" for k in range(0, len(lines), 20))
            h.put(f"{self.input}/{i}", text.encode(), owner=c.submitter.pw_name)
        self.counts = collections.Counter(words)

    def check(self):
        data = self.h.parts(self.output)
        found = dict(line.split("\t") for line in data.decode().splitlines())
        wanted = {word: str(n) for word, n in self.counts.items()}
        if found != wanted:
            raise ClusterError(
                f"wordcount: {len(found)} words, wanted {len(wanted)}; "
                f"{sorted(set(found.items()) ^ set(wanted.items()))[:5]}"
            )
        return data


def word_count(c, h):
    words = Words(c, h, "count")
    out = example(c, "wordcount", "-Dmapreduce.job.reduces=2", words.input, words.output)
    same_as_apache(c, "wordcount", words.check())
    across(c, out)


def grep(c, h):
    """Two jobs, the second with the first one's output: matches, also inside words, by how often
    they are there."""
    words, pattern = Words(c, h, "grep"), "word1[0-9]*7"
    example(c, "grep", "-Dmapreduce.job.reduces=2", words.input, words.output, pattern)
    lines = h.parts(words.output).decode().splitlines()
    found = [line.split("\t") for line in lines]
    wanted = collections.Counter()
    for word, n in words.counts.items():
        for match in re.findall(pattern, word):
            wanted[match] += n
    numbers = [int(n) for n, _ in found]
    if {word: int(n) for n, word in found} != wanted or numbers != sorted(numbers, reverse=True):
        raise ClusterError(f"grep: {len(found)} matches, wanted {len(wanted)}: {found[:5]}")
    same_as_apache(c, "grep", "\n".join(sorted(lines)).encode())  # equal numbers have no order


def sort(c, h):
    """The example `sort`, of lines, one part: keys are what is before a tab, all of the line
    here."""
    words = Words(c, h, "sort")
    api, text = "org.apache.hadoop.mapreduce.lib", "org.apache.hadoop.io.Text"
    example(
        c,
        "sort",
        "-r",
        "1",
        "-inFormat",
        f"{api}.input.KeyValueTextInputFormat",
        "-outFormat",
        f"{api}.output.TextOutputFormat",
        "-outKey",
        text,
        "-outValue",
        text,
        words.input,
        words.output,
    )
    data = h.parts(words.output)
    lines = [line.rstrip("\t") for line in data.decode().splitlines()]
    if lines != sorted(lines) or collections.Counter(" ".join(lines).split()) != words.counts:
        raise ClusterError(
            f"sort: {len(lines)} lines, {'' if lines == sorted(lines) else 'not '}in order"
        )
    same_as_apache(c, "sort", data)


def sorted_rows(c, h, mib, options=(), beside=()):
    """teragen, terasort, teravalidate of so many MiB by four maps and reducers: the checksums of
    generated and sorted rows agree. `options`: of all three jobs; `beside`: of those that shuffle
    nothing or little."""
    base, rows = base_of(c, h, f"sort{mib}"), (mib << 20) // 100
    block = f"-Ddfs.blocksize={(mib << 20) // 4}"  # a map each; the fixture's blocks are smaller
    out = example(
        c, "teragen", block, *options, *beside, "-Dmapreduce.job.maps=4", str(rows), f"{base}-in"
    )
    generated = counter(out, "CHECKSUM")
    out = example(c, "terasort", *options, "-Dmapreduce.job.reduces=4", f"{base}-in", f"{base}-out")
    if counter(out, "Failed Shuffles") or counter(out, "Reduce output records") != rows:
        raise ClusterError(f"terasort: {out[-3000:]}")
    across(c, out)
    example(c, "teravalidate", *options, *beside, f"{base}-out", f"{base}-report")
    report = h.parts(f"{base}-report").decode().split()
    if report[0] != "checksum" or int(report[1], 16) != generated or len(report) != 2:
        raise ClusterError(
            f"teravalidate: {report}, the checksum of what was generated is {generated:x}"
        )
    if mib <= 64:
        same_as_apache(c, f"terasort of {mib} MiB", h.parts(f"{base}-out"))
    for path in ("-in", "-out"):
        h.ask("remove", base + path)


def sorted_once(c, h, rows=20000, reduces=2):
    """terasort alone: Python makes the rows and compares what comes back."""
    choose = random.Random(7)
    lines = [
        "".join(choose.choices("abcdefghijklmnopqrstuvwxyz", k=98)) + "\r\n" for _ in range(rows)
    ]
    base = input_dir(c, h, "once")
    for i in range(2):
        h.put(f"{base}-in/{i}", "".join(lines[i::2]).encode(), owner=c.submitter.pw_name)
    out = example(c, "terasort", f"-Dmapreduce.job.reduces={reduces}", f"{base}-in", f"{base}-out")
    if counter(out, "Failed Shuffles") or counter(out, "Shuffled Maps") < 2 * reduces:
        raise ClusterError(f"terasort: {out[-3000:]}")
    found, wanted = h.parts(f"{base}-out").decode().split(), sorted(line.strip() for line in lines)
    if found != wanted:
        raise ClusterError(
            f"terasort: {len(found)} rows, other than what was put: "
            f"{sorted(set(found) ^ set(wanted))[:5]}"
        )


def killed_shuffle(c, h):
    """kill -9 of every selvedge-shuffle in mid-job: the NodeManagers start them anew and tell them
    of the job."""
    base = base_of(c, h, "killed")
    example(
        c,
        "teragen",
        f"-Ddfs.blocksize={4 << 20}",
        "-Dmapreduce.job.maps=4",
        str((32 << 20) // 100),
        f"{base}-in",
    )
    with peers.start_client(
        c,
        EXAMPLES,
        "terasort",
        "-Dmapreduce.job.reduces=4",
        "-Dmapreduce.job.maps=8",
        f"{base}-in",
        f"{base}-out",
    ) as process:
        lines = []
        for line in process.stdout:
            lines.append(line)
            at = re.search(r"map (\d+)% reduce (\d+)%", line)
            if at and int(at.group(1)) >= 50 and int(at.group(2)) < 100:
                break
        first = shuffles(c)
        for pid in first:
            os.kill(pid, 9)
        c.wait(
            lambda: len(set(shuffles(c)) - set(first)) == len(first) or process.poll() is not None,
            60,
            "the NodeManagers start the shuffles anew",
        )
        lines += process.stdout
    if process.returncode or len(first) != c.peer_nms.count(peers.SELVEDGE):
        raise ClusterError(
            f"{len(first)} shuffles were killed, terasort: exit {process.returncode}: "
            f"{''.join(lines)[-3000:]}"
        )
    example(c, "teravalidate", f"{base}-out", f"{base}-report")


LARGE = "teragen, terasort, teravalidate of 64 MiB"
PI = {"pi": lambda c, h: pi(c)}
COUNT = {"wordcount": word_count}
SORTED = {LARGE: lambda c, h: sorted_rows(c, h, 64)}
# teragen and teravalidate run in their ApplicationMasters' JVMs.
UBER = ["-Dmapreduce.job.ubertask.enable=true", f"-Dmapreduce.job.ubertask.maxbytes={1 << 30}"]
JOBS = {"pi 16 1000": lambda c, h: pi(c, 16), **COUNT, "grep": grep, "lines in order": sort}
SAME = {**JOBS, **SORTED}  # the outputs are those of an all-Apache cluster
# Whose first and last job shuffle next to nothing.
PAIRED = {**JOBS, LARGE: lambda c, h: sorted_rows(c, h, 64, beside=UBER)}
OTHER_VERSIONS = {**PI, **COUNT, "terasort of rows that Python compares": sorted_once}
FULL = {**SAME, "shuffles killed in mid-job": killed_shuffle}
ONE_REPLICA = ["-Ddfs.replication=1", "-Dmapreduce.task.io.sort.mb=64"]
HUGE = {
    "teragen, terasort, teravalidate of 1 GiB": lambda c, h: sorted_rows(c, h, 1024, ONE_REPLICA)
}


@contextlib.contextmanager
def jobs(c, h):
    """A running cluster whose nodes were prepared can run MapReduce's jobs."""
    home(c, h)
    h.ask("mkdir", "/user/history", "755")
    with History(c):
        yield


def run(report, c, h, cases):
    version = "" if c.peer_client == hadoop.REFERENCE else f", examples with Hadoop {c.peer_client}"
    for name, function in cases.items():
        report.case(f"{c.peer_rm}+{'+'.join(c.peer_nms)}{version}: {name}", function, c, h)


def pairing(report, h, name, cases, version=hadoop.REFERENCE, own=None, **more):
    """The cases on a new cluster with Apache's daemons of that version; `own`: a module with
    another PAIRING, site() and prepare(); `more` as in peers.cluster."""
    rm, nodes = own.PAIRING if own else pairings(version)[name]
    own_site = own.site if own else site

    def ready(c):
        if own:
            own.prepare(c, h)
        else:
            prepare(c, h, node_mb=WIDE_NODE_MB if len(set(nodes)) == 1 else NODE_MB)

    name = f"{name} {more.get('client', '')}".strip()
    try:
        with peers.cluster(
            "mapreduce", rm=rm, nm=nodes, site=own_site(h), prepare=ready, **more
        ) as c:
            with jobs(c, h):
                run(report, c, h, cases)
            c.close()
        report.check(f"{name}: nothing is left behind", True)
    except (ClusterError, HostError) as error:
        report.check(name, False, str(error))


def shuffles(c):
    """Process ids of the nodes' selvedge-shuffle: children of their daemons, since another test's
    have the same path."""
    found = []
    for node in c.nodes:
        pid = node.process.process.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            for child in f.read().split():
                with contextlib.suppress(OSError), open(
                    f"/proc/{child}/comm", encoding="ascii"
                ) as name:
                    if name.read().startswith("selvedge-shuff"):
                        found.append(int(child))
    return found
