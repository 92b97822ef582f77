"""Hadoop's AMRMClient and NMClient as an ApplicationMaster uses them, at our daemons and at
Apache's: requests and allocation ids, blacklists, releases, updates of containers, containers kept
for a second attempt, start, status and stop (java/reference/MasterProbe.java). What Apache's
daemons answer is kept in tests/golden/masters: theirs must still be that, ours must be equal but
for REASONS. MASTERS_CAPTURE=1 writes that file. Before cases/commands.py, which makes the node
smaller."""
import os

from interop import hadoop, peers
from interop.cases import yarn_client

GOLDEN = os.path.join(hadoop.TOP, "tests", "golden", "masters", f"apache-{hadoop.REFERENCE}.txt")
# case → why our answer differs.
SIZE = "the size of a container that the ResourceManager ended is told, which Apache leaves out"
REASONS = {
    "release before the start": SIZE,
    "release of a running container": SIZE,
    "second attempt: one that was never started": SIZE,
    "second attempt: release": SIZE,
}


def run(report, c):
    found, is_apache = yarn_client.probe(c, "MasterProbe"), c.peer_rm != peers.SELVEDGE
    if is_apache and os.environ.get("MASTERS_CAPTURE"):
        os.makedirs(os.path.dirname(GOLDEN), exist_ok=True)
        with open(GOLDEN, "w", encoding="utf-8") as f:
            f.writelines(f"{case}\t{result}\n" for case, result in found.items())
    with open(GOLDEN, encoding="utf-8") as f:
        golden = dict(line.rstrip("\n").split("\t") for line in f)
    reasons = {} if is_apache else REASONS
    report.check(
        f"{c.pairing}: AMRMClient: the cases are those of the golden file",
        found.keys() == golden.keys(),
        f"{found.keys() ^ golden.keys()}",
    )
    for case, wanted in golden.items():
        name = f"{c.pairing}: AMRMClient: {case}"
        if found.get(case) == wanted:
            report.check(
                f"{name}: {wanted[:90]}",
                case not in reasons,
                "the reason for a difference is obsolete",
            )
        elif case in reasons:
            report.check(f"{name}: {reasons[case]}", case in found)
        else:
            report.check(name, False, f"\n      now:    {found.get(case)}\n      golden: {wanted}")
