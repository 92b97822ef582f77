"""Jobs that are over: who may read what, and the forms of lists. Cases of test-job."""
import json
import re

from lib.container_logs import same_text
from lib.job_runs import expect, run


def ended(c):
    """What is over is still listed and read: by the table that the ApplicationMaster left."""
    code, table, _ = run(
        c,
        "-n",
        "3",
        "-N",
        "is over",
        "--",
        "echo said $SELVEDGE_INSTANCE; test $SELVEDGE_INSTANCE != 1 || kill -9 $$",
    )
    expect("exit code", code, 137)
    app = table["application"]
    again = json.loads(c.selvedge("ps", app, "--json").stdout)
    expect(
        "containers",
        [(t["container"], t["exitCode"], t["node"]) for t in again["containers"]],
        [(t["container"], t["exitCode"], t["node"]) for t in table["containers"]],
    )
    expect("finished, exit code", (again["finished"], again["exitCode"]), (True, 137))
    text = c.selvedge("ps", app).stdout
    expect(
        "the failed instance",
        text.count(f"instance 1 on {c.nodes[0].id}: exit code 137 (killed by SIGKILL)\n"),
        1,
    )
    done = c.selvedge("logs", app, "2")
    expect(
        "logs", (done.returncode, re.sub(r"^---.*\n", "", done.stdout, flags=re.M)), (0, "said 2\n")
    )
    for row in table["containers"]:
        same_text(
            lambda name, of=row["container"]: c.selvedge("logs", "--log", name, app, of).stdout,
            c.nodes[0].url,
            row["container"],
            c.users[0].pw_name,
            {"stdout": f"said {row['instance']}\n", "stderr": ""},
        )
    short = re.sub(r"_0*(\d+)$", r"_\1", app)
    expect("id without zeros", c.selvedge("app", "status", short).returncode, 0)
    expect("wait", c.selvedge("wait", app).returncode, 137)
    told = json.loads(c.selvedge("app", "status", "--json", app).stdout)
    expect(
        "app status",
        (told["name"], told["finalStatus"], told["queue"]),
        ("is over", "FAILED", "root.default"),
    )


def of_others(c):
    """An ended job, read by others: a stranger learns nothing; whom its VIEW_APP list names, and
    the administrator, see what its owner sees; the queue's administrator what the ResourceManager
    has, for nodes do not know queues.
    """
    owner, stranger, viewer = c.users
    done = c.selvedge(
        "run",
        "-N",
        "guarded",
        "--view-acl",
        f"nobody-else,{viewer.pw_name}",
        "--",
        "echo its-output; echo its-reason >&2; exit 3",
        user=owner,
    )
    expect(f"exit code ({done.stderr})", done.returncode, 3)
    app = re.search(r"application_\S+", done.stderr)[0]
    container = json.loads(c.selvedge("ps", "--json", app, user=owner).stdout)["containers"][0][
        "container"
    ]
    asked = [
        ["ps", app],
        ["ps", "--json", app],
        ["logs", app],
        ["logs", "--follow", app],
        ["logs", app, container],
        ["logs", app, "0"],
        ["inspect", "--json", app],
        ["inspect", "--json", container],
    ]
    seen = {}

    def told(done):  # the keys of an object come as its parts do
        return (
            json.loads(done.stdout)
            if "--json" in done.args and done.returncode == 0
            else done.stdout
        )

    for words in asked:
        done = c.selvedge(*words, user=owner)
        expect(f"{words} of the owner ({done.stderr})", (done.returncode, done.stderr), (0, ""))
        seen[str(words)] = told(done)
        expect(
            f"{words} tells the job's end",
            any(text in done.stdout for text in ("its-output", '"exitCode":3', "exit code 3")),
            True,
        )
        for who in (viewer, c.daemon):
            done = c.selvedge(*words, user=who)
            expect(
                f"{words} of {who.pw_name}",
                (done.returncode, told(done), done.stderr),
                (0, seen[str(words)], ""),
            )
        done = c.selvedge(*words, user=stranger)
        logs_of_one = words[-1] in (container, "0") and words[0] == "logs"
        named = words[-2] if logs_of_one else words[-1]
        expect(
            f"{words} of a stranger",
            (done.returncode, done.stdout, done.stderr),
            (
                1,
                "",
                f"selvedge: {named}: {stranger.pw_name} may not see "
                "this application: with yarn.acl.enable its owner, its VIEW_APP list and "
                "administrators may\n",
            ),
        )
    listed = next(
        a
        for a in json.loads(c.selvedge("ps", "-a", "--json", user=stranger).stdout)
        if a["id"] == app
    )
    expect("a stranger's row of it", (listed["diagnostics"], listed["trackingUrl"]), ("", "N/A"))
    table = json.loads(c.selvedge("ps", "--json", app, user=c.monitor).stdout)
    expect(
        "the queue's administrator",
        (table["name"], table["finished"], table["exitCode"]),
        ("guarded", True, 3),
    )
    expect(
        "its containers",
        {(t["container"], t["exitCode"]) for t in table["containers"]},
        {(container, 3)},  # without the ApplicationMaster's, which is no instance
    )
    found = json.loads(c.selvedge("inspect", "--json", app, user=c.monitor).stdout)
    expect(
        "inspect",
        (found["state"], found["finalStatus"], "unavailable" in found),
        ("FINISHED", "FAILED", False),
    )
    done = c.selvedge("logs", app, user=c.monitor)
    expect(
        "logs",
        (done.returncode, done.stdout, done.stderr),
        (
            1,
            "",
            f"selvedge: {container}: its logs cannot be read: {c.nodes[0].id}, which ran it, shows "
            "them to the job's owner, its VIEW_APP list and administrators alone, and logs "
            "are not aggregated (yarn.log-aggregation-enable)\n",
        ),
    )


def formats(c):
    """-o of a list: the same rows in each form."""
    rows = json.loads(c.selvedge("ps", "-a", "-o", "json").stdout)
    ids = [row["id"] for row in rows]
    expect("names", c.selvedge("ps", "-a", "-o", "name").stdout.split(), ids)
    expect("--quiet", c.selvedge("app", "list", "-a", "--quiet").stdout.split(), ids)
    fields = c.selvedge("ps", "-a", "-o", "id,state,memoryMb", "--no-headers").stdout
    expect(
        "fields",
        fields,
        "".join(f"{row['id']}\t{row['state']}\t{row['memoryMb'] or ''}\n" for row in rows),
    )
    yaml = c.selvedge("ps", "-a", "-o", "yaml").stdout
    expect("yaml", [line[7:-1] for line in yaml.splitlines() if line.startswith("- id: ")], ids)
    table = c.selvedge("ps", "-a", "--no-headers").stdout.splitlines()
    expect("table without titles", [line.split()[0] for line in table], ids)
    wide = c.selvedge("ps", "-a", "-o", "wide", "--utc").stdout.splitlines()
    expect(
        "wide has more",
        (wide[0].split()[-3:], len(re.findall(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", wide[1])) > 0),
        (["FINISHED", "TRACKING", "URL"], True),
    )
    expect(
        "nodes",
        c.selvedge("node", "list", "-o", "id,state", "--no-headers").stdout,
        f"{c.nodes[0].id}\tRUNNING\n",
    )
    expect("queues", c.selvedge("queue", "list", "-o", "name").stdout, "root\nroot.default\n")
    expect(
        "containers",
        c.selvedge("ps", ids[0], "-o", "instance,exitCode", "--no-headers").returncode,
        0,
    )
