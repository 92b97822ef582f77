"""Our NodeManager in a secure cluster in which something is wrong: tickets that end under a job, a
KDC that is gone or silent, at the start and in mid-job, keytabs that are deleted, open, foreign,
rolled or of another encryption type. It goes on by itself when the fault is mended, and says what
is wrong; its loop never waits. SETTINGS are those of the cluster."""
import contextlib
import os
import re
import time

from cluster import ClusterError
from interop import peers, secure
from interop.cases.secure_jobs import Job, grouped, said

LIFE = 20  # seconds of a ticket
SETTINGS = secure.Settings(lifetimes={"nm": f"{LIFE}s", "alice": f"{LIFE}s"})
SLEPT = "slept"
NO_KDC = "Cannot contact any KDC"
ANSWERED_S = 5  # of an answer by REST, on a machine with other work


class Watch:
    """The node's REST answers while a condition is waited for."""

    def __init__(self, s):
        self.s, self.longest = s, 0

    def until(self, condition, seconds, what):
        def answers_and():
            began = time.monotonic()
            if not self.s.serves():
                raise ClusterError(f"the NodeManager does not serve while: {what}")
            self.longest = max(self.longest, time.monotonic() - began)
            return condition()

        self.s.c.wait(answers_and, seconds, what)
        if self.longest > ANSWERED_S:
            raise ClusterError(f"an answer took {self.longest:.1f} s while: {what}")


def sleeper(s, person, seconds):
    """A job of so many seconds."""
    return Job(s, person, "-shell_command", grouped(f"sleep {seconds}", f"echo {SLEPT}"))


def begun(s, job):
    s.c.wait(job.application.outputs, 120, f"{job.application.id}: its container runs")


# --- tickets ------------------------------------------------------------------------------------


def short_tickets(s):
    """The node's ticket and the user's end twice under a job; logs are uploaded with what is
    valid then; the ResourceManager, new, takes the node by its newest ticket."""
    s.alice.login()
    before = s.kdc.logins(s.nm)
    with sleeper(s, s.alice, 2 * LIFE + 5) as job:
        (text,) = job.outputs().values()
    renewals = s.kdc.logins(s.nm) - before
    if SLEPT not in text or renewals < 2:
        raise ClusterError(f"{renewals} tickets of {s.nm}, output {text!r}")
    s.c.wait(
        lambda: job.application.report().get("logAggregationStatus") == "SUCCEEDED",
        90,
        "its logs are aggregated",
    )
    s.restart_rm()
    s.registers()


# --- the KDC ------------------------------------------------------------------------------------


@contextlib.contextmanager
def kdc_stopped(s):
    s.kdc.stop()
    try:
        yield
    finally:
        if not s.kdc.process:
            s.kdc.start()


@contextlib.contextmanager
def kdc_held(s):
    s.kdc.hold()
    try:
        yield
    finally:
        s.kdc.hold(False)


def comes_back(s, fault, *words):
    """The node starts under a fault, says the words, serves, and registers once it is mended."""
    with fault(s):
        s.restart()
        s.c.wait(s.serves, 60, "the web port answers")
        Watch(s).until(lambda: all(word in s.log() for word in words), 90, f"the log has {words}")
        if s.registered():
            raise ClusterError("it has registered without a ticket")
    s.registers()


def kdc_gone_at_start(s):
    comes_back(s, kdc_stopped, NO_KDC, s.nm)


def kdc_silent_at_start(s):
    comes_back(s, kdc_held, "no KDC answers", s.nm)


def in_mid_job(s, fault):
    """From before the ticket ends until it has ended: the container runs on, the node serves and
    heartbeats; the next ticket is there soon after the fault."""
    s.restart()
    s.registers()
    s.alice.login()
    with sleeper(s, s.alice, 2 * LIFE) as job:
        begun(s, job)
        before, ended = s.kdc.logins(s.nm), time.monotonic() + LIFE + 5
        with fault(s):
            Watch(s).until(lambda: time.monotonic() > ended, 90, "the ticket ends")
            if s.kdc.logins(s.nm) != before or not s.registered():
                raise ClusterError(f"{s.kdc.logins(s.nm) - before} tickets during the fault")
        s.c.wait(lambda: s.kdc.logins(s.nm) > before, 90, "a ticket after the fault")
        (text,) = job.outputs().values()
    if SLEPT not in text:
        raise ClusterError(f"{job.application.id}: {text!r}")


def kdc_gone_in_mid_job(s):
    in_mid_job(s, kdc_stopped)


def kdc_silent_in_mid_job(s):
    in_mid_job(s, kdc_held)


# --- keytabs ------------------------------------------------------------------------------------


@contextlib.contextmanager
def keytab_instead(s, make):
    """make(path) puts another one in the keytab's place, or none; in the end the good one is
    back."""
    path = s.keytab_of("nm")
    os.rename(path, f"{path}.good")
    try:
        make(path)
        yield
    finally:
        os.replace(f"{path}.good", path)


def own(s, path, mode=0o400):
    os.chmod(path, mode)
    os.chown(path, s.c.daemon.pw_uid, s.c.daemon.pw_gid)


def keytab_missing_at_start(s):
    """What waiting does not cure ends the daemon, with words."""
    with keytab_instead(s, lambda _: None):
        s.restart()
        status = s.node.process.process.wait(60)
        s.node.process.process = None
        if status != 4 or s.keytab_of("nm") not in s.log():
            raise ClusterError(f"it ends with {status}: {s.log()}")
    s.restart()
    s.registers()


def keytab_deleted(s):
    """Under a running node, until its ticket has ended."""
    with keytab_instead(s, lambda _: None):
        s.says(s.keytab_of("nm"), "No such file")
        Watch(s).until(lambda: s.ticket() == 0, 90, "the ticket ends")
    Watch(s).until(lambda: s.ticket() > 0, 120, "a ticket with the keytab that is back")


def keytab_open(s):
    """A key that others than the account can read."""

    def make(path):
        s.kdc.keytab(path, s.nm)
        own(s, path, 0o440)

    comes_back(s, lambda s: keytab_instead(s, make), s.keytab_of("nm"), "mode 0440")


def keytab_foreign(s):
    """It has another node's key."""

    def make(path):
        s.kdc.keytab(path, s.rm, uid=s.c.daemon.pw_uid)

    words = f"no keytab has a key of {s.nm}"
    comes_back(s, lambda s: keytab_instead(s, make), words, s.rm)


def keytab_enctype(s):
    """Its key is of an encryption type that the KDC has no key of any more."""

    def make(path):
        s.kdc.admin(f"ktadd -k {path} -e aes128-cts-hmac-sha1-96:normal {s.nm}")
        own(s, path)
        s.kdc.admin(f"cpw -randkey -e aes256-cts-hmac-sha1-96:normal {s.nm}")

    path = s.keytab_of("nm")
    with keytab_instead(s, make):
        s.restart()
        s.says(f"login of {s.nm} with keytab {path}")
        print("  " + first_line(s.log(), f"login of {s.nm}"), flush=True)
        s.kdc.keytab(f"{path}.good", s.nm, uid=s.c.daemon.pw_uid)
    s.registers()


def first_line(text, words):
    return next(line for line in text.splitlines() if words in line)


def keytab_rolled(s):
    """A new key in the KDC and in a new file, under a running node: the next ticket is by it."""
    s.restart()
    s.registers()
    path = s.keytab_of("nm")
    s.kdc.admin(f"ktadd -k {path}.new {s.nm}")
    own(s, f"{path}.new")
    os.replace(f"{path}.new", path)
    before = s.kdc.logins(s.nm)
    Watch(s).until(lambda: s.kdc.logins(s.nm) >= before + 2, 90, "two tickets by the new key")
    s.restart_rm()
    s.registers()


# --- all along ----------------------------------------------------------------------------------


def loop_never_waited(s):
    """After all the others."""
    with open(s.node.process.log, encoding="utf-8", errors="replace") as f:
        text = f.read()
    slow = [
        line
        for line in re.findall(r"event loop: .*", text)
        if "computed for" in line or int(re.search(r"took (\d+) ms", line).group(1)) >= 1000
    ]
    if slow:
        raise ClusterError(f"{len(slow)} long handlers: {slow[:5]}")
    said(s, s.bob, "in the end")


CASES = [
    short_tickets,
    kdc_gone_at_start,
    kdc_silent_at_start,
    kdc_gone_in_mid_job,
    kdc_silent_in_mid_job,
    keytab_missing_at_start,
    keytab_deleted,
    keytab_open,
    keytab_foreign,
    keytab_enctype,
    keytab_rolled,
    loop_never_waited,
]


def apaches_tickets(s):
    """The same job with Apache's NodeManager: the fixture's tickets do end."""
    s.alice.login()
    before = s.kdc.logins(s.nm)
    with sleeper(s, s.alice, 2 * LIFE + 5) as job:
        job.outputs()
    s.restart_rm()
    peers.wait_nodes(s.c)
    if s.kdc.logins(s.nm) == before:
        raise ClusterError(f"no other ticket of {s.nm}, which lives for {LIFE} s")
