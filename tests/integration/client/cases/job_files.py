"""submit -F and run -F: groups of different sizes, environment, files, retries of a killed
container, containers at a time, only what failed. Cases of test-cli."""
import json
import os
import re

from lib.golden_output import mask
from lib.submitted_jobs import expect, running, says

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../docs/job-file.md")
GROUPS = """\
name: two groups
retries: 1
at-once: 3
environment:
  STAGE: night
  OWN: the job's
files: [data/input.txt#words]
groups:
- name: reader
  command: [cat, words, --, "$STAGE {{x}} <LOG_DIR>"]
- name: count
  command: |
    echo "$SELVEDGE_GROUP $SELVEDGE_INSTANCE of $SELVEDGE_INSTANCES, $STAGE, $OWN, $(cat own words)"
  instances: 2
  memory: 192m
  vcores: 2
  environment: {OWN: mine}
  files: [data/own.txt#own]
"""
KILLED = """\
retries: 1
groups:
- name: victim
  command: |
    mark=${LOCAL_DIRS%%,*}/mark
    test ! -e $mark || exec echo once more
    touch $mark
    exec sleep 600
"""
ONE_BY_ONE = """\
at-once: 2
groups:
- name: a
  instances: 3
  at-once: 1
  command: &
- name: b
  instances: 2
  command: &
""".replace(
    "&", "date +%s%N; sleep 0.3; date +%s%N"
)
PARTS = """\
groups:
- name: parts
  instances: 4
  command: echo part $SELVEDGE_INSTANCE of $SELVEDGE_INSTANCES; exit $((SELVEDGE_INSTANCE % 2 * 5))
- name: good
  command: exit 0
"""
LINE = "instance {}, parts {}, on NODE: exit code 5"


def place(c, **files):
    """A directory of the user's with these files; its path."""
    top = f"{c.root}/tmp/job-files"
    if not os.path.isdir(top):
        c.user_dir("job-files")
    os.makedirs(f"{top}/data", exist_ok=True)
    for name, text in {"data/input.txt": "words\n", "data/own.txt": "own\n", **files}.items():
        with open(f"{top}/{name.replace('__', '.')}", "w", encoding="utf-8") as f:
            f.write(text)
    return top


def table(c, app):
    return json.loads(c.selvedge("ps", app, "-o", "json").stdout)["containers"]


def groups_of_sizes(c):
    top = place(c, groups__yaml=GROUPS)
    done = c.selvedge("run", "-F", f"{top}/groups.yaml", "--no-headers")
    expect(f"exit code ({done.stderr})", done.returncode, 1)  # cat has no file of that name
    app = re.search(r"(application_\d+_\d+) submitted: 3 containers in 2 groups", done.stderr)[1]
    expect(
        "output",
        sorted(done.stdout.splitlines()),
        [
            "[0] words",
            "[0] words",  # of the retry
            "[1] count 0 of 2, night, mine, own",
            "[1] words",
            "[2] count 1 of 2, night, mine, own",
            "[2] words",
        ],
    )
    expect(
        "a program's arguments", "cat: '$STAGE {{x}} <LOG_DIR>': No such file" in done.stderr, True
    )
    shown = mask(c.selvedge("ps", app).stdout)
    expect(
        "the table",
        [re.sub(r" (PEAK|SIZE|-) TIME TIME TIME$", "", line) for line in shown],
        [
            "APP two groups user USER, queue root.default, FINISHED FAILED: exit code 1: 1 of 3 "
            "instances failed, first instance 0, reader 0 (CONTAINER on NODE) with 1",
            "INSTANCE GROUP NUMBER CONTAINER NODE STATE EXIT PEAK MEM CPU TIME LOCALIZE LAUNCH",
            " 0 reader 0 CONTAINER NODE DONE 1",
            " 1 count 0 CONTAINER NODE DONE 0",
            " 2 count 1 CONTAINER NODE DONE 0",
            "instance 0, reader 0, on NODE: exit code 1",
            " cat: '$STAGE {{x}} <LOG_DIR>': No such file or directory",
        ],
    )
    rows = table(c, app)
    expect("tries", [row["tries"] for row in rows], [2, 1, 1])
    expect(
        "fields",
        c.selvedge("ps", app, "-o", "group,number", "--no-headers").stdout,
        "reader\t0\ncount\t0\ncount\t1\n",
    )
    expect(
        "name", json.loads(c.selvedge("app", "status", app, "--json").stdout)["name"], "two groups"
    )


def documented(c):
    """The example of docs/job-file.md."""
    with open(PAGE, encoding="utf-8") as f:
        example = re.search(r"```yaml\n(.*?)```", f.read(), re.S)[1]
    top = place(c, nightly__yaml=example, words__txt="b\na\nb\n" * 8)
    done = c.selvedge("run", "-F", f"{top}/nightly.yaml")
    expect(f"exit code ({done.stderr})", done.returncode, 0)
    lines = done.stdout.splitlines()
    expect("its first group", [line for line in lines if line[:3] == "[0]"], ["[0] a", "[0] b"])
    expect("its second", [line.split("] ")[1] for line in lines if line[:3] != "[0]"], ["3"] * 8)
    says(
        c.selvedge("submit", "-F", f"{top}/nightly.yaml", "--rerun", "@last"),
        2,
        "all of its 9 instances ended with 0",
    )


def killed_and_retried(c):
    top = place(c, killed__yaml=KILLED)
    done = c.selvedge("submit", "-F", f"{top}/killed.yaml", "--quiet")
    app = done.stdout.strip()
    expect(f"submitted ({done.stderr})", bool(re.fullmatch(r"application_\d+_\d+", app)), True)
    running(c, app)
    first = table(c, app)[0]["container"]
    says(c.selvedge("kill", first), 0, f"{first} is over")
    says(c.selvedge("wait", app), 0, "SUCCEEDED")
    row = table(c, app)[0]
    expect(
        "retried",
        (row["tries"], row["exitCode"], row["group"], row["container"] != first),
        (2, 0, "victim", True),
    )
    expect("its output", "once more\n" in c.selvedge("logs", app).stdout, True)
    expect(
        "its name", json.loads(c.selvedge("app", "status", app, "--json").stdout)["name"], "killed"
    )


def at_most(c):
    """Of a group one at a time, of all two."""
    top = place(c, steps__yaml=ONE_BY_ONE)
    done = c.selvedge("run", "-F", f"{top}/steps.yaml", "--quiet")
    expect(f"exit code ({done.stderr})", done.returncode, 0)
    times = {}
    for line in done.stdout.splitlines():
        number, time = line.split("] ")
        times.setdefault(number[1:], []).append(int(time))
    expect("instances", sorted(times), ["0", "1", "2", "3", "4"])

    def most(numbers):
        moments = sorted((t, end) for n in numbers for end, t in zip((1, -1), times[n]))
        return max(sum(step for t, step in moments if t <= at) for at, _ in moments)

    expect("of group a", most("012"), 1)
    expect("of all", most("01234") <= 2, True)


def only_what_failed(c):
    top = place(c, parts__yaml=PARTS)
    done = c.selvedge("run", "-F", f"{top}/parts.yaml")
    expect("exit code", done.returncode, 5)
    app = re.search(r"application_\d+_\d+", done.stderr)[0]
    for line in (LINE.format(1, 1), LINE.format(3, 3)):
        expect(line, line in mask(done.stderr), True)
    place(c, parts__yaml=PARTS.replace("; exit $((SELVEDGE_INSTANCE % 2 * 5))", ""))
    again = c.selvedge("run", "-F", f"{top}/parts.yaml", "--rerun", app)
    expect(f"exit code of the rest ({again.stderr})", again.returncode, 0)
    expect("only those", sorted(again.stdout.splitlines()), ["[0] part 1 of 4", "[1] part 3 of 4"])
    second = re.search(r"application_\d+_\d+", again.stderr)[0]
    expect(
        "their numbers",
        [(row["group"], row["number"]) for row in table(c, second)],
        [("parts", 1), ("parts", 3)],
    )
    says(
        c.selvedge("submit", "-F", f"{top}/parts.yaml", "--rerun", second),
        2,
        f"submit: --rerun {second}: all of its 2 instances ended with 0",
    )
    place(c, parts__yaml=PARTS.replace("instances: 4", "instances: 2"))
    says(
        c.selvedge("submit", "-F", f"{top}/parts.yaml", "--rerun", app),
        2,
        "2 of its instances failed, of which this job has 1",
    )
    says(
        c.selvedge("submit", "--rerun", "none such", "--", "true"), 1, "no application has this id"
    )


def wrong_files(c):
    top = place(c, bad__yaml="groups:\n- name: a\n  command: x\n  memroy: 1g\n", no__yaml="a: [")
    for file, words in (
        ("bad.yaml", "bad.yaml: line 4: groups[0].memroy: no such key; is memory meant?"),
        ("no.yaml", "no.yaml: line 2: did not find expected node content"),
        ("none.yaml", "none.yaml: No such file or directory"),
    ):
        done = c.selvedge("submit", "-F", f"{top}/{file}")
        says(done, 2, words)
        expect("one line", (done.stdout, done.stderr.count("\n")), ("", 1))
    place(c, bad__yaml="groups:\n- name: a\n  command: x\n  files: [none]\n")
    says(c.selvedge("run", "-F", f"{top}/bad.yaml"), 2, f"bad.yaml: files {top}/none: No such file")
    place(c, bad__yaml="groups:\n- name: big\n  command: x\n  vcores: 5\n")
    says(
        c.selvedge("run", "-F", f"{top}/bad.yaml"),
        2,
        "run: a container of group big of 256 MiB and 5 vcores: the cluster allows at most",
    )
    says(c.selvedge("run", "-F", f"{top}/bad.yaml", "--", "true"), 2, "set them there")
    says(c.selvedge("run", "-F", f"{top}/bad.yaml", "-n", "2"), 2, "set them there")


CASES = [
    ("job file: groups", groups_of_sizes),
    ("job file: the page's example", documented),
    ("job file: a killed container", killed_and_retried),
    ("job file: at once", at_most),
    ("job file: --rerun", only_what_failed),
    ("job file: wrong ones", wrong_files),
]
