"""Wrong command lines: a case of test-cli. Each ends with 2, one line on stderr and none on stdout,
in less than the time that it takes to ask anybody twice; no application is submitted and no id used
up."""
import concurrent.futures
import os
import re

LONG = "x" * 5000
CONTROL = "a\033[31mb"
APP = "application_1700000000000_0001"

# Options with a value: (command line around it, option, a good value, wrong values beside those
# that every option refuses).
VALUES = [
    (
        ["run"],
        "--instances",
        "1",
        ["0", "-1", "10001", "1.5", "many", "99999999999999999999", "1 "],
    ),
    (["run"], "-n", "1", ["0x1"]),
    (["run"], "--memory", "64m", ["0", "-1", "1k", "64q", "99999999999g", "much"]),
    (["run"], "--vcores", "1", ["0", "-2", "two", "9999999999"]),
    (["run"], "--gpus", "0", ["-1", "one"]),
    (["run"], "--name", "x", []),
    (["run"], "--queue", "default", ["nowhere"]),  # a path may be created by use
    (["run"], "--tries", "1", ["0", "101", "x"]),
    (["run"], "--restart", "0", ["-1", "1001"]),
    (["run"], "--timeout", "5m", ["0", "-5", "soon", "5 minutes"]),
    (["run"], "--user", "root", []),
    (["run"], "--view-acl", "ann,bob staff", []),
    (["run"], "--modify-acl", "ann", []),
    (["run"], "--am-memory", "64m", ["0", "x", "1t"]),
    (["run"], "--am-program", "/bin/true", ["/nowhere"]),
    (["submit"], "--instances", "1", ["x"]),
    (["stop", APP], "--timeout", "5s", ["soon", "-1"]),
    (["logs", APP], "--log", "stdout", ["a/b"]),
    (["logs", APP], "--tail", "5", ["-1", "x", "1.5"]),
    (["logs", APP], "--since", "5m", ["soon", "0", "-1s"]),
    (["logs", APP], "--owner", "root", []),
    (["top"], "--sort", "cpu", ["name", "CPU"]),
    (["node", "decommission", "h", "--graceful"], "--timeout", "5s", ["soon", "-1"]),
    (["node", "drain"], "--reason", "x", []),
    (["doctor"], "--user", "root", []),
    (
        ["localize", "--as", "root", "file:/etc/hostname"],
        "--visibility",
        "public",
        ["secret", "PUBLICK"],
    ),
    (
        ["localize", "--visibility", "public", "file:/etc/hostname"],
        "--as",
        "root",
        [],
    ),  # the node may run it as another user
    (
        ["localize", "--as", "root", "--visibility", "public", "file:/etc/hostname"],
        "--timestamp",
        "1",
        ["x", "-1"],
    ),
    (
        ["localize", "--as", "root", "--visibility", "public", "file:/etc/hostname"],
        "--size",
        "1",
        ["x", "-1"],
    ),
    (
        ["localize", "--as", "root", "--visibility", "public", "file:/etc/hostname"],
        "--tokens",
        "/dev/null",
        ["/nowhere"],
    ),
    (
        ["localize", "--as", "root", "--visibility", "public", "file:/etc/hostname"],
        "--user",
        "root",
        [],
    ),
    (
        ["localize", "--as", "root", "--visibility", "public", "file:/etc/hostname"],
        "--pattern",
        "x",
        [],
    ),
    (["ps"], "--output", "table", ["tabel", "id,,state", "id,nothing", "name,", "{.id}"]),
    (["ps"], "--wait", "5", ["soon", "-1"]),
    (["ps"], "--conf", None, ["/nowhere", "/etc/passwd"]),
]
# Options that may be given often: the same without "twice".
REPEATED = [
    (["run"], "--file", ["/nowhere", "/etc/hostname#a/b", "/etc/hostname#..", "/etc"]),
    (["run"], "--archive", ["/nowhere", "/etc"]),
    (["run"], "--local-dir", ["/nowhere", "/etc/hostname"]),
    (["run"], "--env", ["A", "=x", "1A=x", "A B=x"]),
    (["ps"], "-D", ["key", "=value"]),
]
# Whole command lines.
LINES = [
    ["pss"],
    ["help", "pss"],
    ["run"],
    ["run", "-n", "1"],
    ["submit", "--"],
    ["ps", "-x"],
    ["ps", "--jsn"],
    ["ps", "a", "b"],
    ["ps", "application_x"],
    ["ps", "--quiet=yes"],
    ["kill"],
    ["kill", APP, "application_x"],
    ["kill", "application_1_x"],
    ["wait"],
    ["wait", "container_1_1_1_1"],
    ["wait", APP, APP],
    ["attach"],
    ["attach", "application_x"],
    ["stop"],
    ["logs"],
    ["logs", "application_x"],
    ["logs", APP, "1", "2"],
    ["logs", "--all", "--follow", APP],
    ["app", "lst"],
    ["app", "status"],
    ["app", "status", ""],
    ["app", "move", APP],
    ["app", "move", APP, ""],
    ["app", "move", APP, CONTROL],
    ["app", "priority", APP, "x"],
    ["app", "priority", APP, "99999999999"],
    ["app", "attempts"],
    ["node", "lst"],
    ["node", "status"],
    ["node", "status", ""],
    ["node", "status", CONTROL],
    ["node", "status", LONG],
    ["node", "decommission"],
    ["node", "decommission", ""],
    ["node", "decommission", "--timeout", "5", "h"],
    ["node", "recommission", "a b"],
    ["node", "list", "x"],
    ["queue", "list", "x"],
    ["queue", "status"],
    ["queue", "status", CONTROL],
    ["queue", "refresh", "x"],
    ["inspect"],
    ["inspect", ""],
    ["inspect", "container_1"],
    ["inspect", "application_x"],
    ["inspect", CONTROL],
    ["inspect", "a", "b"],
    ["inspect", "-o", "name", APP],
    ["top", "application_x"],
    ["top", "-o", "nothing"],
    ["config", "a", "b"],
    ["config", "--all", "a"],
    ["config", "--unknown", "--all"],
    ["version", "x"],
    ["version", "-o", "name"],
    ["localize"],
    ["doctor", "x"],
    ["app", "list", "-o", "nothing"],
]


def lines():
    """Every wrong command line, by a name."""

    def around(before, *words):
        return [*before, *words, *(["--", "true"] if before[0] in ("run", "submit") else [])]

    for before, option, good, wrong in VALUES:
        yield [*before, option]  # its value is missing
        for value in ["", CONTROL, LONG, *wrong]:
            yield around(before, option, value)
        if good is not None:
            yield around(before, option, good, option, good)  # twice
    for before, option, wrong in REPEATED:
        yield [*before, option]
        for value in ["", *wrong]:
            yield around(before, option, value)
    yield from LINES


def submitted(c):
    return c.rm_get("/ws/v1/cluster/metrics")["clusterMetrics"]["appsSubmitted"]


def sequence(app):
    return int(app.rsplit("_", 1)[1])


def problem(words, done):
    """Why this is not how a wrong command line ends; None: it is."""
    line = done.stderr.rstrip("\n")
    if done.returncode != 2:
        return f"exit code {done.returncode}"
    if (
        done.stdout
        or done.stderr.count("\n") != 1
        or not re.match("selvedge: |usage: selvedge ", line)
    ):
        return "not one line"
    if re.search("[^ -~]", line):
        return "not printable"
    if len(line) > 600 and LONG not in words:
        return "too long"
    return None


def wrong_inputs(c, submit):
    before, first, found, wrong = submitted(c), sequence(submit(c, "--", "true")), [], list(lines())
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for words, done in zip(wrong, pool.map(lambda words: c.selvedge(*words), wrong)):
            why = problem(words, done)
            if why:
                found.append(
                    f"{why}: {[w[:40] for w in words]}: {done.returncode} {done.stdout[:100]!r} "
                    f"{done.stderr[:300]!r}"
                )
    print(f"({len(wrong)} wrong command lines)")
    assert not found, "\n".join(found)
    assert len(wrong) >= 300
    after = submit(c, "--", "true")
    assert (submitted(c), sequence(after)) == (
        before + 2,
        first + 1,
    ), "an application was submitted, or an id used up"
    assert not [name for name in os.listdir(f"{c.root}/tmp") if name.startswith("application_")]
