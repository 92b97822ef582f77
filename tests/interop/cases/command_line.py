"""Every subcommand of `selvedge` that talks to a ResourceManager, at Apache's and at ours: exit
code and whole output, ids, times and sizes masked, through a pipe and on terminals of 80 and 200
columns. tests/golden/command-line.json holds what each command prints: "all" is the reference
version's, an entry of another ResourceManager is there where it differs;
docs/operate/mixed-cluster.md says why. COMMAND_LINE_CAPTURE=1 writes the file. Then one state in
two views: Hadoop's own `yarn application` and `selvedge inspect` tell the same."""
import concurrent.futures
import json
import os
import re
import socket
import subprocess

from cluster import ClusterError
from interop import hadoop, peers
from interop.cases import decommission
from lib.golden_output import RED, is_part, mask, on_terminal

GOLDEN = os.path.join(hadoop.TOP, "tests", "golden", "command-line.json")
CLI = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"
# Without a ResourceManager, and so not here: test-cli, test-localize, test-doctor, test-dbus run
# them; test-exec runs exec.
LOCAL = {"config", "doctor", "localize", "node drain", "node undrain", "exec"}
# test-service and test-federation-store run these, with what they need.
ELSEWHERE = ("service ", "federation ")
LOOP = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done"

# In this order. Words behind an @ are of this run.
COMMANDS = """
version
ps
ps -a -o wide
ps -a -o id,finalStatus,state
ps @BAD
ps @RUNS
ps @ABSENT
app list -a
app status @RUNS
app status @BAD
app attempts @BAD
app attempts @ABSENT
app priority @RUNS 0
app move @RUNS default
app move @RUNS nowhere
top --once
top --once -c
inspect @RUNS
inspect @BAD
inspect @CONTAINER
inspect @NODE
inspect default
inspect @ABSENT
logs @RUNS
logs --tail 1 @BAD
logs --since 1h --log stderr @BAD
logs --follow @BAD
logs @BAD 5
node list
node list -a -o id,state
node status @NODE
node status nowhere
node decommission elsewhere.example
node decommission --graceful --timeout 5m elsewhere.example
node recommission elsewhere.example
queue list
queue list -o name
queue status default -o wide
queue status nowhere
queue refresh
complete kill @PREFIX
complete run -q root.d
wait @BAD
wait @ABSENT
run -N hello -- @HELLO
run -q nowhere -- true
run -m 1t -- true
submit --quiet -N short -- true
attach @BAD
stop @RUNS
stop @RUNS
kill @SECOND
kill @SECOND
app kill @ABSENT
""".strip().splitlines()


# Those that change nothing and ask for no person: they are run on terminals, too.
LOOKS = (
    "version",
    "ps",
    "app list",
    "app status",
    "app attempts",
    "app move @RUNS nowhere",
    "top",
    "inspect",
    "logs",
    "node list",
    "node status",
    "queue list",
    "queue status",
    "complete",
    "wait",
    "run -q nowhere",
    "run -m 1t",
)
# A list of applications shows a failure in red.
COLOURED = ("ps -a -o wide", "app list -a")
# For make check: with one job that has ended.
BRIEF = """
version
ps @ABSENT
ps @BAD
app status @BAD
app attempts @BAD
app attempts @ABSENT
inspect @BAD
logs --tail 1 @BAD
logs --since 1h --log stderr @BAD
logs @BAD 5
node status nowhere
queue list -o name
queue status nowhere
wait @BAD
wait @ABSENT
""".strip().splitlines()


def prepare(c):
    """The list of hosts that must leave belongs to the submitter."""
    decommission.prepare(c)
    for path in (decommission.excludes(c), os.path.dirname(decommission.excludes(c))):
        os.chown(path, c.submitter.pw_uid, c.submitter.pw_gid)


def plain(text):
    """Masked, without what a fast or a slow machine prints more or less often."""
    for name in {socket.gethostname(), "localhost"}:
        text = text.replace(name, "127.0.0.1")
    lines = (
        re.sub(r"^\[ *[\d.]+ s\]", "[TIME]", line)
        for line in mask(text.replace("/var/lib/selvedge-test-cluster", "ROOT"))
    )
    return [
        line
        for line in lines
        if not re.search(
            r"^\[TIME\] (APP (NEW|NEW_SAVING|SUBMITTED|ACCEPTED|RUNNING)|\d+ of \d+ "
            r"containers done)",
            line,
        )
    ]


def shape(value, path=""):
    """{"path: type"} of a JSON value; the elements of a list together."""
    if isinstance(value, dict):
        return set().union({path or "."}, *(shape(v, f"{path}.{k}") for k, v in value.items()))
    if isinstance(value, list):
        return set().union({f"{path}[]"}, *(shape(v, f"{path}[]") for v in value))
    return {f"{path}: {'null' if value is None else type(value).__name__}"}


class Jobs:
    """One that has failed, two that run; `brief`: without those."""

    def __init__(self, c, brief):
        self.c = c
        self.others = {
            a["id"] for a in json.loads(c.selvedge("ps", "-a", "-o", "json").stdout)
        }  # of cases before
        self.others |= {
            n["id"]
            for n in json.loads(c.selvedge("node", "list", "-a", "-o", "json").stdout)
            if n["state"] != "RUNNING"
        }
        bad = self.submit("bad", "echo first; echo why >&2; exit 9")
        c.selvedge("wait", bad)
        self.words = {"BAD": bad, "ABSENT": "application_1_0001"}
        if not brief:
            self.two_that_run(c)

    def two_that_run(self, c):
        runs, second = self.submit("runs", LOOP), self.submit("second", LOOP)
        for app in (runs, second):
            c.wait(lambda a=app: "ready" in c.selvedge("logs", a).stdout, 120, f"{app} runs")
        rows = json.loads(c.selvedge("ps", runs, "-o", "json").stdout)
        first = rows["containers"][0]
        self.words |= {
            "RUNS": runs,
            "SECOND": second,
            "PREFIX": runs[:-2],
            "CONTAINER": first["container"],
            "NODE": first["node"],
            "HELLO": "echo hello",
        }

    def submit(self, name, command):
        done = self.c.selvedge("submit", "--quiet", "-N", name, "--", command)
        if done.returncode != 0:
            raise ClusterError(f"submit: {done.returncode} {done.stderr}")
        return done.stdout.strip()

    def words_of(self, line):
        return [self.words[w[1:]] if w.startswith("@") else w for w in line.split()]

    def plain(self, text):
        return plain(
            "\n".join(
                line
                for line in text.splitlines()
                if not any(other in line for other in self.others)
            )
        )

    def run(self, line):
        done = self.c.selvedge(*self.words_of(line))
        if line.startswith("inspect") and done.returncode == 0:
            return ["exit 0", *sorted(shape(json.loads(done.stdout)))]
        lines = self.plain(done.stdout)
        if line.startswith("top"):  # by use
            lines[1:] = sorted(lines[1:])
        return [
            f"exit {done.returncode}",
            *lines,
            *("! " + text for text in self.plain(done.stderr)),
        ]

    def show(self, line, columns, code):
        """The same on a terminal, whose lines of both streams are in one order or the other."""
        text = on_terminal(
            self.c, self.words_of(line), columns, {**self.c.client_env(), "TERM": "xterm"}, code
        )
        if line.startswith("inspect") and code == 0:
            return sorted(shape(json.loads(text)))
        return sorted(self.plain(text))


def on_terminals(jobs, line, piped):
    """What the command shows on terminals, of what it has printed into pipes."""
    code = int(piped[0].removeprefix("exit "))
    wanted = [text.removeprefix("! ") for text in piped[1:]]
    if line in COLOURED:
        wanted = [text.replace("FAILED", RED) for text in wanted]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        narrow, wide = pool.map(lambda columns: jobs.show(line, columns, code), (80, 200))
    parts = [any(is_part(row, whole) for whole in wanted) for row in narrow]
    if wide != sorted(wanted) or len(parts) != len(wanted) or not all(parts):
        raise ClusterError(
            f"\n      terminals: {narrow}\n                 {wide}"
            f"\n      pipe:      {sorted(wanted)}"
        )


def two_views(c, app):
    """`yarn application -status` beside `selvedge inspect`."""
    theirs = peers.client(c, CLI, "application", "-status", app).stdout
    ours = json.loads(c.selvedge("inspect", "--json", app).stdout)
    told = dict(re.findall(r"^\t?([A-Z][\w() -]*?) : ?(.*?)\s*$", theirs, re.M))
    wanted = {
        "Application-Id": ours["id"],
        "Application-Name": ours["name"],
        "Application-Type": ours["type"],
        "User": ours["user"],
        "Queue": ours["queue"].rsplit(".", 1)[-1],
        "State": ours["state"],
        "Final-State": ours["finalStatus"],
        "Start-Time": str(ours["startedTime"]),
        "Finish-Time": str(ours["finishedTime"] or 0),
        "Application Priority": str(ours["scheduling"]["priority"]),
        "Diagnostics": ours["diagnostics"],
    }
    found = {key: told.get(key, "absent") for key in wanted}
    found["Queue"] = found["Queue"].rsplit(".", 1)[-1]
    if found != wanted:
        raise ClusterError(f"{app}: yarn: {found}\nselvedge: {wanted}\n{theirs}")


def two_lists(c):
    """`yarn application -list` beside `selvedge ps`."""
    theirs = peers.client(c, CLI, "application", "-list", "-appStates", "ALL").stdout
    rows = {
        row[0]: [row[1], row[2], row[5], row[6]]
        for row in ([cell.strip() for cell in line.split("\t")] for line in theirs.splitlines())
        if row[0].startswith("application_")
    }
    ours = {
        a["id"]: [a["name"], a["type"], a["state"], a["finalStatus"]]
        for a in json.loads(c.selvedge("ps", "-a", "-o", "json").stdout)
    }
    if rows != ours or not rows:
        raise ClusterError(f"yarn: {rows}\nselvedge: {ours}")


def too_large(c, jobs):
    """More than the cluster's maximum and less than the node has: refused without an id."""
    first = int(jobs.submit("before", "true").rsplit("_", 1)[1])
    done = c.selvedge("run", "--vcores", "5", "--", "true")
    if (
        done.returncode != 2
        or "the cluster allows at most 8192 MiB and 4 vcores" not in done.stderr
        or done.stderr.count("\n") != 1
    ):
        raise ClusterError(f"{done.returncode}: {done.stdout!r} {done.stderr!r}")
    after = int(jobs.submit("after", "true").rsplit("_", 1)[1])
    if after != first + 1:
        raise ClusterError(f"{after - first - 1} ids were used up")


def every_subcommand(c):
    known = subprocess.run(
        [f"{c.prefix}/bin/selvedge", "--help"], capture_output=True, text=True, check=True
    ).stdout
    names = set(re.findall(r"^  (\w+(?: \w+)?)  +\S", known, re.M))
    missing = {
        n
        for n in names - LOCAL
        if not n.startswith(ELSEWHERE)
        and not any(line.split()[: len(n.split())] == n.split() for line in COMMANDS)
    }
    if missing or not names >= LOCAL | {"run", "node list"}:
        raise ClusterError(f"not run: {missing}; of {names}")


def two_views_and_lists(report, c, jobs):
    report.case(f"{c.pairing}: each subcommand of --help is run", every_subcommand, c)
    for app in ("BAD", "RUNS"):
        report.case(
            f"{c.pairing}: yarn application -status and selvedge inspect of {app}",
            two_views,
            c,
            jobs.words[app],
        )
    report.case(f"{c.pairing}: yarn application -list and selvedge ps", two_lists, c)


def run(report, c):
    version = peers.version_of(c.peer_rm) or "selvedge"
    with open(GOLDEN, encoding="utf-8") as f:
        golden = json.load(f)
    jobs = Jobs(c, hadoop.BRIEF)
    if not hadoop.BRIEF:
        two_views_and_lists(report, c, jobs)
    commands = BRIEF if hadoop.BRIEF else COMMANDS
    for i, line in enumerate(commands):
        key = line + " again" * commands[:i].count(line)
        found, entry = jobs.run(line), golden.setdefault(key, {})
        if os.environ.get("COMMAND_LINE_CAPTURE"):
            entry.pop(version, None)
            entry.update(
                {"all": found}
                if version == hadoop.REFERENCE
                else {version: found}
                if found != entry.get("all")
                else {}
            )
        report.check(
            f"{c.pairing}: selvedge {key}",
            found == entry.get(version, entry.get("all")),
            f"\n      now:    {found}\n      golden: {entry.get(version, entry.get('all'))}",
        )
        if line.startswith(LOOKS):
            report.case(
                f"{c.pairing}: selvedge {key}, on terminals", on_terminals, jobs, line, found
            )
    report.case(
        f"{c.pairing}: a container above the maximum is refused without an id", too_large, c, jobs
    )
    if os.environ.get("COMMAND_LINE_CAPTURE"):
        with open(GOLDEN, "w", encoding="utf-8") as f:
            json.dump(golden, f, indent=1, ensure_ascii=False)
            f.write("\n")
