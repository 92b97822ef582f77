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


def dead_datanodes(s):
    made = files(s, 2)
    for path in made:  # the file is complete before each DataNode has told its unit
        s.c.wait(
            lambda path=path: len(s.hdfs.blocks(path)[0][1]) == DATANODES,
            60,
            f"the DataNodes tell their units of {path}",
        )
    for i in range(PARITY):
        s.hdfs.kill(i)
    pi(s, *made)


CASES = [all_there, dead_datanodes]
