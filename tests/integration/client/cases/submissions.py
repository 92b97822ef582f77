"""submit, attach, stop and logs --since, and the options of run that change how a job runs. Cases
of test-cli."""
import json
import os
import re
import signal
import subprocess

from lib.submitted_jobs import at_once, expect, ready, running, says, state, submit
from lib.terminal import OnTerminal


def submitted(c):
    done = c.selvedge("submit", "-n", "2", "--", "exit 6")
    app = done.stdout.strip()
    expect(
        "submit prints",
        (done.returncode, bool(re.fullmatch(r"application_\d+_\d+", app))),
        (0, True),
    )
    expect("and says how to go on", done.stderr.count(app), 1)
    says(c.selvedge("wait", app), 6, "FAILED")
    expect(
        "as JSON",
        list(json.loads(c.selvedge("submit", "--json", "--", "true").stdout)),
        ["application"],
    )
    named = {
        "true": ["/usr/bin/true"],
        "true >/dev/null": ["true >/dev/null"],
        "printf": ["/usr/bin/printf", "%s", "/x y"],
    }
    for name, app in [(name, submit(c, "--", *words)) for name, words in named.items()]:
        says(c.selvedge("wait", app), 0, "SUCCEEDED")
        expect(
            "its name", json.loads(c.selvedge("app", "status", app, "--json").stdout)["name"], name
        )


def stopped(c):
    """Its processes end by themselves, and are killed when they do not."""
    app = submit(c, "-n", "2", "--", "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done")
    stubborn = submit(c, "--", "trap '' TERM; echo ready; while :; do sleep 0.05; done")
    ready(c, stubborn)
    kill = c.popen(
        [f"{c.prefix}/bin/selvedge", "stop", "--timeout", "1", stubborn],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    ready(c, app, 2)
    says(c.selvedge("stop", app), 0, f"{app} is over")
    expect(
        "it ended by itself",
        [
            t["exitCode"]
            for t in json.loads(c.selvedge("ps", app, "-o", "json").stdout)["containers"]
        ],
        [7, 7],
    )
    says(c.selvedge("stop", app), 0, "is over")
    out, err = kill.communicate(timeout=60)
    says(
        subprocess.CompletedProcess(kill.args, kill.returncode, out, err),
        1,
        "did not end within 1 s and was killed",
    )
    expect("its state", state(c, stubborn), "KILLED")
    says(c.selvedge("stop", "--timeout", "soon", app), 2, "--timeout soon: expected a time")
    says(c.selvedge("stop", "application_1_1"), 1, "does not know this application")


def named(c):
    """An application by its number, its name, @last and one of its containers; a container's own
    logs and end."""
    app = submit(
        c,
        "-N",
        "by name",
        "-n",
        "2",
        "--",
        "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done",
    )
    ready(c, app, 2)
    rows = json.loads(c.selvedge("ps", app, "-o", "json").stdout)["containers"]
    first, second = (row["container"] for row in sorted(rows, key=lambda row: row["instance"]))
    for text in (str(int(app.rsplit("_", 1)[1])), "by name", "@last", first):
        told = c.selvedge("app", "status", text, "-o", "json")
        expect(f"the application that {text} names", json.loads(told.stdout)["id"], app)
    says(c.selvedge("ps", "by nam"), 1, "by nam: no application has this id, number or name")
    user = c.users[0].pw_name
    for option, value, there in (
        ("--user", f"root,{user}", True),
        ("--user", "root", False),
        ("--queue", "root.default", True),
        ("--queue", "root.other", False),
        ("--state", "running,accepted", True),
        ("--state", "FAILED", False),
        ("--type", "SELVEDGE", True),
        ("--type", "SPARK", False),
        ("--tag", "none", False),
    ):
        listed = c.selvedge("ps", option, value, "--quiet").stdout.split()
        expect(f"{option} {value}", app in listed, there)
    expect("the newest first", c.selvedge("ps", "-a", "--quiet").stdout.split()[0], app)
    says(c.selvedge("ps", "--state", "dead"), 2, "ps: --state dead: expected NEW,")
    shown = c.selvedge("logs", first).stdout
    expect("logs of one container", (first in shown, second in shown), (True, False))
    offered = c.selvedge("complete", "stop", first.rsplit("_", 2)[0]).stdout.split()
    expect("completion of containers", {first, second} - set(offered), set())
    for words in ((app,), ("@last",), ("-n", "5", "by name"), ("--tail", "5", app)):
        offered = c.selvedge("complete", "logs", *words, "").stdout.split()
        expect(f"containers of an application: {words}", {first, second} - set(offered), set())
    for words, wanted in (
        (("logs", app, "application"), []),
        (("logs", "no such", ""), []),
        (("app", "move", app, ""), ["root", "root.default", "root.other"]),
    ):
        expect(f"completion of {words}", c.selvedge("complete", *words).stdout.split(), wanted)
    says(c.selvedge("stop", first), 0, f"{first} is over")
    says(c.selvedge("kill", second), 0, f"{second} is over")
    expect("exit code of the job", c.selvedge("wait", app).returncode, 7)


def watched(c):
    """ps --watch: drawn anew until q, of applications and of one; elsewhere one list."""
    app = submit(c, "-N", "watched", "--", "exec sleep 600")
    running(c, app)
    env = {**c.client_env(), "TERM": "xterm"}
    screen = OnTerminal(c.selvedge_argv("ps", "--watch"), env, columns=100, keys=True)
    drawn = "\033[H\033[J"
    screen.until(rf"(?s){re.escape(drawn)}.*{re.escape(drawn)}")  # twice
    screen.type("q")
    expect("ends with q", screen.end(), 0)
    shown = screen.seen.split(drawn)[1].replace("\r", "").splitlines()
    expect("title", shown[0], "1 application, q: end")
    expect("the list", (shown[1].split()[0], shown[2].split()[0]), ("APPLICATION", app))
    expect("it fits", [len(line) for line in shown if len(line) > 100], [])
    expect("the screen is left", screen.seen.count("\033[?1049l"), 1)
    screen = OnTerminal(c.selvedge_argv("ps", "-w", "watched"), env, keys=True)
    screen.until(f"{app}  watched  user ")
    screen.until("INSTANCE")
    screen.type("q")
    expect("of one", screen.end(), 0)
    done = c.selvedge("ps", "--watch", "--quiet")
    expect("in a pipe", (done.returncode, done.stdout), (0, app + "\n"))
    says(c.selvedge("ps", "--local", "--watch"), 2, "selvedge top --local draws them anew")
    says(c.selvedge("kill", app), 0, "is over")
    top = c.selvedge("ps", app).stdout.splitlines()[0]
    expect(
        "a killed one is told once",
        top.split(", ", 2)[2].split(":")[0],
        "KILLED",
    )


def attached(c):
    """Only what comes from now on; the job's exit code; Ctrl-C leaves the job to itself."""
    app = submit(
        c,
        "--",
        "trap 'echo late; echo bad >&2; exit 5' TERM; echo ready; echo early >&2; while :; do "
        "sleep 0.1; echo tick; done",
    )
    ready(c, app)
    left, job = (
        c.popen(
            [f"{c.prefix}/bin/selvedge", "attach", app],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        for _ in range(2)
    )
    try:
        expect(
            "only what is new",
            (left.stdout.readline(), job.stdout.readline()),
            ("tick\n", "tick\n"),
        )
        left.send_signal(signal.SIGINT)
        out, err = left.communicate(timeout=60)
        expect(
            "left",
            (left.returncode, set(out.split()) - {"tick"}, err.startswith("selvedge: detached; ")),
            (130, set(), True),
        )
        says(c.selvedge("stop", app), 0, "is over")
        out, err = job.communicate(timeout=60)
    finally:
        for one in (left, job):
            one.kill()
            one.wait()
    expect(
        "its last line and code",
        (
            job.returncode,
            out.replace("tick\n", ""),
            err.removeprefix("Terminated\n"),
        ),  # bash's, of its sleep
        (5, "late\n", f"bad\n{app} FAILED\n"),
    )
    says(c.selvedge("attach", app), 5, f"{app} has ended; selvedge logs shows its output")
    says(c.selvedge("attach", "application_1_1"), 1, "does not know this application")


def since(c):
    """Files by the time of their last change."""
    app = submit(
        c,
        "--",
        "echo old; echo new >&2; touch -d '3 hours ago' /proc/self/fd/1; echo set "
        ">>$LOG_DIRS/is-old; exec sleep 600",
    )
    running(c, app)
    c.wait(
        lambda: c.selvedge("logs", "--log", "is-old", app).stdout.endswith("set\n"),
        60,
        "the file is old",
    )
    for time, wanted in (("1h", ["new"]), ("4h", ["old", "new"])):
        done = c.selvedge("logs", "--since", time, app)
        expect(
            f"--since {time} ({done.stderr})",
            (
                done.returncode,
                [line for line in done.stdout.splitlines() if not line.startswith("---")],
            ),
            (0, wanted),
        )
    expect(
        "of one file", c.selvedge("logs", "--since", "1h", "--log", "stdout", app, "0").stdout, ""
    )
    done = c.selvedge("logs", "--since", "1h", "--all", app)
    expect(
        "of all files", (", is-old\n" in done.stdout, ", stdout\n" in done.stdout), (True, False)
    )
    for bad in ("soon", "0", "-5m"):
        says(
            c.selvedge("logs", "--since", bad, app), 2, f"--since {bad}: expected a time before now"
        )
    says(c.selvedge("logs", "--since", "1h", "-f", app), 2, "--since excludes --follow")
    says(c.selvedge("kill", app), 0, "is over")


def restarts(c):
    third, done = at_once(
        lambda words: c.selvedge("run", *words),
        [
            [
                "--restart",
                "2",
                "--",
                "m=${LOCAL_DIRS%%,*}/m; echo x >>$m; test $(wc -l <$m) = 3 || exit 9",
            ],
            ["--json", "--restart", "1", "--", "exit 9"],
        ],
    )
    expect(f"the third start ends well ({third.stderr})", third.returncode, 0)
    expect(
        "exit code after the last one",
        (done.returncode, json.loads(done.stdout)["containers"][0]["tries"]),
        (9, 2),
    )


def timeout(c):
    app = submit(c, "--timeout", "1", "--", "exec sleep 600")
    says(c.selvedge("wait", app), 1, "KILLED")


def directory(c):
    top = c.user_dir("things")
    os.makedirs(f"{top}/deep/er")
    for name in ("top", "deep/er/bottom", "-n"):
        with open(f"{top}/{name}", "w", encoding="ascii") as f:
            f.write(name + "\n")
    done = c.selvedge(
        "run",
        "--local-dir",
        f"{top}/",
        "--local-dir",
        f"{top}/deep#below",
        "--",
        "cat things/top things/deep/er/bottom things/./-n below/er/bottom",
    )
    expect(f"files ({done.stderr})", done.stdout, "top\ndeep/er/bottom\n-n\ndeep/er/bottom\n")
    says(
        c.selvedge("run", "--local-dir", "/etc/passwd", "--", "true"),
        2,
        "--local-dir /etc/passwd: not a directory",
    )


def other_user(c):
    env = {**c.client_env(), "HOME": "/"}
    done = subprocess.run(
        [f"{c.prefix}/bin/selvedge", "run", "--user", c.users[1].pw_name, "--", "id -un"],
        capture_output=True,
        text=True,
        cwd="/",
        env=env,
    )
    expect(
        f"root's job for {c.users[1].pw_name} ({done.stderr})",
        done.stdout,
        c.users[1].pw_name + "\n",
    )
    says(
        c.selvedge("run", "--user", c.users[1].pw_name, "--", "true"),
        2,
        "only root starts jobs of other users",
    )
    says(c.selvedge("run", "--user", "no such", "--", "true"), 2, "--user no such: no such account")


def gpus(c):
    says(c.selvedge("run", "--gpus", "1", "--", "true"), 2, "no node is as large")
    says(c.selvedge("run", "--gpus", "-1", "--", "true"), 2, "--gpus -1: expected a number from 0")


def too_large(c):
    """Above the cluster's maximum, which is less than the node has: known without an id. Only
    without a web port an id is used."""

    def number():
        return int(submit(c, "--", "true").rsplit("_", 1)[1])

    first = number()
    for words in (
        ["run", "--vcores", "5"],
        ["submit", "-c", "32"],
        ["run", "-q", "other", "-c", "5"],
    ):
        done = c.selvedge(*words, "--", "true")
        says(
            done,
            2,
            f"selvedge: {words[0]}: a container of 256 MiB and {words[-1]} vcores: the cluster "
            "allows at most 8192 MiB and 4 vcores",
        )
        expect("one line", (done.stdout, done.stderr.count("\n")), ("", 1))
    expect("ids that were used up", number() - first - 1, 0)
    says(
        c.selvedge(
            "run", "-D", "yarn.resourcemanager.webapp.address=127.0.0.1:1", "-c", "5", "--", "true"
        ),
        2,
        "the cluster allows at most",
    )
    expect("ids that were used up without a web port", number() - first - 2, 1)
