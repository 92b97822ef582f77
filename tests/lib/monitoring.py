"""Series of our own on a daemon's /metrics, and the dashboard and alert rules of
packaging/monitoring, which ask for them. Checks go to the caller's report; promtool is used where
it is."""
import json
import os
import re
import shutil
import subprocess
import urllib.request

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MONITORING = f"{TOP}/packaging/monitoring"
OURS = re.compile(r"(selvedge|process)_")
WORDS = set(
    "and or unless on ignoring by without group_left group_right bool offset inf nan".split()
)
SCRAPED = {"instance", "job"}  # labels that Prometheus adds
KERBEROS = re.compile(r"selvedge_(kerberos|hdfs_token)_")  # there in a cluster with Kerberos alone
# Series of programs that a cluster need not have: their own tests look at them.
APART = re.compile(r"selvedge_(federation|router|services)_")


def scrape(url):
    with urllib.request.urlopen(f"{url}/metrics", timeout=30) as answer:
        return answer.read().decode()


def series(text):
    """{name: labels of its values}, a histogram's by its three names."""
    found = {}
    for line in text.splitlines():
        match = re.match(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$", line)
        if match:
            labels = set(re.findall(r"(\w+)=\"", match.group(2) or ""))
            found.setdefault(match.group(1), set()).update(labels)
    return found


def wrong_name(name, kind):
    """The rules of promtool check metrics that do not need it."""
    return (
        not re.fullmatch(r"[a-z][a-z0-9_]*", name)
        or name.endswith("_total") != (kind == "counter")
        or re.search(r"_(count|sum|bucket|info_total|ms|milliseconds|kb|mb|percent)$", name)
        or (kind == "histogram" and not name.endswith("_seconds"))
        or kind in name.split("_")
    )


def lint(report, name, text):
    """promtool on the lines of our own series."""
    lines = [
        line
        for line in text.splitlines()
        if OURS.match(line.split(" ", 3)[2] if line.startswith("#") else line)
    ]
    report.check(f"{name}: it has series of our own", len(lines) > 30, str(len(lines)))
    helps = [line.split(" ", 3) for line in lines if line.startswith("# HELP")]
    types = dict(line.split()[2:4] for line in lines if line.startswith("# TYPE"))
    helped = {words[2] for words in helps if len(words) == 4 and words[3]}
    report.check(f"{name}: each has a help", set(types) == helped, str(set(types) ^ helped))
    wrong = [n for n, kind in types.items() if wrong_name(n, kind)]
    report.check(f"{name}: names as promtool wants them", not wrong, str(wrong))
    report.check(f"{name}: none twice", len(types) == len(helps))
    if shutil.which("promtool"):
        run = subprocess.run(
            ["promtool", "check", "metrics"],
            input="\n".join(lines) + "\n",
            capture_output=True,
            text=True,
            timeout=60,
        )
        said = run.stdout + run.stderr
        report.check(f"{name}: promtool has no complaint", run.returncode == 0 and not said, said)


def expressions():
    """(where, PromQL) of the dashboard and the rules."""
    with open(f"{MONITORING}/selvedge-dashboard.json", encoding="utf-8") as file:
        board = json.load(file)
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]
            for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                yield f"{panel['title']}, its legend", f"sum by ({label}) ({target['expr']})"
    for variable in board["templating"]["list"]:
        match = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"])
        if match:
            yield variable["name"], f"sum by ({match.group(2)}) ({match.group(1)})"
    with open(f"{MONITORING}/selvedge.rules.yml", encoding="utf-8") as file:
        text = file.read()
    for rule in re.split(r"^      - alert: ", text, flags=re.MULTILINE)[1:]:
        expr = re.search(r"expr: (?:\|\n)?((?:.|\n)*?)\n        (?:for|labels):", rule).group(1)
        yield rule.split("\n")[0], expr


def uses(expr):
    """[(name, labels matched)], labels grouped by."""
    grouped = set()
    for names in re.findall(r"\b(?:by|on|without|ignoring) ?\(([^)]*)\)", expr):
        grouped |= {name.strip() for name in names.split(",")}
    rest = re.sub(r"\b(?:by|on|without|ignoring) ?\([^)]*\)", " ", expr)
    rest = re.sub(r"\[[^]]*\]", " ", rest)
    found = []
    for name, labels in re.findall(r"\b([a-zA-Z_:][\w:]*)\b(?!\s*\()(?:\{([^}]*)\})?", rest):
        if name.lower() not in WORDS and not re.search(rf"[{{,][^{{}}]*\b{name}\b *[=!]", rest):
            found.append((name, set(re.findall(r"(\w+) *[=!]", labels))))
    return found, grouped


def queries(report, live, apart=False):
    """Of the dashboard and the rules: those without series that stand apart, or those with them
    that `live` has some of."""
    for where, expr in expressions():
        names, grouped = uses(expr)
        mine = [name for name, _ in names if APART.match(name)]
        if apart != bool(mine) or (apart and not set(mine) & set(live)):
            continue
        wrong = [] if names else ["no series at all"]
        there = set(SCRAPED)
        for name, labels in names:
            if KERBEROS.match(name):
                continue
            if name not in live:
                wrong.append(f"no series {name}")
            wrong += [f"{name} has no label {l}" for l in labels - live.get(name, set()) - SCRAPED]
            there |= live.get(name, set())
        wrong += [f"no label {label} to group by" for label in grouped - there]
        report.check(f"{where}: {expr.split(chr(10))[0][:60]}", not wrong, "; ".join(wrong))
    if shutil.which("promtool"):
        run = subprocess.run(
            ["promtool", "check", "rules", f"{MONITORING}/selvedge.rules.yml"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        report.check("promtool reads the rules", run.returncode == 0, run.stdout + run.stderr)


def check(report, texts):
    """Lints the texts of /metrics, {name: text}; returns {series: labels} of all."""
    live = {}
    for name, text in texts.items():
        lint(report, name, text)
        for key, labels in series(text).items():
            live.setdefault(key, set()).update(labels)
    report.check("a query of a series that is not there is found", "nosuch" not in live)
    return live
