"""A Java client that acts for another user (hadoop.proxyuser.*, java/ProxyProbe.java): the
application is the other's; without a row for him, for his groups or for the client's machine the
connection is refused in Hadoop's words. WANTED are the answers of Apache's ResourceManager of the
reference version."""
import re

from cluster import ClusterError
from interop import peers

ROW = "hadoop.proxyuser."
SITE = {
    ROW + "hive.hosts": "*",
    ROW + "hive.users": "ann",
    ROW + "oozie.hosts": "127.0.0.0/8",
    ROW + "oozie.groups": "daemon",  # of this machine's account
    ROW + "livy.hosts": "192.0.2.1",
    ROW + "livy.users": "ann",
}
REFUSED = r".*(RemoteException|AuthorizationException).*: "
WANTED = {
    ("hive", "ann"): "owner ann",
    ("oozie", "daemon"): "owner daemon",
    ("hive", "eve"): REFUSED + "User: hive is not allowed to impersonate eve",
    ("oozie", "ann"): REFUSED + "User: oozie is not allowed to impersonate ann",
    ("mallory", "ann"): REFUSED + "User: mallory is not allowed to impersonate ann",
    ("livy", "ann"): REFUSED
    + r"Unauthorized connection for super-user: livy from IP /?127\.0\.0\.1",
}


def run(report, c):
    done = peers.client(c, "ProxyProbe", *map(":".join, WANTED), timeout=300)
    found = dict(line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 1)
    if done.returncode != 0 or not found:
        raise ClusterError(f"ProxyProbe ends with {done.returncode}:\n{done.stdout[-3000:]}")
    for (real, user), pattern in WANTED.items():
        got = found.get(f"{real} for {user}", "not run")
        report.check(
            f"{c.pairing}: {real} acts for {user}: {got[-70:]}",
            re.fullmatch(pattern, got),
            f"{got}; wanted {pattern}",
        )
