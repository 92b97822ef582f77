"""Our ResourceManager in a secure cluster (interop/secure.py) is killed in each phase of a job
whose files are on HDFS: before the submission is answered, while its tokens are renewed, when its
master has a container, while it runs, and when it has ended but its container has not. Each job
ends well, its tokens are renewed by the next ResourceManager, and a delegation token and the keys
of the first one hold to the end. SETTINGS are those of the cluster."""
import contextlib
import os
import random
import signal
import time

from cluster import ClusterError
from interop import peers, secure
from interop.cases import secure_selvedge
from interop.cases.secure_jobs import grouped
from interop.cases.secure_tokens import renewal, series

ROUNDS = int(os.environ.get("ROUNDS", "20"))  # of all phases together
SETTINGS = secure.Settings(
    rm=peers.SELVEDGE,
    protection="privacy",
    hdfs={"dfs.namenode.delegation.token.renew-interval": 20000},
    # of Hadoop's clients and masters, which wait for half a minute by default
    site={"yarn.resourcemanager.connect.retry-interval.ms": 500},
)


class Client(peers.RunningShell):
    """DistributedShell up to its submission, which is still to be answered."""

    def __init__(self, s):
        self.s = s
        with s.acting(s.alice):
            super().__init__(s.c, "-shell_command", grouped("sleep 1"), "-num_containers", "1")

    def __enter__(self):
        return self

    def upto(self, words):
        for line in self.process.stdout:
            self.lines.append(line)
            if words in line:
                return
        raise ClusterError(f"DistributedShell ends without {words!r}: {self.lines[-20:]}")

    def submitted(self):
        """It finds its application by itself, whoever has answered."""
        super().__enter__()

    def __exit__(self, *error):
        with self.s.acting(self.s.alice):
            if hasattr(self, "application"):
                super().__exit__(*error)
            else:
                self.process.kill()
                self.process.stdout.close()
                self.process.wait()


@contextlib.contextmanager
def stopped(process):
    os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process.pid, signal.SIGCONT)


def soon(condition, what):
    """Within milliseconds of it."""
    until = time.monotonic() + 120
    while not condition():
        if time.monotonic() > until:
            raise ClusterError(f"not within 120 s: {what}")


def state(client):
    return client.application.report().get("state")


def before_the_answer(s, client):
    client.upto("Submitting application to ASM")
    until = time.monotonic() + random.uniform(0, 0.1)
    soon(lambda: time.monotonic() > until, "a moment of the submission")
    s.restart_rm()
    client.submitted()


def tokens_renewed(s, client):
    """The NameNode does not answer meanwhile."""
    client.upto("Submitting application to ASM")
    with stopped(s.hdfs.namenode):
        soon(lambda: renewal(s, "open_calls") > 0, "a renewal is under way")
        s.restart_rm()
    client.submitted()


def allocated(s, client):
    """The node does not answer, so that the master does not start."""
    client.upto("Submitting application to ASM")
    with stopped(s.node.process):
        client.submitted()
        soon(
            lambda: any(a.get("containerId") for a in client.application.attempts()),
            "the master has a container",
        )
        s.restart_rm()


def running(s, client):
    client.submitted()
    soon(lambda: state(client) == "RUNNING", "the master has registered")
    s.restart_rm()


def finishing(s, client):
    """Clients are told FINISHED when the master has unregistered; its process ends a few hundred
    milliseconds later."""
    client.submitted()
    soon(lambda: state(client) == "FINISHED", "the master has unregistered")
    s.c.rm.kill()
    change = f"{client.application.id} State change from "
    ended = f"{change}FINISHING to FINISHED" in s.rm_log()
    s.finishing += f"{change}FINAL_SAVING to FINISHING" in s.rm_log() and not ended
    s.restart_rm()


PHASES = [before_the_answer, tokens_renewed, allocated, running, finishing]


def token_holds(s):
    """That of the first ResourceManager, for who has no ticket."""
    with s.acting(s.alice):
        s.c.client_variables = {"KRB5CCNAME": "/nowhere", "HADOOP_TOKEN_FILE_LOCATION": s.tokens}
        secure_selvedge.selvedge(s, "ps", "-a")


def round_of(s, phase):
    with Client(s) as client:
        phase(s, client)
        token_holds(s)
        s.registers()
        done = client.finish()
        if done.exit_code != 0:
            raise ClusterError(f"{phase.__name__}: {done.output[-4000:]}")
        report = done.report()
        if (report.get("state"), report.get("finalStatus")) != ("FINISHED", "SUCCEEDED"):
            raise ClusterError(f"{phase.__name__}: {done.id}: {report}")
    s.renewed += renewal(s, "renewed_total")


def killed_in_each_phase(s):
    random.seed(36)
    s.finishing = s.renewed = 0
    with s.acting(s.alice):
        place = s.c.user_dir("tokens", s.alice.account)
        s.tokens = f"{place}/tokens"
        keytab = s.readable_keytab(s.alice)
        secure_selvedge.python(s, "tokens", s.alice.principal, keytab, s.tokens)
    for number in range(ROUNDS):
        phase = PHASES[number % len(PHASES)]
        began = time.monotonic()
        round_of(s, phase)
        took = time.monotonic() - began
        print(f"  round {number + 1}, {phase.__name__}: {took:.1f} s", flush=True)
    if ROUNDS >= len(PHASES) and not s.finishing:
        raise ClusterError("no job was killed between its master's last call and its end")
    if not s.renewed:
        raise ClusterError(f"no token was renewed after a kill: {series(s)}")


def outputs_are_there(s):
    """Of the last job: its logs are on HDFS, written with its tokens."""
    with s.acting(s.alice):
        app = secure_selvedge.job(s)
    application = peers.Application(s.c, app)
    s.c.wait(
        lambda: application.report().get("logAggregationStatus") == "SUCCEEDED",
        90,
        f"logs of {app} are aggregated",
    )


CASES = [killed_in_each_phase, outputs_are_there]
