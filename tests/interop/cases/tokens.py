"""Good, damaged, expired and foreign tokens, presented by Hadoop's own client classes
(java/TokenProbe.java). The class of the exception that Hadoop's client rebuilds is compared; WANTED
is the answer of an all-Apache cluster of the reference version."""
import re

from cluster import ClusterError
from interop import peers

ACCESS = "org.apache.hadoop.security.AccessControlException"
SASL = "javax.security.sasl.SaslException"
INVALID = "org.apache.hadoop.security.token.SecretManager$InvalidToken"
YARN = "org.apache.hadoop.yarn.exceptions.YarnException"
MASTER = "org.apache.hadoop.yarn.exceptions.InvalidApplicationMasterRequestException"
NO_ATTEMPT = "org.apache.hadoop.yarn.exceptions.ApplicationAttemptNotFoundException"
NULL = "java.lang.NullPointerException"
# An identifier that cannot be read: Hadoop's server drops the connection in the middle of SASL, so
# its client sees an end of file. An answer with the reason is as good.
UNREADABLE = {"java.io.IOException", INVALID, SASL}
# Hadoop's server passes on its SASL library's error; ours answers InvalidToken (ADR 4).
WRONG_PASSWORD = {SASL, INVALID}
GOOD = {"-"}

# case → (classes that may come, regular expression that the message has)
WANTED = {
    "nm: no token": ({ACCESS}, r"SIMPLE authentication is not enabled\.  Available:\[TOKEN\]"),
    "nm: wrong password": (WRONG_PASSWORD, ""),
    "nm: truncated identifier": (UNREADABLE, ""),
    "nm: altered identifier": (WRONG_PASSWORD, ""),
    "nm: empty identifier": (UNREADABLE, ""),
    "nm: another application's token": ({YARN}, "Unauthorized request to start container"),
    "nm: a container token instead": (UNREADABLE, ""),
    "container: wrong password": ({INVALID}, ""),
    "container: truncated identifier": ({YARN, INVALID}, ""),
    "container: altered identifier": ({INVALID}, ""),
    # NullPointerException in Hadoop's NodeManager.
    "container: empty identifier": ({NULL, YARN, INVALID}, ""),
    "container: another application's token": ({YARN}, "Unauthorized request to start container"),
    "container: good": (GOOD, ""),
    "container: the same token again": ({YARN}, "Attempt to relaunch the same container"),
    "status: own container": (GOOD, ""),
    "status: another application's container": ({YARN}, "container_"),
    "stop: another application's container": ({YARN}, "container_"),
    "status: still there": (GOOD, ""),
    "stop: own container": (GOOD, ""),
    "container: the token of a completed container": ({YARN}, ""),
    "container: expired": ({YARN}, "This token is expired"),
    "rm: no token": ({ACCESS}, r"SIMPLE authentication is not enabled\.  Available:\[TOKEN\]"),
    "rm: wrong password": (WRONG_PASSWORD, ""),
    "rm: truncated identifier": (UNREADABLE, ""),
    "rm: altered identifier": ({INVALID}, ""),
    "rm: empty identifier": (UNREADABLE, ""),
    "rm: an NMToken instead": ({INVALID}, ""),
    "rm: registered twice": ({MASTER}, "already registered"),
    "rm: a wrong response id": ({MASTER}, "responseId"),
    # Hadoop's NodeManager starts containers until the ResourceManager has reported the end.
    "nm: token of an ended application": ({"-", YARN, INVALID, SASL}, ""),
    # Hadoop's ResourceManager forgets the attempt some time after the state FINISHED.
    "rm: token of an ended application": ({NO_ATTEMPT, INVALID, SASL, MASTER}, ""),
}
# The probe waits for the expiry of a token; the other groups start each container well before it.
SITE = {"yarn.resourcemanager.rm.container-allocation.expiry-interval-ms": 20000}
STRONG_KEYS = {
    "hadoop.security.secret-manager.key-generator.algorithm": "HmacSHA256",
    "hadoop.security.secret-manager.key-length": 256,
}


def probe(c):
    """{case: (class, message)} of one run of TokenProbe."""
    done = peers.client(c, "TokenProbe", ":".join(c.container_classpath), timeout=480)
    found = {}
    for line in done.stdout.splitlines():
        words = line.split("\t")
        if len(words) == 3 and words[0] in WANTED:
            found[words[0]] = (words[1], words[2])
    if done.returncode != 0:
        raise ClusterError(
            f"TokenProbe ends with {done.returncode} after {len(found)} "
            f"cases:\n{done.stdout[-3000:]}"
        )
    return found


def run(report, c):
    daemons = [c.rm, *[node.process for node in c.nodes]]
    found = probe(c)
    for case, (classes, pattern) in WANTED.items():
        name, message = found.get(case, ("not run", ""))
        report.check(
            f"{c.pairing}: {case}: {name.rsplit('.', 1)[-1]}",
            name in classes and re.search(pattern, message),
            f"{name}: {message[:400]}; wanted {' or '.join(sorted(classes))}, {pattern!r}",
        )
    report.check(
        f"{c.pairing}: the daemons live on", all(d.running() for d in daemons) and c.running_nodes()
    )
