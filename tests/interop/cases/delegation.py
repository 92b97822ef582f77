"""Delegation tokens of the ResourceManager with Hadoop's own client classes
(java/DelegationProbe.java): got, used to connect, renewed, cancelled; refused for others and after
their end; the same after our ResourceManager was killed. WANTED are the answers of Apache's
ResourceManager of the reference version."""
import re

from cluster import ClusterError
from interop import peers

TOKEN = (
    r"\(RM_DELEGATION_TOKEN owner=ann, renewer=R, realUser=, issueDate=TIME, maxDate=TIME, "
    r"sequenceNumber=\d+, "
    r"masterKeyId=\d+\)"
)
ACCESS = r".*org.apache.hadoop.security.AccessControlException: "
INVALID = r".*org.apache.hadoop.security.token.SecretManager\$InvalidToken: "
GONE = r".*(InvalidToken|RemoteException).*: Token for real user: , can't be found in cache"
BEFORE = {
    "get": r"RM_DELEGATION_TOKEN ann rob \[\] 168 hours, 20 bytes",
    "use": "1",
    "get by its holder": r"RM_DELEGATION_TOKEN ann rob \[\] 168 hours, 20 bytes",
    "renew by its renewer": "a day",
    "renew by its owner": ACCESS
    + "ann tries to renew a token "
    + TOKEN
    + " with non-matching renewer rob",
    "renew without renewer": ACCESS + "ann tried to renew a token " + TOKEN + " without a renewer",
    "renew a forged one": ACCESS
    + "rob is trying to renew a token "
    + TOKEN
    + " with wrong password",
    "cancel by a stranger": ACCESS + "eve is not authorized to cancel the token " + TOKEN,
    "cancel by its owner": "cancelled",
    "cancel again": INVALID + "Token not found " + TOKEN,
    "renew a cancelled one": INVALID + "Renewal request for unknown token " + TOKEN,
    "use a cancelled one": GONE,
}
AFTER = {
    "restart: use": "1",
    "restart: use a cancelled one": GONE,
    "restart: renew": "a day",
    "restart: cancel by its renewer": "cancelled",
    "restart: use it then": GONE,
}


def probe(report, c, part, wanted):
    done = peers.client(c, "DelegationProbe", part, f"{c.home}/delegation-tokens", timeout=300)
    found = dict(line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 1)
    if done.returncode != 0 or found.get("end") != part:
        raise ClusterError(f"DelegationProbe ends with {done.returncode}:\n{done.stdout[-3000:]}")
    for case, pattern in wanted.items():
        got = found.get(case, "not run")
        report.check(
            f"{c.pairing}: delegation token: {case}: {got[-70:]}",
            re.fullmatch(pattern.replace("renewer=R", "renewer=(rob)?"), got),
            f"{got}; wanted {pattern}",
        )


def run(report, c):
    probe(report, c, "before", BEFORE)
    if c.peer_rm == peers.SELVEDGE:
        c.rm.kill()
        peers.start_rm(c)
        c.wait_nodes(180)
        probe(report, c, "after", AFTER)
