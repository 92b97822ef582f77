"""Every public method of Hadoop's YarnClient against our ResourceManager and against Apache's: the
result or the exception with its text, case by case (java/reference/ClientProbe.java). The answers
of Apache's ResourceManager are kept in tests/golden/yarn-client: its own answers must still be
those, ours must be equal but for REASONS. YARN_CLIENT_CAPTURE=1 writes that file. Needs a cluster
that has run no application."""
import os
import re

from cluster import ClusterError
from interop import hadoop, peers

GOLDEN = os.path.join(
    hadoop.TOP, "tests", "golden", "yarn-client", f"apache-{hadoop.REFERENCE}.txt"
)
# case → why our answer differs.
TIMES = "the time of the submission, which Apache leaves out"
REASONS = {
    "unmanaged: report before registration": TIMES + "; a page instead of no address",
    "unmanaged: report when registered": TIMES + "; the page through the proxy",
    "unmanaged: report at the end": TIMES + "; the page through the proxy",
    "getApplicationReport": TIMES + "; the application's page until its master has registered",
    "killed: report": TIMES + "; no original address where there never was one",
    "killed: attempt": "why it was killed",
}


def probe(c, program):
    """{case: its result} of a program of java/reference, in its order."""
    done = peers.client(c, program, timeout=480)
    c.wait(lambda: not c.container_processes(), 60, "the containers of the probe end")
    lines = [
        line.split("\t") for line in done.stdout.replace(c.submitter.pw_name, "USER").splitlines()
    ]
    found = {words[1]: words[2] for words in lines if words[0] == "case" and len(words) == 3}
    if done.returncode != 0 or ["end"] not in lines:
        raise ClusterError(
            f"{program} ends with {done.returncode} after "
            f"{list(found)[-1:]}:\n{done.stdout[-3000:]}"
        )
    return found


def steady(result):
    """A result without what differs from run to run: the time of day, and the resource usage of an
    application that has ended, which Apache's ResourceManager reports as 0 until its scheduler has
    dropped the application, then as -1.
    """
    result = re.sub(r"current-time=[^ ]+", "current-time=NOW", result)
    if re.search(r" state=(FINISHED|KILLED|FAILED),", result) and "usage={" in result:
        head, usage = result.split("usage={", 1)
        result = head + "usage={" + re.sub(r"([:=])-1\b", r"\g<1>0", usage)
    return result


def golden(found, is_apache):
    if is_apache and os.environ.get("YARN_CLIENT_CAPTURE"):
        os.makedirs(os.path.dirname(GOLDEN), exist_ok=True)
        with open(GOLDEN, "w", encoding="utf-8") as f:
            f.writelines(f"{case}\t{steady(result)}\n" for case, result in found.items())
    with open(GOLDEN, encoding="utf-8") as f:
        return {
            case: steady(result) for case, result in (line.rstrip("\n").split("\t") for line in f)
        }


def run(report, c):
    found, is_apache = {
        case: steady(result) for case, result in probe(c, "ClientProbe").items()
    }, c.peer_rm != peers.SELVEDGE
    reasons = {} if is_apache else REASONS
    for case, wanted in golden(found, is_apache).items():
        name = f"{c.pairing}: YarnClient: {case}"
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
