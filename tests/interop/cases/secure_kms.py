"""Encryption zones of a secure HDFS (interop/secure.py, Settings.kms): a job gets a token of the
key server, with which its node reads a file of a zone; our ResourceManager renews it by SPNEGO, and
cancels it. Apache's key server tells its tokens' life in SecureKms."""
from cluster import ClusterError
from interop import peers
from interop.cases.secure_jobs import Job, grouped, pi
from interop.cases.secure_tokens import renewal

ZONE = "/zone"
EACH = 2  # tokens of a job: HDFS's, for a day, and the key server's


def zone(s):
    """MapReduce with a PRIVATE file of a zone."""
    s.hdfs.ask("zone", ZONE)
    s.hdfs.own(ZONE, s.alice)
    s.put(f"{ZONE}/private.txt", s.alice.account.pw_name, "600")
    before = renewal(s, "renewed_total")
    pi(s, f"{ZONE}/private.txt")
    renewed = renewal(s, "renewed_total") - before
    if renewed < EACH:
        raise ClusterError(f"{renewed} renewals")


def renewed(s):
    """A job that goes on for twice the life of the key server's token; both are cancelled then."""
    before, cancelled = renewal(s, "renewed_total"), renewal(s, "cancelled_total")
    with Job(s, s.alice, "-shell_command", grouped("sleep 600")) as job:
        wanted = before + EACH + 2
        s.c.wait(lambda: renewal(s, "renewed_total") >= wanted, 120, "the token is renewed twice")
        lost = renewal(s, "lost_total"), renewal(s, "failing")
        if lost != (0, 0):
            raise ClusterError(f"lost and failing: {lost}")
        with s.acting(s.alice):
            peers.kill_application(s.c, job.application.id)
        s.c.wait(
            lambda: renewal(s, "cancelled_total") >= cancelled + EACH, 90, "both are cancelled"
        )


CASES = [zone, renewed]
