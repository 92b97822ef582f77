"""Tokens of jobs under our ResourceManager (interop/secure.py): they end under a job that goes on,
the ResourceManager is killed in all phases, a NameNode is silent and comes back, and tokens of
WebHDFS are renewed over HTTP. SETTINGS are those of the cluster."""
import os
import random
import re
import signal
import time
import urllib.request

from cluster import ClusterError
from interop import peers, secure
from interop.cases import mapreduce
from interop.cases.secure_jobs import Job, grouped

RENEWED, ENDED = 20, 60  # seconds: a token's life, and its last end
JOB = 180
ROUNDS = 20
SETTINGS = secure.Settings(
    rm=peers.SELVEDGE,
    protection="privacy",
    services=True,  # the ResourceManager's account may act for users
    hdfs={
        "dfs.namenode.delegation.token.renew-interval": RENEWED * 1000,
        "dfs.namenode.delegation.token.max-lifetime": ENDED * 1000,
        # WebHDFS takes tickets
        "hadoop.http.filter.initializers": "org.apache.hadoop.hdfs.web.AuthFilterInitializer",
        "hadoop.http.authentication.type": "kerberos",
        "hadoop.http.authentication.kerberos.principal": f"HTTP/_HOST@{secure.REALM}",
        "hadoop.http.authentication.kerberos.keytab": f"{secure.KEYTABS}/HTTP.service.keytab",
    },
    site={"yarn.resourcemanager.proxy-user-privileges.enabled": "true"},
)


def series(s):
    """{name: value} of the ResourceManager."""
    with urllib.request.urlopen(f"{s.c.rm_url}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    return {k: float(v) for k, v in re.findall(r"^(selvedge_\w+) (\S+)$", text, re.M)}


def renewal(s, name):
    return series(s)[f"selvedge_token_renewal_{name}"]


def received(s):
    return series(s)["selvedge_system_credentials_received_total"]


def sleeper(s, seconds):
    return Job(s, s.alice, "-shell_command", grouped(f"sleep {seconds}", "echo slept"))


def begun(s, job):
    s.c.wait(job.application.outputs, 120, f"{job.application.id}: its container runs")


def ends_well(s, job, seconds):
    """With its logs, for which the node needs a valid token."""
    if job.shell.finish(timeout=seconds).exit_code != 0:  # reads what the client says meanwhile
        raise ClusterError(job.shell.application.output[-3000:])
    s.c.wait(
        lambda: job.application.report().get("logAggregationStatus") == "SUCCEEDED",
        90,
        f"logs of {job.application.id} are aggregated",
    )


def outlived(s):
    """The job goes on for three times the life of its tokens."""
    before = received(s)
    with sleeper(s, JOB) as job:
        ends_well(s, job, JOB + 120)
    got = received(s) - before
    if got < JOB // ENDED:
        raise ClusterError(f"{got} tokens were got for the user within {JOB} s")


def silent_namenode(s):
    """It is stopped until a token has ended: the ResourceManager answers meanwhile, and the job
    has a token again when the NameNode goes on."""
    with sleeper(s, 100) as job:
        begun(s, job)
        lost, got = renewal(s, "lost_total"), received(s)
        os.kill(s.hdfs.namenode.pid, signal.SIGSTOP)
        try:
            s.c.wait(lambda: renewal(s, "open_calls") > 0, 60, "a renewal is under way")
            began = time.monotonic()
            s.c.rm_get("/ws/v1/cluster/info")
            if time.monotonic() - began > 5:
                raise ClusterError("the ResourceManager waits for the NameNode")
            s.c.wait(
                lambda: renewal(s, "failing") > 0 or renewal(s, "lost_total") > lost,
                90,
                "a renewal fails",
            )
        finally:
            os.kill(s.hdfs.namenode.pid, signal.SIGCONT)
        s.c.wait(lambda: received(s) > got, 90, "the job has a token again")
        ends_well(s, job, 150)


def killed(s):
    """The ResourceManager is killed at any time: jobs, their tokens and the times of renewals are
    there again."""
    choice = random.Random(36)
    with sleeper(s, 100) as job:
        begun(s, job)
        for _ in range(ROUNDS):
            until = time.monotonic() + choice.uniform(0, 1.5)  # a phase of a renewal
            s.c.wait(lambda until=until: time.monotonic() > until, 10, "the next round")
            s.restart_rm()
            s.c.wait(lambda: renewal(s, "renewed_total") > 0, 60, "a renewal after the restart")
        ends_well(s, job, 200)


def over_http(s):
    """A job with a token of WebHDFS, which is renewed with the ResourceManager's ticket before the
    job begins."""
    web = f"{s.hdfs.name}:{s.hdfs.web_port}"
    s.restart_rm({"dfs.namenode.http-address": web})
    with s.acting(s.alice):
        out = mapreduce.example(
            s.c, "pi", f"-Dmapreduce.job.hdfs-servers=webhdfs://{web}", "2", "1000"
        )
    if "Estimated value of Pi is 3.144" not in out:
        raise ClusterError(out[-3000:])
    found = series(s)
    if found["selvedge_token_renewal_renewed_total"] < 2:
        raise ClusterError(f"one token at most was renewed: {found}")


CASES = [over_http, silent_namenode, killed, outlived]
