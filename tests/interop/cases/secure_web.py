"""The web of a secure cluster (interop/secure.py, Settings.https): HTTPS alone, and tickets
(SPNEGO) at our node, with access lists of applications."""
import subprocess

from cluster import ClusterError
from interop.cases.secure_jobs import LAST, Job, grouped, uid

WORDS = "who may read this"


def ask(s, path, person=None):
    """(status, headers and body), as curl gets them with that user's ticket, or with none."""
    argv = ["curl", "-s", "-i", "--max-time", "60", "--cacert", f"{s.c.root}/tls/root.crt"]
    env = {"PATH": "/usr/bin:/bin", "KRB5CCNAME": "/nonexistent"}
    if person:
        argv += ["--negotiate", "-u", ":"]
        env["KRB5CCNAME"] = person.cache
    done = subprocess.run([*argv, s.node.url + path], env=env, capture_output=True, text=True)
    if done.returncode:
        raise ClusterError(f"curl {path}: {done.returncode}: {done.stderr}")
    # the last answer, behind that which asks for a ticket
    answer = done.stdout[done.stdout.rindex("HTTP/") :]
    return int(answer.split()[1]), answer


def expect(s, path, person, status, *words):
    got, answer = ask(s, path, person)
    missing = [word for word in words if word not in answer]
    if got != status or missing:
        who = person.principal if person else "nobody"
        raise ClusterError(f"{path} as {who}: {got} without {missing}: {answer[:2000]}")


def links(s):
    """The ResourceManager leads to the node's port of HTTPS."""
    address = s.c.rm_get("/ws/v1/cluster/nodes")["nodes"]["node"][0]["nodeHTTPAddress"]
    wanted = f"{s.node.address}:{s.node.ports['web']}"
    if address != wanted:
        raise ClusterError(f"the node registered {address}, not {wanted}")


def tickets(s):
    expect(s, "/ws/v1/node/info", None, 401, "WWW-Authenticate: Negotiate")
    cookie = f'hadoop.auth="u={s.alice.account.pw_name}&p={s.alice.principal}&t=kerberos&'
    expect(s, "/ws/v1/node/info", s.alice, 200, cookie, "Secure")


def logs(s):
    """A running container's log: its submitter reads it by page and REST, nobody else."""
    command = grouped(f"echo {WORDS}", "id -u")
    with Job(s, s.alice, "-shell_command", f"{{ {command}; sleep 1000; }}") as job:
        s.c.wait(job.seen, 120, "the container's output")
        (container,) = job.texts
        name = s.alice.account.pw_name
        page = f"/node/containerlogs/{container}/{name}/stdout?start=0"
        rest = f"/ws/v1/node/containers/{container}/logs/stdout"
        for path in (page, rest):
            expect(s, path, None, 401)
            expect(s, path, s.bob, 403)
            expect(s, path, s.alice, 200, WORDS, f"\n{uid(s, s.alice)}\n", LAST)
        link = job.application.report()["amContainerLogs"]
        if not link.startswith(f"https://{s.node.address}:{s.node.ports['web']}/"):
            raise ClusterError(f"amContainerLogs is {link}")


CASES = [links, tickets, logs]
