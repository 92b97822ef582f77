"""Hadoop's own MapReduce examples, unmodified, with their files on HDFS. What they compute is compared with what Python
computes, so that a map output that is lost, doubled or cut is seen."""
import collections
import contextlib
import os
import random
import re
import socket
import subprocess

from cluster import ClusterError, HostError, conf
from cluster.cluster import PLACE, Daemon
from cluster.host import free_port
from interop import hadoop, peers

EXAMPLES = "org.apache.hadoop.examples.ExampleDriver"
HISTORY = "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer"
SERVICE = "yarn.nodemanager.aux-services"
APACHE = f"apache-{hadoop.REFERENCE}"
SMALL = " ".join(hadoop.SHORT_LIVED) + " -Xmx160m -XX:-UsePerfData"
PAIRINGS = {"selvedge+selvedge": ("selvedge", ["selvedge", "selvedge"]),
            "apache+selvedge": (APACHE, ["selvedge", "selvedge"]),
            # reducers fetch across both
            "mixed": ("selvedge", ["selvedge", "selvedge", APACHE])}


def site(h):
    """For yarn-site.xml of all nodes, ours and Apache's."""
    return {"fs.defaultFS": f"hdfs://127.0.0.1:{h.port}", SERVICE: "mapreduce_shuffle",
            f"{SERVICE}.mapreduce_shuffle.class": "org.apache.hadoop.mapred.ShuffleHandler",
            # cases stop a shuffle, and lose a node
            "selvedge.nodemanager.aux-services.event-timeout-ms": 600000,
            "yarn.nm.liveness-monitor.expiry-interval-ms": 30000,
            # of Apache's ResourceManager, which waits for ever where it may not write on HDFS
            "yarn.node-attribute.fs-store.root-dir": f"file://{PLACE}/rm/attributes"}


def _mapred_site(c, h):
    fs = f"hdfs://127.0.0.1:{h.port}"
    return {
        "mapreduce.framework.name": "yarn",
        "mapreduce.application.classpath": ",".join(c.container_classpath),
        "yarn.app.mapreduce.am.staging-dir": "/user",
        "mapreduce.jobhistory.address": f"127.0.0.1:{c.history_port}",
        "mapreduce.jobhistory.webapp.address": f"127.0.0.1:{c.history_web_port}",
        "mapreduce.jobhistory.move.interval-ms": 1000,
        "mapreduce.jobhistory.admin.address": "127.0.0.1:0",
        "mapreduce.jobhistory.intermediate-done-dir": f"{fs}/history/new",
        "mapreduce.jobhistory.done-dir": f"{fs}/history/done",
        "yarn.app.mapreduce.am.resource.mb": 384,
        "yarn.app.mapreduce.am.command-opts": f"{SMALL} --add-opens=java.base/java.lang=ALL-UNNAMED",  # before 3.4
        "mapreduce.map.memory.mb": 256,
        "mapreduce.map.java.opts": SMALL,
        "mapreduce.reduce.memory.mb": 256,
        "mapreduce.reduce.java.opts": SMALL,
        "mapreduce.task.io.sort.mb": 16,
        "mapreduce.job.reduce.slowstart.completedmaps": "0.5",
        "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": 100,
    }


def prepare(c, h, more=None):
    """Before the nodes start: mapred-site.xml for everybody. `more`: further keys."""
    c.history_port, c.history_web_port = free_port(), free_port()
    values = {**_mapred_site(c, h), **(more or {})}
    conf.write_xml(f"{c.conf_dir}/mapred-site.xml", values)
    for node in c.nodes:
        # Several nodes on one machine; a port that stays the same, as an operator's does.
        node.shuffle_port = free_port()
        conf.write_xml(f"{node.conf_dir}/mapred-site.xml", {**values, "mapreduce.shuffle.port": node.shuffle_port})
        # the program's directory of this node, not the one that is compiled in
        node.site["selvedge.nodemanager.aux-services.mapreduce_shuffle.command"] = f"{node.libexec}/selvedge-shuffle"


class History:
    """Hadoop's JobHistoryServer, which clients ask when an ApplicationMaster has gone. As HDFS's superuser."""

    def __init__(self, c):
        self.c = c

    def __enter__(self):
        c = self.c
        self.daemon = Daemon(c, "historyserver", hadoop.java(c.peer_client, HISTORY, conf=c.conf_dir, options=peers.options(c, "daemon")),
                             {**c.daemon_env(c.conf_dir, "historyserver"), "JAVA_HOME": peers.java_home(), "HADOOP_USER_NAME": "root"})
        self.daemon.start()

        def listens():
            self.daemon.must_run()
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", c.history_port)) == 0
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
    """A name below the submitter's home that no other pairing on this HDFS has: a job's output directory must be new."""
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
        raise ClusterError(f"{' '.join(args)}: exit {done.returncode}, wanted {wanted}:\n{done.stdout[-4000:]}{logs_of(c, done.stdout)}")
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


def cat(c, *paths):
    """Files on HDFS, without what the client says on standard error."""
    done = subprocess.run([*c.as_user(c.submitter), *peers.client_argv(c, "org.apache.hadoop.fs.FsShell", "-cat", *paths)], cwd=c.home,
                          env={**c.client_env(c.submitter), "JAVA_HOME": peers.java_home()}, capture_output=True, text=True,
                          timeout=300, check=False)
    if done.returncode:
        raise ClusterError(f"cat {paths}: {done.stderr[-2000:]}")
    return done.stdout


def pi(c, maps=2, samples=1000):
    """The digits do not depend on the cluster: a quasi-Monte-Carlo sequence."""
    out = example(c, "pi", str(maps), str(samples))
    wanted = {(2, 1000): "3.14400000000000000000", (16, 1000): "3.14250000000000000000"}[maps, samples]
    found = re.search(r"^Estimated value of Pi is (\S+)$", out, re.M)
    if not found or found.group(1) != wanted:
        raise ClusterError(f"pi {maps} {samples}: {found and found.group(1)}, wanted {wanted}\n{out[-2000:]}")
    if counter(out, "Shuffled Maps") != maps or counter(out, "Failed Shuffles") != 0:
        raise ClusterError(f"pi: {counter(out, 'Shuffled Maps')} maps shuffled, {counter(out, 'Failed Shuffles')} failed")


class Words:
    """Text on HDFS, a file a map, and the number of each word as Python counts."""

    def __init__(self, c, h, name, files=3):
        choose = random.Random(5)
        self.c, words = c, [f"word{choose.randrange(3000)}" for _ in range(60000)]
        base = input_dir(c, h, name)
        self.input, self.output = f"{base}-in", f"{base}-out"
        for i in range(files):
            lines = words[i::files]
            text = "".join(" ".join(lines[k:k + 20]) + "\n" for k in range(0, len(lines), 20))
            h.put(f"{self.input}/{i}", text.encode(), owner=c.submitter.pw_name)
        self.counts = collections.Counter(words)

    def check(self):
        found = dict(line.split("\t") for line in cat(self.c, f"{self.output}/part-*").splitlines())
        wanted = {word: str(n) for word, n in self.counts.items()}
        if found != wanted:
            raise ClusterError(f"wordcount: {len(found)} words, wanted {len(wanted)}; "
                               f"{sorted(set(found.items()) ^ set(wanted.items()))[:5]}")


def word_count(c, h):
    words = Words(c, h, "count")
    example(c, "wordcount", "-Dmapreduce.job.reduces=2", words.input, words.output)
    words.check()


def grep(c, h):
    """Two jobs, the second with the first one's output: matches, also inside words, by how often they are there."""
    words, pattern = Words(c, h, "grep"), "word1[0-9]*7"
    example(c, "grep", "-Dmapreduce.job.reduces=2", words.input, words.output, pattern)
    found = [line.split("\t") for line in cat(c, f"{words.output}/part-*").splitlines()]
    wanted = collections.Counter()
    for word, n in words.counts.items():
        for match in re.findall(pattern, word):
            wanted[match] += n
    numbers = [int(n) for n, _ in found]
    if {word: int(n) for n, word in found} != wanted or numbers != sorted(numbers, reverse=True):
        raise ClusterError(f"grep: {len(found)} matches, wanted {len(wanted)}: {found[:5]}")


def sort(c, h):
    """The example `sort`, of lines, one part: keys are what is before a tab, all of the line here."""
    words = Words(c, h, "sort")
    api, text = "org.apache.hadoop.mapreduce.lib", "org.apache.hadoop.io.Text"
    example(c, "sort", "-r", "1", "-inFormat", f"{api}.input.KeyValueTextInputFormat", "-outFormat",
            f"{api}.output.TextOutputFormat", "-outKey", text, "-outValue", text, words.input, words.output)
    lines = [line.rstrip("\t") for line in cat(c, f"{words.output}/part-*").splitlines()]
    if lines != sorted(lines) or collections.Counter(" ".join(lines).split()) != words.counts:
        raise ClusterError(f"sort: {len(lines)} lines, {'' if lines == sorted(lines) else 'not '}in order")


def sorted_rows(c, h, rows, reduces, maps):
    """teragen, terasort, teravalidate: the checksums of generated and sorted rows agree."""
    base = base_of(c, h, f"sort{rows}")
    block = f"-Ddfs.blocksize={16 << 20}"  # a map each; the fixture's blocks are smaller
    out = example(c, "teragen", block, f"-Dmapreduce.job.maps={maps}", str(rows), f"{base}-in")
    generated = counter(out, "CHECKSUM")
    out = example(c, "terasort", f"-Dmapreduce.job.reduces={reduces}", f"{base}-in", f"{base}-out")
    if counter(out, "Failed Shuffles") or counter(out, "Reduce output records") != rows:
        raise ClusterError(f"terasort: {out[-3000:]}")
    example(c, "teravalidate", f"{base}-out", f"{base}-report")
    report = cat(c, f"{base}-report/part-*").split()
    if report[0] != "checksum" or int(report[1], 16) != generated or len(report) != 2:
        raise ClusterError(f"teravalidate: {report}, the checksum of what was generated is {generated:x}")


def sorted_once(c, h, rows=20000, reduces=2):
    """terasort alone: Python makes the rows and compares what comes back."""
    choose = random.Random(7)
    lines = ["".join(choose.choices("abcdefghijklmnopqrstuvwxyz", k=98)) + "\r\n" for _ in range(rows)]
    base = input_dir(c, h, "once")
    for i in range(2):
        h.put(f"{base}-in/{i}", "".join(lines[i::2]).encode(), owner=c.submitter.pw_name)
    out = example(c, "terasort", f"-Dmapreduce.job.reduces={reduces}", f"{base}-in", f"{base}-out")
    if counter(out, "Failed Shuffles") or counter(out, "Shuffled Maps") < 2 * reduces:
        raise ClusterError(f"terasort: {out[-3000:]}")
    found, wanted = cat(c, f"{base}-out/part-*").split(), sorted(line.strip() for line in lines)
    if found != wanted:
        raise ClusterError(f"terasort: {len(found)} rows, other than what was put: {sorted(set(found) ^ set(wanted))[:5]}")


def killed_shuffle(c, h):
    """kill -9 of every selvedge-shuffle in mid-job: the NodeManagers start them anew and tell them of the job."""
    base = base_of(c, h, "killed")
    example(c, "teragen", f"-Ddfs.blocksize={4 << 20}", "-Dmapreduce.job.maps=4", str((32 << 20) // 100), f"{base}-in")
    with peers.start_client(c, EXAMPLES, "terasort", "-Dmapreduce.job.reduces=4", "-Dmapreduce.job.maps=8",
                            f"{base}-in", f"{base}-out") as process:
        lines = []
        for line in process.stdout:
            lines.append(line)
            at = re.search(r"map (\d+)% reduce (\d+)%", line)
            if at and int(at.group(1)) >= 50 and int(at.group(2)) < 100:
                break
        first = shuffles(c)
        for pid in first:
            os.kill(pid, 9)
        c.wait(lambda: len(set(shuffles(c)) - set(first)) == len(first) or process.poll() is not None, 60,
               "the NodeManagers start the shuffles anew")
        lines += process.stdout
    if process.returncode or len(first) != c.peer_nms.count(peers.SELVEDGE):
        raise ClusterError(f"{len(first)} shuffles were killed, terasort: exit {process.returncode}: {''.join(lines)[-3000:]}")
    example(c, "teravalidate", f"{base}-out", f"{base}-report")


LARGE = {"teragen, terasort, teravalidate of 64 MiB": lambda c, h: sorted_rows(c, h, (64 << 20) // 100, 4, 4)}
BRIEF = {"pi": lambda c, h: pi(c), **LARGE}  # of make check, beside the localizer's tests of HDFS
MIXED = {"wordcount": word_count}            # the same
OTHER_VERSIONS = {"pi": lambda c, h: pi(c), "terasort of rows that Python compares": sorted_once}
FULL = {"pi 16 1000": lambda c, h: pi(c, 16), "wordcount": word_count, "grep": grep, "lines in order": sort, **LARGE,
        "terasort of rows that Python compares": sorted_once,
        "shuffles killed in mid-job": killed_shuffle}


def run(report, c, h, cases):
    """On a running cluster whose nodes were prepared."""
    home(c, h)
    h.ask("mkdir", "/history", "755")
    version = "" if c.peer_client == hadoop.REFERENCE else f", examples with Hadoop {c.peer_client}"
    with History(c):
        for name, function in cases.items():
            report.case(f"{c.peer_rm}+{'+'.join(c.peer_nms)}{version}: {name}", function, c, h)


def pairing(report, h, name, cases, own=None, **more):
    """The cases on a new cluster; `own`: a module with another PAIRING, site() and prepare(); `more` as in peers.cluster."""
    rm, nodes = own.PAIRING if own else PAIRINGS[name]
    made, ready = (own.site, own.prepare) if own else (site, prepare)
    name = f"{name} {more.get('client', '')}".strip()
    try:
        with peers.cluster("mapreduce", rm=rm, nm=nodes, site=made(h), prepare=lambda c: ready(c, h), **more) as c:
            run(report, c, h, cases)
            c.close()
        report.check(f"{name}: nothing is left behind", True)
    except (ClusterError, HostError) as error:
        report.check(name, False, str(error))


def shuffles(c):
    """Process ids of the nodes' selvedge-shuffle: children of their daemons, since another test's have the same path."""
    found = []
    for node in c.nodes:
        pid = node.process.process.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            for child in f.read().split():
                with contextlib.suppress(OSError), open(f"/proc/{child}/comm", encoding="ascii") as name:
                    if name.read().startswith("selvedge-shuff"):
                        found.append(int(child))
    return found
