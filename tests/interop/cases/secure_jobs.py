"""Jobs in a secure cluster (interop/secure.py): each container is its submitter's account, finds
krb5.conf and nothing else of the node's Kerberos; files of secure HDFS that are PRIVATE and PUBLIC;
aggregated logs; a NodeManager that takes over from another one."""
import contextlib
import glob
import os
import re
import shutil

from cluster import ClusterError
from interop import peers, secure
from interop.cases import mapreduce, shell

LOGS_CLI = "org.apache.hadoop.yarn.client.cli.LogsCLI"
SCRIPT = "look-for-keys.sh"
LAST = "looked everywhere\n"  # the script's last line
CONTAINERS = 2


def is_ours(s):
    return not peers.version_of(s.c.peer_nms[0])


def two(s):
    """The users of the jobs; the node's containers can own the files of the first."""
    return (s.alice, s.bob) if is_ours(s) else (s.dora, s.alice)


def grouped(*commands):
    """A command whose output ends with LAST."""
    return f"({'; '.join(commands)}; echo {LAST.strip()})"


class Job:
    """DistributedShell in the background, as a user; each container's command ends with LAST."""

    def __init__(self, s, person, *args, count=1):
        self.s, self.person, self.count, self.texts = s, person, count, {}
        with s.acting(person):
            self.shell = peers.RunningShell(s.c, *args, "-num_containers", str(count))

    def __enter__(self):
        self.shell.__enter__()
        self.application = self.shell.application
        return self

    def __exit__(self, *error):
        with self.s.acting(self.person):
            self.shell.__exit__(*error)

    def seen(self):
        """What containers have written, once it is all there, before log aggregation removes it;
        or the end of the job."""
        if len(self.texts) < self.count:
            texts = self.application.outputs()
            self.texts = {k: text for k, text in texts.items() if text.endswith(LAST)}
        return len(self.texts) == self.count or self.shell.process.poll() is not None

    def outputs(self):
        """{container: text}, of a job that ends well."""
        self.s.c.wait(self.seen, 180, f"{self.application.id}: output of its containers")
        shell.expect(self.shell.finish(), shell.SUCCEEDED)
        if len(self.texts) != self.count:
            raise ClusterError(f"{self.application.id}: output of {list(self.texts)}")
        return self.texts


def said(s, person, words="who is it"):
    """A short job of one container, to its end."""
    with Job(s, person, "-shell_command", grouped(f"echo {words}", "id -u")) as job:
        (text,) = job.outputs().values()
    wanted = f"{words}\n{uid(s, person)}\n{LAST}"
    if text != wanted:
        raise ClusterError(f"{job.application.id}: {text!r}, wanted {wanted!r}")
    return job.application


def uid(s, person):
    return (person if is_ours(s) else s.dora).user.pw_uid


def secrets(s):
    """Paths on the host."""
    keytabs = [s.keytab_of(kind) for kind in ("nm", "rm", "nn", "dn", "HTTP")]
    return [*keytabs, *[path for p in s.people for path in (p.keytab, p.cache)]]


def users(s):
    """Two users at the same time. Apache's containers, of the daemon's account, find the keytab:
    the script is not blind."""
    path = f"{s.c.home}/{SCRIPT}"
    shutil.copy(os.path.join(os.path.dirname(peers.__file__), SCRIPT), path)
    os.chmod(path, 0o644)
    words = " ".join([secure.REALM, *secrets(s)])
    if s.settings.version.startswith("2."):  # its client localizes a script alone
        args = ["-shell_script", path, "-shell_args", words]
    else:
        args = ["-shell_command", f"sh {SCRIPT} {words}", "-localize_files", path]
    jobs = [Job(s, person, *args, count=CONTAINERS) for person in two(s)]
    s.jobs = jobs
    with contextlib.ExitStack() as stack:
        for job in jobs:
            stack.enter_context(job)
        s.c.wait(lambda: all([job.seen() for job in jobs]), 180, "output of both jobs")
        for job in jobs:
            for container, text in job.outputs().items():
                check_text(s, job, container, text)


def check_text(s, job, container, text):
    lines = text.splitlines()
    found = [line for line in lines if line.startswith("found ")]
    wanted = [f"user {uid(s, job.person)}", f"krb5.conf of {secure.REALM}", LAST.strip()]
    missing = [line for line in wanted if line not in lines]
    if missing:
        raise ClusterError(f"{container}: {missing} is not in {text!r}")
    keytab = f"found file {s.keytab_of('nm')}"
    if is_ours(s) and found:
        raise ClusterError(f"{container} of {job.person.principal}: {found}")
    if not is_ours(s) and keytab not in found:
        raise ClusterError(f"{container}: the script does not see {keytab}: {text!r}")


# --- files --------------------------------------------------------------------------------------


def localized(s, below, path):
    """A file of HDFS is in the node's cache, whole."""
    name = os.path.basename(path)
    copies = [
        found
        for local in s.node.local_dirs
        for found in glob.glob(f"{local}/{below}/**/{name}", recursive=True)
        if os.path.isfile(found)
    ]
    if not copies:
        raise ClusterError(f"{path} is not below {below} of {s.node.local_dirs}")
    for copy in copies:
        with open(copy, "rb") as f:
            if f.read() != s.content(path):
                raise ClusterError(f"{copy} is not {path}")


def pi(s, private, public=None):
    """MapReduce, with a PRIVATE file that the submitter alone may read, and a PUBLIC one."""
    person = s.owner
    paths = [private, public] if public else [private]
    with s.acting(person):
        out = mapreduce.example(
            s.c, "pi", "-files", ",".join(s.hdfs.url(path) for path in paths), "2", "1000"
        )
    if not re.search(r"^Estimated value of Pi is 3\.144", out, re.M):
        raise ClusterError(out[-3000:])
    localized(s, f"usercache/{person.account.pw_name}/filecache", private)
    if public:
        localized(s, "filecache", public)


def private(s):
    pi(s, f"{s.owner.home}/private.txt")


def public(s):
    pi(s, f"{s.owner.home}/private.txt", f"{secure.SHARED}/public.txt")


def terasort(s):
    """What is shuffled and sorted comes back whole; input and output are on secure HDFS."""
    with s.acting(s.owner):
        mapreduce.sorted_once(s.c, s.hdfs)


# --- logs ---------------------------------------------------------------------------------------


def yarn_logs(s, person, job):
    with s.acting(person):
        return peers.client(
            s.c,
            LOGS_CLI,
            "-applicationId",
            job.application.id,
            "-appOwner",
            job.person.account.pw_name,
        )


def logs(s):
    """`yarn logs` as the submitter, whose files they are, and as another user, who may not. After
    users()."""
    first, second = s.jobs
    for job in s.jobs if is_ours(s) else [first]:
        s.c.wait(
            lambda job=job: job.application.report().get("logAggregationStatus") == "SUCCEEDED",
            90,
            f"logs of {job.application.id} are aggregated",
        )
        name = job.person.account.pw_name
        mode = s.hdfs.ask("mode", f"{secure.LOGS}/{name}").split()
        if mode != ["770", name]:
            raise ClusterError(f"{secure.LOGS}/{name} has mode and owner {mode}")
    done = yarn_logs(s, first.person, first)
    missing = [
        line
        for text in first.texts.values()
        for line in text.splitlines()
        if line not in done.stdout
    ]
    if done.returncode or missing or done.stdout.count(LAST) != CONTAINERS:
        raise ClusterError(f"yarn logs: exit {done.returncode}, {missing}: {done.stdout[-3000:]}")
    refused = yarn_logs(s, second.person, first)
    if LAST in refused.stdout or "Permission denied" not in refused.stdout:
        raise ClusterError(f"yarn logs of another user's: {refused.stdout[-3000:]}")


# --- another NodeManager ------------------------------------------------------------------------


def swapped(s):
    """Apache's NodeManager takes the node over from ours in the running cluster, and ours from
    Apache's."""
    said(s, s.alice, "on ours")
    s.c.settle()
    peers.swap_node(s.c, s.node, f"apache-{s.settings.version}")
    said(s, s.dora, "on the one of Apache")
    peers.swap_node(s.c, s.node, peers.SELVEDGE)
    said(s, s.alice, "on ours again")


def other_realm(s):
    """A user of a realm that is trusted, with a rule of auth_to_local."""
    said(s, s.carol, "from the other realm")
