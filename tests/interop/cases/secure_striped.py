"""Erasure-coded files of secure HDFS (interop/secure.py): as PRIVATE and PUBLIC files of a job,
with all DataNodes and with as many of them dead as there are parity units."""
from interop import secure
from interop.cases.secure_jobs import pi

POLICY, DATANODES, PARITY = "RS-3-2-1024k", 5, 2
SETTINGS = secure.Settings(transfer="privacy", datanodes=DATANODES)


def files(s, number):
    """New ones, of names of their own: nothing is in the node's cache."""
    place = f"/striped-{number}"
    s.hdfs.ask("mkdir", place, "755")
    s.hdfs.ask("ec", place, POLICY)
    private, public = f"{place}/private-{number}.txt", f"{place}/public-{number}.txt"
    s.put(private, s.owner.account.pw_name, "600")
    s.put(public, "hdfs", "644")
    return private, public


def all_there(s):
    pi(s, *files(s, 1))


def whole(s, path):
    """Each of its groups has all units, the last one a single data unit. The client completes a
    file as long as its data can be read: units may be told later, or be without a DataNode at
    first."""
    units = [len(nodes) for _, nodes in s.hdfs.blocks(path)]
    return units == [DATANODES] * (len(units) - 1) + [1 + PARITY]


def dead_datanodes(s):
    made = files(s, 2)
    for path in made:
        s.c.wait(lambda path=path: whole(s, path), 60, f"all units of {path} have a DataNode")
    for i in range(PARITY):
        s.hdfs.kill(i)
    pi(s, *made)


CASES = [all_there, dead_datanodes]
