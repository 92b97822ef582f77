"""Jobs that run: kill, Ctrl-C, logs, files under way, many connections, a node secret that they
must not learn. Cases of test-job."""
import contextlib
import json
import re
import signal
import subprocess
import urllib.error
import urllib.request

from cluster import ClusterError, host
from cluster.host import processes_of
from lib import connection_flood
from lib.job_runs import Running, application, expect, run
from lib.terminal import OnTerminal


def command_of(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as f:
        return f.read()
    return b""


def killed(c):
    job = Running(c, "to be killed", 3)
    c.wait(
        lambda: sum(command_of(p).startswith(b"sleep\0") for p in processes_of({c.users[0].pw_uid}))
        == 3,
        60,
        "3 sleeping processes",
    )
    done = c.selvedge("kill", job.id)
    expect("kill", (done.returncode, done.stdout), (0, f"{job.id} is over\n"))
    expect("exit code of run", job.end(), 1)
    expect("state", application(c, "to be killed")["state"], "KILLED")
    expect("killed twice", c.selvedge("kill", job.id).returncode, 0)
    # By the table that its ApplicationMaster left at SIGTERM, and what the node tells of the rest.
    # The ResourceManager says KILLED before the node hears of it: until then the table is its own.
    table = {}

    def told_by_its_master():
        table.update(json.loads(c.selvedge("ps", job.id, "--json").stdout))
        return all(row["instance"] is not None for row in table["containers"])

    c.wait(told_by_its_master, 60, "the table that the ApplicationMaster left")
    expect(
        "instances and exit codes of the killed job",
        [(row["instance"], row["exitCode"]) for row in table["containers"]],
        [(0, -106), (1, -106), (2, -106)],
    )
    expect("finished, exit code", (table["finished"], table["exitCode"]), (True, 1))
    url = json.loads(c.selvedge("app", "status", job.id, "--json").stdout)["trackingUrl"]
    expect(f"{url}: its page", url.endswith(f"/cluster/app/{job.id}"), True)


def interrupted(c):
    job = Running(c, "interrupted", stderr=subprocess.PIPE)
    job.job.send_signal(signal.SIGINT)
    said = job.job.stderr.read()
    expect(f"lines about its output, in {said!r}", "incomplete" in said, False)
    # Not the last state that the ApplicationMaster told, which was killed with it: its node is
    # asked.
    expect(
        f"how the container ended, in {said!r}",
        bool(re.search(r"^ +0 +container_\S+ +\S+ +DONE +-106 ", said, re.M)),
        True,
    )
    expect("exit code of run", job.end(), 130)
    expect("state", application(c, "interrupted")["state"], "KILLED")


def refused(url):
    """The status of a refusal; None: answered."""
    try:
        with urllib.request.urlopen(url, timeout=host.PATIENCE) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        return error.code
    return None


def while_it_runs(c):
    job = Running(c, "watched", 2)
    listed = c.selvedge("ps")
    expect("ps", bool(re.search(rf"^{job.id} .* watched +RUNNING ", listed.stdout, re.M)), True)
    containers = json.loads(c.selvedge("--json", "ps", job.id).stdout)["containers"]
    expect("containers", [t["state"] for t in containers], ["RUNNING", "RUNNING"])
    text = c.selvedge("ps", job.id).stdout
    expect("ps says what is not enforced", "not enforced" in text, not c.cgroup.enforced)
    done = c.selvedge("logs", job.id, "1")
    expect("logs of an instance", re.sub(r"^---.*\n", "", done.stdout, flags=re.M), "up\nlow\n")
    done = c.selvedge("logs", "--log", "stderr", job.id, containers[0]["container"])
    expect("logs of a container", done.stdout, "low\n")
    done = c.selvedge("logs", job.id)
    expect(f"logs of all ({done.stdout!r}, {done.stderr!r})", done.stdout.count("\nup\n"), 2)
    expect("logs of a stranger", c.selvedge("logs", job.id, "7").returncode, 1)
    nodes = json.loads(c.selvedge("--json", "node", "list").stdout)
    expect(
        "nodes",
        [(n["id"], n["state"], n["containers"]) for n in nodes],
        [(c.nodes[0].id, "RUNNING", 3)],
    )
    follower = subprocess.Popen(
        c.as_user(c.users[0]) + [f"{c.prefix}/bin/selvedge", "logs", "-f", "-n", "1", job.id],
        env=c.client_env(c.users[0]),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    seen = [follower.stdout.readline() for _ in range(4)]
    expect(
        "followed while it runs", sorted(seen), ["[0] low\n", "[0] up\n", "[1] low\n", "[1] up\n"]
    )
    log = f"{c.nodes[0].url}/ws/v1/node/containerlogs/{containers[0]['container']}/stdout"
    log += f"?user.name={c.users[0].pw_name}"
    with host.hung_disk(c.nodes[0].log_dirs[0]):
        expect("a log on a disk that hangs", refused(log), 503)
        beat = c.nodes[0].get("/ws/v1/node/info")["nodeInfo"]["lastNodeUpdateTime"]
        c.wait(
            lambda: c.nodes[0].get("/ws/v1/node/info")["nodeInfo"]["lastNodeUpdateTime"] > beat,
            host.PATIENCE,
            "heartbeats go on",
        )
    c.wait(lambda: refused(log) is None, host.PATIENCE, "the disk is back")
    c.selvedge("kill", job.id)
    rest = follower.communicate(timeout=60)
    expect("nothing more to follow", (follower.returncode, *rest), (0, "", ""))
    expect("exit code of run", job.end(), 1)
    expect("ps without it", job.id in c.selvedge("ps").stdout, False)
    expect("ps -a with it", job.id in c.selvedge("ps", "-a").stdout, True)


def freeze(c, frozen):
    with open(f"{c.nodes[0].cgroup}/localizers/cgroup.freeze", "w", encoding="ascii") as f:
        f.write("1" if frozen else "0")


def waits_for_files(c):
    """Files that are under way: in ps -o wide, and in a line of run on a terminal. The
    ApplicationMaster runs and its container waits for memory, when the localizers are stopped."""
    directory = c.user_dir("under-way")
    with open(f"{directory}/data", "wb") as f:
        f.write(bytes(3 << 20))

    def has_master(name):
        found = application(c, name)
        return found and found["containers"] == 1

    full = Running(c, "takes the memory", command="echo up; exec sleep 600", memory="7g")
    # Both masters get their containers before either asks for one: who asks first stops the queue.
    freeze(c, True)
    bar, lines = (
        OnTerminal(
            c.selvedge_argv(
                "run",
                "--name",
                f"under way on {term}",
                "-m",
                "2g",
                "--file",
                f"{directory}/data#d",
                "--",
                "wc -c <d",
            ),
            {**c.client_env(), "TERM": term},
        )
        for term in ("xterm", "dumb")
    )
    Running.started += [bar.process, lines.process]

    names = [f"under way on {term}" for term in ("xterm", "dumb")]
    try:
        c.wait(lambda: all(map(has_master, names)), 60, "both masters have room")
    finally:
        freeze(c, False)

    def the_app(term="xterm"):
        found = application(c, f"under way on {term}")
        return found and found["state"] == "RUNNING" and found["id"]

    def row():
        return json.loads(c.selvedge("ps", the_app(), "-o", "json").stdout)["containers"][0]

    try:
        c.wait(lambda: the_app() and the_app("dumb"), 60, "both ApplicationMasters run")
    except ClusterError as error:
        listed = c.selvedge("ps", "-a", "-o", "id,name,state,diagnostics").stdout
        ended = bar.process.poll(), lines.process.poll()
        raise ClusterError(f"{error}; ended: {ended}; applications: {listed}") from error
    try:
        freeze(c, True)
        expect("kill", c.selvedge("kill", full.id).returncode, 0)
        c.wait(lambda: row()["state"] == "LOCALIZING", 60, "its container waits for files")
        told = row()
        expect("bytes", (told["localizedBytes"], told["localizeTotalBytes"] > 3 << 20), (0, True))
        expect("files", all(f["bytes"] == 0 and f["totalBytes"] for f in told["localizing"]), True)
        wide = c.selvedge("ps", the_app(), "-o", "wide").stdout
        for words in (
            " FETCHED +OF +PER SECOND +LEFT",
            r" LOCALIZING .* 3\.0 MiB ",
            r"^container_\S+: 0 of 2 files localized$",
        ):
            expect(f"{words} in {wide}", bool(re.search(words, wide, re.M)), True)
        bar.until(
            r"\r(\[\.+\] )?0 of 1 done, [01] running, 0 of 2 files, 0 B of 3\.0 MiB[^\r\n]*\033\[K"
        )
        lines.until("localizing for 1 container: 0 of 2 files, 0 B of 3.0 MiB")
    finally:
        freeze(c, False)
    expect("exit codes", (bar.end(), lines.end()), (0, 0))
    expect("output", (bar.lines().count(str(3 << 20)), lines.lines().count(str(3 << 20))), (1, 1))
    expect("what is left of the line", [text for text in bar.lines() if " done, " in text], [])
    full.end()


class Abandoned:
    """selvedge run is killed; other cases pass until its ApplicationMaster notices that nobody
    asks."""

    job = None

    @classmethod
    def begins(cls, c):
        cls.job = Running(c, "abandoned", seconds=2)
        cls.job.job.kill()
        cls.job.job.wait()

    @classmethod
    def ends(cls, c):
        cls.job.end()
        expect("exit code", run(c, "--", "true")[0], 0)


STRANGER = """
import socket, struct, sys
host, port = sys.argv[1:]
s = socket.create_connection((host, int(port)), 20)
s.sendall(b"hrpc" + bytes([9, 0, 0]))
answer = b""
while part := s.recv(4096):
    answer += part
print(answer.decode("latin-1"))
"""


def node_secret(c):
    """Our NodeManager has registered with the node secret; a container can neither read it nor
    speak without it."""
    log = open(c.rm.log, encoding="utf-8").read()
    expect("the ResourceManager demands it", "nodes must have the node secret" in log, True)
    code, _, output = run(c, "--", f"cat {c.site['selvedge.node-secret.file']}")
    expect("a container reads the secret", (code != 0, len(output.strip()) < 200), (True, True))
    code, _, output = run(c, "--", "python3", "-c", STRANGER, c.address, str(c.ports["tracker"]))
    expect("a container connects to the ResourceTracker", code, 0)
    if "SIMPLE authentication is not enabled" not in output:
        raise ClusterError(f"a container is not refused: {output!r}")


def connections(c):
    """One container opens 10,050 connections to the port of the clients and pings them: others are
    served all the same."""
    flood = connection_flood.command(c.address, c.ports["client"], True)
    job = Running(c, "flood", command=f"echo -n 'up '; {flood}")
    held = int(job.line.split()[-1])
    for _ in range(100):  # lines, at least 20 s: the daemon closes the others meanwhile
        if held < 1000:
            break
        held = int(job.job.stdout.readline().split()[-1])
    expect(
        f"{held} connections are held, those of one address and some not yet closed",
        0 < held < 1000,
        True,
    )
    for user in c.users[:2]:
        code, table, _ = run(c, "--", "true", user=user)
        expect("exit code of another job", (code, len(table["containers"])), (0, 1))
    expect("ps", job.id in c.selvedge("ps").stdout, True)
    expect(
        "nodes",
        [n["state"] for n in json.loads(c.selvedge("--json", "node", "list").stdout)],
        ["RUNNING"],
    )
    expect("kill", c.selvedge("kill", job.id).returncode, 0)
    expect("exit code of run", job.end(), 1)
