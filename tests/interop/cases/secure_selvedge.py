"""`selvedge` in a secure cluster (interop/secure.py), beside Hadoop's clients: a job whose files are
staged on secure HDFS, that reads HDFS itself, its table, its logs on the nodes and on HDFS, its end
by kill; by a ticket in a cache, by a keytab, and what somebody without a ticket is told."""
import os
import re
import shutil

from cluster import ClusterError
from interop import hadoop, peers

APPLICATIONS = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"
STAGING = "/tmp/selvedge-staging"
LINE = "who am I"


def selvedge(s, *words, code=0):
    done = s.c.selvedge(*words, user=s.c.submitter, timeout=240)
    if done.returncode != code:
        raise ClusterError(f"selvedge {words}: {done.returncode}: {done.stdout} {done.stderr}")
    return done.stdout


def staged(s):
    """The option of a staging directory that the cluster's operator has made on HDFS."""
    s.hdfs.ask("mkdir", STAGING, "1777")
    return ["-D", f"selvedge.client.staging-dir={s.hdfs.url(STAGING)}"]


def job(s, *more, user=None):
    """Its id, after a good end; the output is that of two containers of the user's account."""
    out = selvedge(
        s, "run", *staged(s), *more, "--name", "tickets", "-n", "2", "--", f"echo {LINE}; id -u"
    )
    user = user or s.alice
    uid = str(user.user.pw_uid)
    if out.count(LINE) != 2 or len(re.findall(rf"\b{uid}$", out, re.M)) != 2:
        raise ClusterError(f"selvedge run: {out}")
    rows = selvedge(s, "ps", *more, "-a", "--no-headers", "-o", "id,name,user,state")
    found = re.search(rf"(application_\S+)\s+tickets\s+{user.account.pw_name}\s+FINISHED", rows)
    if not found:
        raise ClusterError(f"selvedge ps: {rows}")
    return found.group(1)


def by_ticket(s):
    """Staging, submission, table, output; nothing of it is left on HDFS."""
    with s.acting(s.alice):
        s.job = job(s)
        selvedge(s, "inspect", s.job)
        selvedge(s, "app", "status", s.job)
        left = s.hdfs.ask("list", f"{STAGING}/{s.alice.account.pw_name}").split()
        if left:
            raise ClusterError(f"{STAGING}: {left}")


def logs_of_selvedge(s):
    """From HDFS, which the ticket reads; another user's ticket does not. After by_ticket()."""
    application = peers.Application(s.c, s.job)
    s.c.wait(
        lambda: application.report().get("logAggregationStatus") == "SUCCEEDED",
        90,
        f"logs of {s.job} are aggregated",
    )
    with s.acting(s.alice):
        text = selvedge(s, "logs", s.job)
    if text.count(LINE) != 2:
        raise ClusterError(f"selvedge logs: {text}")
    with s.acting(s.bob):
        done = s.c.selvedge("logs", s.job, user=s.c.submitter)
    if done.returncode == 0 or LINE in done.stdout:
        raise ClusterError(f"selvedge logs as another user: {done}")


def kill(s):
    with s.acting(s.alice):
        app = selvedge(s, "submit", *staged(s), "--quiet", "--", "sleep", "1000").strip()
        selvedge(s, "kill", app)
        rows = selvedge(s, "ps", "-a", "--no-headers", "-o", "id,state")
    if not re.search(rf"{app}\s+KILLED", rows):
        raise ClusterError(f"selvedge ps: {rows}")


def by_keytab(s):
    """The principal's key in a file in place of a cache."""
    with s.acting(s.alice):
        s.c.client_variables = {"KRB5CCNAME": "/nowhere"}
        keytab = s.readable_keytab(s.alice)
        job(s, "--principal", s.alice.principal, "--keytab", keytab)


def python(s, *words):
    """tests/lib/token_job.py, over the library, as the user."""
    place = f"{s.c.home}/python"
    if not os.path.exists(place):
        os.mkdir(place, 0o755)
        for source in (
            f"{hadoop.TOP}/tests/lib/token_job.py",
            f"{hadoop.TOP}/client/python/selvedge.py",
            f"{hadoop.BUILD}/libselvedge-client.so",
        ):
            shutil.copy(source, f"{place}/{os.path.basename(source).replace('.so', '.so.1')}")
    env = ["env", f"LD_LIBRARY_PATH={place}", "PYTHONDONTWRITEBYTECODE=1", "/usr/bin/python3"]
    done = peers.run_as_submitter(s.c, [*env, f"{place}/token_job.py", *words])
    if done.returncode:
        raise ClusterError(f"token_job.py {words}: {done.stdout}")


def with_a_token(s):
    """The library takes tokens of ResourceManager and HDFS; their owner does without a ticket, by
    selvedge and by Hadoop's client, which finds them by their names."""
    with s.acting(s.alice):
        place = s.c.user_dir("tokens", s.alice.account)
        path = f"{place}/tokens"
        python(s, "tokens", s.alice.principal, s.readable_keytab(s.alice), path)
        s.c.client_variables = {"KRB5CCNAME": "/nowhere", "HADOOP_TOKEN_FILE_LOCATION": path}
        app = job(s)
        out = peers.client(s.c, APPLICATIONS, "application", "-status", app)
    if "Final-State : SUCCEEDED" not in out.stdout:
        raise ClusterError(f"yarn application -status: {out.stdout[-3000:]}")


def for_somebody_else(s):
    """The gateway has a ticket, bob has none: the job and its files are bob's."""
    with s.acting(s.gateway):
        job(s, user=s.bob)


def without_a_ticket(s):
    with s.acting(s.alice):
        s.c.client_variables = {"KRB5CCNAME": "/nowhere"}
        done = s.c.selvedge("ps", user=s.c.submitter)
    lines = done.stderr.splitlines()
    if done.returncode != 1 or len(lines) != 1 or "run kinit" not in lines[0]:
        raise ClusterError(str(done))


CASES = [
    by_ticket,
    logs_of_selvedge,
    kill,
    by_keytab,
    with_a_token,
    for_somebody_else,
    without_a_ticket,
]
