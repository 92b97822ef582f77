"""Our ResourceManager in a secure cluster in which something is wrong: a KDC that is gone or
silent, at its start and in mid-job until its ticket has ended, keytabs that are missing, foreign or
rolled, a clock that is wrong by more than Kerberos allows. It serves whoever needs no KDC
meanwhile, says what is wrong, and goes on by itself when the fault is mended. SETTINGS, or CLOCKS,
are those of the cluster."""
import dataclasses
import os
import time

from cluster import ClusterError
from interop import peers, secure
from interop.cases.secure_clocks import SETTINGS as SETTINGS_OF_NODES
from interop.cases.secure_clocks import SHIFT, elsewhen, helper
from interop.cases.secure_faults import LIFE, NO_KDC, begun, kdc_held, kdc_stopped, own, sleeper
from interop.cases.secure_faults import SLEPT
from interop.cases.secure_jobs import said
from interop.cases.secure_tokens import renewal, series

KINDS = ("rm", "nm")
SETTINGS = secure.Settings(
    rm=peers.SELVEDGE,
    protection="privacy",
    lifetimes={kind: f"{LIFE}s" for kind in KINDS},
    hdfs={"dfs.namenode.delegation.token.renew-interval": LIFE * 1000},
)


def ticket(s):
    """Seconds that its ticket has left."""
    return series(s)["selvedge_kerberos_ticket_seconds"]


def says(s, *words, seconds=90):
    """Its log, once all the words are there; its web port answers all along."""
    try:
        s.c.wait(
            lambda: s.c.rm.must_run() and series(s) and all(w in s.rm_log() for w in words),
            seconds,
            f"the ResourceManager logs {words}",
        )
    except ClusterError as error:
        raise ClusterError(f"{error}:\n{s.rm_log()[-3000:]}") from None


def works(s, words):
    """The node is there, a job with tokens of HDFS runs, and the ResourceManager has a ticket."""
    s.c.wait(lambda: ticket(s) > 0, 90, "the ResourceManager has a ticket")
    s.registers()
    s.alice.login()
    said(s, s.alice, words)


# --- the KDC --------------------------------------------------------------------------------


def at_start(s, fault, words):
    """It starts, serves, and says what it waits for."""
    with fault(s):
        s.restart_rm()
        says(s, words, s.rm)
        if ticket(s):
            raise ClusterError("it has a ticket from nowhere")
    works(s, "after the KDC is back")


def kdc_gone_at_start(s):
    at_start(s, kdc_stopped, NO_KDC)


def kdc_silent_at_start(s):
    at_start(s, kdc_held, "no KDC answers")


def in_mid_job(s, fault):
    """Until its ticket, and that of the node, has ended: the job's tokens are not renewed, the job
    runs on, heartbeats and REST are answered, and renewals go on after the fault."""
    works(s, "before the fault")
    with sleeper(s, s.alice, 3 * LIFE) as job:
        begun(s, job)
        ended = time.monotonic() + LIFE + 5
        with fault(s):
            s.c.wait(lambda: series(s) and time.monotonic() > ended, 90, "the ticket ends")
            if ticket(s) or not s.registered():
                raise ClusterError(f"a ticket for {ticket(s)} s; nodes {s.c.running_nodes()}")
        before = renewal(s, "renewed_total")
        s.c.wait(lambda: ticket(s) > 0, 90, "a ticket after the fault")
        s.c.wait(lambda: renewal(s, "renewed_total") > before, 90, "a renewal after the fault")
        (text,) = job.outputs().values()
    if SLEPT not in text:
        raise ClusterError(f"{job.application.id}: {text!r}")


def kdc_gone_in_mid_job(s):
    in_mid_job(s, kdc_stopped)


def kdc_silent_in_mid_job(s):
    in_mid_job(s, kdc_held)


# --- keytabs --------------------------------------------------------------------------------


def keytab_missing_at_start(s):
    """What waiting does not cure ends it, with words."""
    path = s.keytab_of("rm")
    os.rename(path, f"{path}.good")
    try:
        try:
            s.restart_rm()
        except ClusterError as error:
            if "ended with 4" not in str(error) or path not in s.rm_log():
                raise
        else:
            raise ClusterError("it starts without its keytab")
    finally:
        os.rename(f"{path}.good", path)
    s.restart_rm()
    works(s, "with the keytab that is back")


def keytab_foreign(s):
    """It has a node's key: nobody is served, which clients and log say."""
    path = s.keytab_of("rm")
    os.rename(path, f"{path}.good")
    try:
        s.kdc.keytab(path, s.nm, uid=s.c.daemon.pw_uid)
        s.restart_rm()
        says(s, f"no keytab has a key of {s.rm}")
    finally:
        os.replace(f"{path}.good", path)
    works(s, "with its own key again")


def keytab_rolled(s):
    """A new key in the KDC and in a new file, under a running ResourceManager: whoever has a ticket
    for the older key gets another one, the running job ends well."""
    with sleeper(s, s.alice, 2 * LIFE) as job:
        begun(s, job)
        path = s.keytab_of("rm")
        s.kdc.admin(f"ktadd -k {path}.new {s.rm}")
        own(s, f"{path}.new")
        os.replace(f"{path}.new", path)
        logins = s.kdc.logins(s.rm)
        s.c.wait(lambda: s.kdc.logins(s.rm) >= logins + 2, 90, "two tickets by the new key")
        s.restart_rm()
        s.registers()
        (text,) = job.outputs().values()
    if SLEPT not in text:
        raise ClusterError(f"{job.application.id}: {text!r}")
    works(s, "by the new key")


# --- clocks ---------------------------------------------------------------------------------


# By itself the library asks for tickets, and takes them, by the KDC's clock; a container's token
# lives for longer than its node's clock is ahead.
CLOCKS = dataclasses.replace(SETTINGS, lifetimes={}, hdfs={}, site=SETTINGS_OF_NODES.site)


def clock(s, seconds):
    """Its clock and its helper's differ by twice what Kerberos allows from all others: nodes and
    users are served, jobs and their tokens go on, and so after the clock is right again."""
    variables = elsewhen(s, seconds)
    s.restart_rm({"selvedge.rm.kerberos.helper": helper(s, variables)}, variables)
    works(s, f"{seconds} seconds away")
    s.restart_rm()
    works(s, "in time")


def clock_fast(s):
    clock(s, SHIFT)


def clock_slow(s):
    clock(s, -SHIFT)


CASES = [
    kdc_gone_at_start,
    kdc_silent_at_start,
    kdc_gone_in_mid_job,
    kdc_silent_in_mid_job,
    keytab_missing_at_start,
    keytab_foreign,
    keytab_rolled,
]
CLOCK_CASES = [clock_fast, clock_slow]
