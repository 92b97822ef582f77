"""selvedge run, its ApplicationMaster and libselvedge-client: the client behaves on Apache's
daemons as on ours."""
import json
import os
import re
import subprocess

from cluster import ClusterError
from interop import hadoop
from lib.container_logs import same_text

SELVEDGE = os.path.join(hadoop.BUILD, "selvedge")


def expect(what, found, wanted):
    if found != wanted:
        raise ClusterError(f"{what}: {found!r}, wanted {wanted!r}")


def command(c, *args):
    """A copy that the submitter can read, with its ApplicationMaster beside it."""
    return [*c.as_user(c.submitter), f"{c.home}/bin/selvedge", *args]


def install_client(c):
    os.mkdir(f"{c.home}/bin")
    for name in ("selvedge", "selvedge-am"):
        subprocess.run(
            ["install", "-m", "755", os.path.join(hadoop.BUILD, name), f"{c.home}/bin/{name}"],
            check=True,
        )


def selvedge(c, *args):
    done = subprocess.run(
        command(c, "--json", *args),
        env=c.client_env(c.submitter),
        cwd="/",
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )
    try:
        return done.returncode, json.loads(done.stdout), done.stderr
    except ValueError:
        raise ClusterError(f"selvedge {args}: exit {done.returncode}: {done.stderr}") from None


def four(c):
    code, table, output = selvedge(
        c,
        "run",
        "-n",
        "4",
        "-m",
        "64m",
        "--env",
        "MARK=a 'b' {{c}} $d",
        "--",
        'echo "$SELVEDGE_INSTANCE of $SELVEDGE_INSTANCES: $MARK"',
    )
    expect("exit code", code, 0)
    expect(
        "output",
        sorted(output.splitlines()),
        [f"[{i}] {i} of 4: a 'b' {{{{c}}}} $d" for i in range(4)],
    )
    expect("repeated exits", table["repeatedExits"], 0)


def plain_words(c):
    """These are in the launch itself, for both NodeManagers' launch scripts."""
    words = ["a  b", "*", ";", ">x", "}{", "%d", "&", "#"]
    code, _, output = selvedge(c, "run", "--", "echo", *words)
    expect("exit code and output", (code, output), (0, " ".join(words) + "\n"))


def failing(c):
    code, table, _ = selvedge(c, "run", "-n", "2", "--", "exit $((SELVEDGE_INSTANCE * 5))")
    expect("exit code", code, 5)
    expect("codes", [t["exitCode"] for t in table["containers"]], [0, 5])


def file_and_archive(c):
    subprocess.run(
        ["tar", "-czf", f"{c.home}/box.tgz", "-C", "/usr/share/common-licenses", "Apache-2.0"],
        check=True,
    )
    os.chmod(f"{c.home}/box.tgz", 0o644)
    code, _, output = selvedge(
        c,
        "run",
        "-a",
        f"{c.home}/box.tgz#box",
        "-f",
        "/etc/hostname#name",
        "--",
        "cmp box/Apache-2.0 /usr/share/common-licenses/Apache-2.0 && cat name",
    )
    with open("/etc/hostname", encoding="ascii") as f:
        expect("exit code and output", (code, output), (0, f.read()))


def killed(c):
    job = subprocess.Popen(
        command(c, "run", "--name", "to kill", "--", "echo up; exec sleep 600"),
        text=True,
        env=c.client_env(c.submitter),
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    try:
        expect("first line", job.stdout.readline(), "up\n")
        app = next(a["id"] for a in selvedge(c, "ps")[1] if a["name"] == "to kill")
        done = subprocess.run(
            command(c, "kill", app),
            env=c.client_env(c.submitter),
            capture_output=True,
            text=True,
            timeout=300,
        )
        expect("kill", (done.returncode, done.stdout), (0, f"{app} is over\n"))
        expect("exit code of run", job.wait(300), 1)
    finally:
        job.kill()
        job.wait()
        job.stdout.close()


def nodes(c):
    _, listed, _ = selvedge(c, "node", "list")
    expect(
        "nodes",
        [(n["state"], re.sub(".*:", "", n["id"])) for n in listed],
        [("RUNNING", str(n.ports["rpc"])) for n in c.nodes],
    )


def same_logs(c, app, container, node):
    """The REST of the container's node, and selvedge logs."""

    def logs(name):
        done = subprocess.run(
            command(c, "logs", "--log", name, app, container),
            env=c.client_env(c.submitter),
            cwd="/",
            text=True,
            capture_output=True,
            timeout=300,
        )
        expect(f"selvedge logs of {name} ({done.stderr})", done.returncode, 0)
        return done.stdout

    url = next(n.url for n in c.nodes if n.ports["rpc"] == int(node.rsplit(":", 1)[1]))
    same_text(logs, url, container, c.submitter.pw_name, {"stdout": "up\n", "stderr": "why\n"})


def inspected(c):
    """inspect and top tell the same keys at every pairing; what a side does not tell is listed. Its
    logs are those that its node's REST has."""
    job = subprocess.Popen(
        command(c, "run", "--name", "to look at", "--", "echo why >&2; echo up; exec sleep 600"),
        text=True,
        env=c.client_env(c.submitter),
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    try:
        expect("first line", job.stdout.readline(), "up\n")
        app = next(a["id"] for a in selvedge(c, "ps")[1] if a["name"] == "to look at")
        _, found, _ = selvedge(c, "inspect", app)
        expect(
            "application",
            (
                found["kind"],
                found["state"],
                found["scheduling"]["priority"],
                found.get("unavailable"),
            ),
            ("application", "RUNNING", 0, None),
        )
        expect(
            "containers", [x["state"] for x in found["attempts"][0]["containers"]], ["RUNNING"] * 2
        )
        name = found["instances"][0]["container"]
        _, one, _ = selvedge(c, "inspect", name)
        expect(
            "container",
            (one["kind"], one["application"], one["onNode"]["state"]),
            ("container", app, "RUNNING"),
        )
        same_logs(c, app, name, one["node"])
        tells = one["onNode"]["limitsNotEnforced"] is not None
        expect(
            "usage is told or named as missing",
            [x["what"] for x in one.get("unavailable", [])],
            [] if tells else ["usage"],
        )
        _, node, _ = selvedge(c, "inspect", one["node"])
        expect(
            "node",
            (node["kind"], name in [x["id"] for x in node["containersOnNode"]]),
            ("node", True),
        )
        _, queue, _ = selvedge(c, "inspect", "default")
        expect("queue", (queue["path"], queue["applications"]), ("root.default", [app]))
        _, rows, _ = selvedge(c, "top", "--once")
        expect("top", [(r["id"], r["cpuCores"] is not None) for r in rows], [(app, tells)])
        subprocess.run(
            command(c, "kill", app),
            env=c.client_env(c.submitter),
            check=True,
            capture_output=True,
            timeout=300,
        )
        expect("exit code of run", job.wait(300), 1)
    finally:
        job.kill()
        job.wait()
        job.stdout.close()


CASES = [
    ("4 containers", four),
    ("plain words", plain_words),
    ("exit codes", failing),
    ("a file and an archive", file_and_archive),
    ("selvedge kill", killed),
    ("selvedge inspect and top", inspected),
    ("selvedge node list", nodes),
]


def run(report, c):
    install_client(c)
    for name, function in CASES:
        report.case(f"{c.pairing}: selvedge: {name}", function, c)
