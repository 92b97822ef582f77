"""A secure cluster of Apache's daemons (interop/secure.py) loses its NodeManagers to ours, and then
its ResourceManager. Jobs of all stages run one after the other; what they have written on HDFS and
their logs are there after each stage, for their users and for later jobs. SETTINGS are those of the
cluster."""
import re

from cluster import ClusterError
from interop import hadoop, peers, secure
from interop.cases import mapreduce
from interop.cases.secure_jobs import LAST, LOGS_CLI, Job, grouped

SHELL = "org.apache.hadoop.fs.FsShell"
SETTINGS = secure.Settings(
    node=f"apache-{hadoop.REFERENCE}", nodes=2, protection="privacy", transfer="privacy"
)


class Past:
    """What a user has from one stage: the output of MapReduce, and the logs of both jobs."""

    def __init__(self, s, person, stage):
        self.s, self.person = s, person
        with s.acting(person):
            self.words = mapreduce.Words(s.c, s.hdfs, stage)
            out = mapreduce.example(s.c, "wordcount", self.words.input, self.words.output)
            self.data = self.words.check()
        self.counted = re.search(r"application_\d+_\d+", out).group(0)
        self.line = f"{stage} has run"
        with Job(s, person, "-shell_command", grouped(f"echo {self.line}")) as job:
            job.outputs()
        self.shell = job.application.id
        for application in (self.counted, self.shell):
            app = peers.Application(s.c, application)
            s.c.wait(
                lambda app=app: app.report().get("logAggregationStatus") == "SUCCEEDED",
                90,
                f"logs of {application} are aggregated",
            )

    def ask(self, main, *args):
        done = peers.client(self.s.c, main, *args)
        if done.returncode:
            raise ClusterError(f"{main} {args}: {done.returncode}: {done.stdout[-3000:]}")
        return done.stdout

    def logs(self, application):
        name = self.person.account.pw_name
        return self.ask(LOGS_CLI, "-applicationId", application, "-appOwner", name)

    def must_be_there(self):
        """By Hadoop's own clients, with the user's ticket."""
        with self.s.acting(self.person):
            found = self.ask(SHELL, "-cat", f"{self.words.output}/part-r-00000")
            text, counted = self.logs(self.shell), self.logs(self.counted)
        if self.data.decode() not in found:
            raise ClusterError(f"{self.words.output} is another one: {found[-3000:]}")
        if f"{self.line}\n{LAST}" not in text:
            raise ClusterError(f"logs of {self.shell}: {text[-3000:]}")
        if "syslog" not in counted:
            raise ClusterError(f"logs of {self.counted}: {counted[-3000:]}")


def stage(s, person, name):
    s.past.append(Past(s, person, name))
    for past in s.past:
        past.must_be_there()
    s.c.settle()


def apaches_alone(s):
    s.past = []
    stage(s, s.dora, "Apache")


def our_nodes(s):
    """One after the other."""
    for node in s.c.nodes:
        peers.swap_node(s.c, node, peers.SELVEDGE)
    stage(s, s.alice, "nodes")


def our_resourcemanager(s):
    """The nodes and the users keep their configuration."""
    peers.swap_rm(s.c, peers.SELVEDGE)
    stage(s, s.alice, "manager")


def old_results_as_input(s):
    """A job of the new cluster counts what one of the time before has written."""
    before = s.past[1]
    with s.acting(before.person):
        mapreduce.example(s.c, "wordcount", before.words.output, f"{before.words.output}-again")
    found = s.hdfs.parts(f"{before.words.output}-again").decode()
    missing = [w for w in before.words.counts if not re.search(rf"^{w}\t1$", found, re.M)]
    if missing:
        raise ClusterError(f"{len(missing)} words are not counted once: {missing[:5]}")


CASES = [apaches_alone, our_nodes, our_resourcemanager, old_results_as_input]
