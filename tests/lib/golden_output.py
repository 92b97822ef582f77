"""Whole output of the list commands, ids, times and sizes masked: through a pipe and a terminal of
80 and of 200 columns, with LANG=C and UTF-8, with NO_COLOR and without. A case of test-cli."""
import concurrent.futures
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios

MASKS = [
    (r"^selvedge +\d\S*$", "selvedge VERSION"),
    (r"appattempt_\d+_\d+_\d+", "ATTEMPT"),
    (r"application_\d+_\d+", "APP"),
    (r"container_\d+_\d+_\d+_\d+", "CONTAINER"),
    (r"https?://[^ ]*", "URL"),
    (r"127\.0\.0\.1:\d+", "NODE"),
    (r"\bsv\d+[a-z]\b", "USER"),
    (r"\b\d+[smhd] ago\b", "AGO"),
    (r"\d{4}-\d\d-\d\d[T ][\d:]+(Z| \+\d{4})", "DATE"),
    (r"\b[\d.]+ (ms|s)(?= |$)", "TIME"),
    (r"\b[\d.]+ ([KMGT]i)?B\b", "SIZE"),
    (r"\b\d+\.\d%", "SHARE"),
    (" +", " "),
    # What a node without controllers does not count.
    (r"RUNNING - (-|SIZE) ", "RUNNING - PEAK "),
    (" 7 (-|SIZE) ", " 7 PEAK "),
    (r"(-|SIZE) (-|SIZE) SIZE 1 (-|\d+) ", "MEMORY PEAK SIZE 1 PIDS "),
    (r"SHARE (-|SIZE) SIZE 2 SHARE", "SHARE MEMORY SIZE 2 SHARE"),
]
NOT_ENFORCED = "limits not enforced (the node's cgroup v2 lacks the controllers)"
RED = "\033[31mFAILED\033[0m"

# A job "läuft" that runs, then one "bad" that failed. {F}: red on a terminal.
CONTAINERS = "INSTANCE CONTAINER NODE STATE EXIT PEAK MEM CPU TIME LOCALIZE LAUNCH"
QUEUES = "QUEUE STATE CAPACITY MAXIMUM USED RUNNING PENDING"  # and WAITING
WHY = "exit code 7: 1 of 1 instances failed, first instance 0 (CONTAINER on NODE) with 7"
NAME = r"l\xc3\xa4uft"
WANTED = {
    "ps": [
        "APPLICATION USER QUEUE NAME STATE FINAL CONTAINERS MEMORY PROGRESS TIME",
        f"APP USER root.default {NAME} RUNNING - 2 SIZE SHARE TIME",
    ],
    "ps -a -o wide": [
        (
            "APPLICATION USER QUEUE NAME TYPE STATE FINAL CONTAINERS MEMORY VCORES PROGRESS TIME "
            "STARTED FINISHED TRACKING URL"
        ),
        "APP USER root.default bad SELVEDGE FINISHED {F} - - - SHARE TIME AGO AGO URL",
        f"APP USER root.default {NAME} SELVEDGE RUNNING - 2 SIZE 2 SHARE TIME AGO - URL",
    ],
    "ps -a -o id,finalStatus,state": [
        "id\tfinalStatus\tstate",
        "APP\tFAILED\tFINISHED",
        "APP\tUNDEFINED\tRUNNING",
    ],
    "ps -a -o name": ["APP", "APP"],
    "ps BAD": [
        f"APP bad user USER, queue root.default, FINISHED FAILED: {WHY}",
        CONTAINERS,
        " 0 CONTAINER NODE DONE 7 PEAK TIME TIME TIME",
        "instance 0 on NODE: exit code 7",
    ],
    "ps RUNS": [
        f"APP {NAME} user USER, queue root.default, RUNNING",
        CONTAINERS,
        " 0 CONTAINER NODE RUNNING - PEAK TIME TIME TIME",
    ],
    "app list -a --no-headers": [
        "APP USER root.default bad FINISHED {F} - - SHARE TIME",
        f"APP USER root.default {NAME} RUNNING - 2 SIZE SHARE TIME",
    ],
    "app status BAD": [
        "application APP",
        "name bad",
        "type SELVEDGE",
        "user USER",
        "queue root.default",
        "state FINISHED",
        "final status FAILED",
        "attempt 1",
        "progress 100%",
        "uses 0 containers, SIZE, 0 vcores",
        "started DATE",
        "finished DATE",
        "tracking URL URL",
        f"diagnostics {WHY}",
    ],
    "app attempts BAD": [
        "ATTEMPT STATE CONTAINER HOST STARTED FINISHED",
        "ATTEMPT FINISHED CONTAINER 127.0.0.1 AGO AGO",
    ],
    "node list": [
        "NODE STATE HTTP RACK CONTAINERS MEMORY USED MEMORY VCORES USED VCORES HEALTH",
        "NODE RUNNING NODE /default-rack 2 SIZE SIZE 2 32 -",
    ],
    "node list -o id,state --no-headers": ["NODE\tRUNNING"],
    "node status NODE": [
        "node NODE",
        "state RUNNING",
        "web NODE",
        "rack /default-rack",
        "containers 2",
        "memory SIZE of SIZE",
        "vcores 2 of 32",
        "health -",
    ],
    "queue status default": [f"{QUEUES} WAITING", "root.default RUNNING SHARE SHARE SHARE 1 0 -"],
    "queue status other -o wide": [
        f"{QUEUES} LEAF WAITING",
        "root.other RUNNING SHARE SHARE SHARE 0 0 true -",
    ],
    "queue list -o path,state,leaf --utc": [
        "path\tstate\tleaf",
        "root\tRUNNING\tfalse",
        "root.default\tRUNNING\ttrue",
        "root.other\tRUNNING\ttrue",
    ],
    "top --once": [
        "APPLICATION USER CONTAINERS CPU MEMORY ALLOCATED VCORES CPU WAIT MEM WAIT I/O WAIT NAME",
        f"APP USER 2 SHARE MEMORY SIZE 2 SHARE SHARE SHARE {NAME}",
    ],
    "top --once -c -o wide": [
        "CONTAINER NODE USER STATE CPU MEMORY PEAK LIMIT VCORES PIDS CPU WAIT MEM WAIT I/O WAIT",
        *["CONTAINER NODE USER RUNNING SHARE MEMORY PEAK SIZE 1 PIDS SHARE SHARE SHARE"] * 2,
    ],
    "version": [
        "selvedge VERSION",
        "protocols Hadoop 3.4.2, IPC 9",
        "cluster selvedge-rm, protocols of 3.4.2, Hadoop 3.4.2, STARTED, ACTIVE",
    ],
}


# The fields of each list as JSON, which -o FIELD,FIELD takes too: programs rely on them. New ones
# are added here, none is renamed or removed within a major version (docs/operate/inspect.md).
FIELDS = {
    "ps -a": "id user queue name type state finalStatus progress attempt containers memoryMb "
    "vcores startedTime finishedTime elapsedMs trackingUrl diagnostics waiting",
    "app attempts BAD": "id state container host startedTime finishedTime trackingUrl diagnostics",
    "node list": "id http rack state healthReport containers usedMemoryMb memoryMb usedVcores "
    "vcores",
    "queue list": "path state capacity maximumCapacity usedOfCapacity leaf running pending waiting "
    "waitingApplication",
}
FIELDS["app list -a"], FIELDS["queue status default"] = FIELDS["ps -a"], FIELDS["queue list"]
CONTAINER_FIELDS = (
    "instance group number container node state tries exitCode peakMemoryBytes cpuTimeMs "
    "localizeMs launchMs limitsNotEnforced diagnostics localizedBytes localizeTotalBytes "
    "localizeBytesPerSecond localizeRemainingMs localizing"
)


def stable_fields(c, names):
    def told(words):
        return json.loads(
            c.selvedge(*[names.get(w, w) for w in words.split()], "-o", "json").stdout
        )

    for words, fields in FIELDS.items():
        rows = told(words)
        assert rows and all(set(row) == set(fields.split()) for row in rows), (words, rows[0])
    for words in ("ps BAD", "ps RUNS"):
        rows = told(words)["containers"]
        assert rows and all(set(row) == set(CONTAINER_FIELDS.split()) for row in rows), (
            words,
            rows,
        )


def mask(text):
    """Lines, each with single blanks, and without those at its end."""
    found = []
    for line in text.splitlines():
        for pattern, word in MASKS:
            line = re.sub(pattern, word, line)
        if NOT_ENFORCED not in line:
            found.append(line.rstrip())
    return found


def on_terminal(c, words, columns, env, code=0):
    """What it shows on a terminal so wide; it ends with this code."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    job = subprocess.Popen(
        c.selvedge_argv(*words),
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=slave,
        env=env,
        cwd="/",
    )
    os.close(slave)
    seen = b""
    try:
        while True:
            ready, _, _ = select.select([master], [], [], 30)
            assert ready, seen
            seen += os.read(master, 65536)
    except OSError:  # the other side is closed
        pass
    finally:
        assert job.wait(30) == code, seen
        os.close(master)
    return seen.decode("ascii").replace("\r\n", "\n")


FIGURES = {"-", "SIZE", "PEAK", "MEMORY", "PIDS"}  # "-" where the node counts none


def is_part(line, whole):
    """Whether a masked line is the whole one without some of its columns."""

    def words(text):
        return ["#" if word in FIGURES else word for word in text.split()]

    left = iter(words(whole))
    return all(word in left for word in words(line))


def compare_narrow(c, words, wanted, more):
    """A table of a terminal of 80 columns fits, without some of its columns; with all of them in
    format wide."""
    text = on_terminal(c, words, 80, {**c.client_env(), "TERM": "xterm", **more})
    seen = mask(text)
    assert len(seen) == len(wanted) and all(map(is_part, seen, wanted)), (words, seen, wanted)
    if wanted[0].isupper() and "wide" not in words:
        rows = re.sub(r"\033\[\d+m", "", text).splitlines()
        assert all(len(row) <= 80 for row in rows if NOT_ENFORCED not in row), (words, rows)


def compare(c, words, wanted):
    plain, coloured = ([line.replace("{F}", word) for line in wanted] for word in ("FAILED", RED))
    done = c.selvedge(*words)
    assert done.returncode == 0 and not done.stderr, done
    assert mask(done.stdout) == plain, (words, mask(done.stdout), plain)
    compare_narrow(c, words, coloured, {"LANG": "C"})
    compare_narrow(c, words, plain, {"LANG": "C.UTF-8", "NO_COLOR": "1"})
    for more, lines in (
        ({"LANG": "C.UTF-8"}, coloured),
        ({"LANG": "C", "TERM": "dumb"}, plain),
    ):
        seen = mask(on_terminal(c, words, 200, {**c.client_env(), "TERM": "xterm", **more}))
        assert seen == lines, (words, more, seen, lines)


def golden_output(c, submit, running, says):
    runs = submit(c, "-N", "läuft", "--", "exec sleep 600")
    running(c, runs)
    bad = submit(c, "-N", "bad", "--", "exit 7")
    says(c.selvedge("wait", bad), 7, "FAILED")
    names = {"BAD": bad, "RUNS": runs, "NODE": c.nodes[0].id}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(
            pool.map(
                lambda item: compare(c, [names.get(w, w) for w in item[0].split()], item[1]),
                WANTED.items(),
            )
        )
    stable_fields(c, names)
    says(c.selvedge("kill", runs), 0, "is over")
