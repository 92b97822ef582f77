"""Our NodeManager and its helper with a clock that is ten minutes before, or behind, that of the
KDC and of all others (tests/lib/clock-shift.c): twice what Kerberos allows. MIT's library asks for
tickets by the KDC's clock, so that the node should log in, register and run jobs; what judges
tickets or tokens by the node's own clock does not."""
import os
import shutil

from cluster import ClusterError
from interop import hadoop, secure
from interop.cases.secure_jobs import said

SHIFT = 600
# A container's token lives for this long; Hadoop's default is ten minutes, so that a node whose
# clock is as fast refuses every container.
SETTINGS = secure.Settings(
    site={"yarn.resourcemanager.rm.container-allocation.expiry-interval-ms": 1800000}
)


def helper(s, variables):
    """selvedge-gss is started without an environment: a script has it."""
    path = f"{s.node.libexec}/selvedge-gss-elsewhen"
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n")
        f.writelines(f"export {name}={value}\n" for name, value in variables.items())
        f.write(f'exec {s.node.libexec}/selvedge-gss "$@"\n')
    os.chmod(path, 0o755)
    return path


def elsewhen(s, seconds):
    """Variables of a daemon whose clock is wrong by so much."""
    library = f"{s.c.root}/clock-shift.so"
    if not os.path.exists(library):  # to write it anew would take its pages from who runs with it
        shutil.copyfile(os.path.join(hadoop.BUILD, "tests", "lib", "clock-shift.so"), library)
        os.chmod(library, 0o755)
    return {"LD_PRELOAD": library, "CLOCK_SHIFT": str(seconds)}


def shifted(s, seconds):
    variables = elsewhen(s, seconds)
    before = s.node.site["selvedge.nodemanager.kerberos.helper"]
    s.node.site["selvedge.nodemanager.kerberos.helper"] = helper(s, variables)
    try:
        s.restart(variables=variables)
        s.registers()
        said(s, s.alice, f"{seconds} seconds away")
    finally:
        s.node.site["selvedge.nodemanager.kerberos.helper"] = before


def fast(s):
    shifted(s, SHIFT)


def slow(s):
    shifted(s, -SHIFT)


def right_again(s):
    s.restart()
    s.registers()
    left = s.ticket()
    if not 0 < left < 11 * 3600:
        raise ClusterError(f"the ticket ends in {left} s")
    said(s, s.alice, "in time")


CASES = [fast, slow, right_again]
