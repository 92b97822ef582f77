"""Scenarios of the scheduler (tests/golden/scheduler/*.scenario): played through
tests/interop/scheduler-driver at selvedge-rm or at Apache's ResourceManager, without real nodes.

A scenario: comments, then "conf KEY=VALUE" (yarn.scheduler.capacity. is left out; ' ' is a blank),
then the driver's commands. Short forms: `beat n1 n2 x3` is three rounds over both nodes, `take A B`
and `used A B` are one command each, `ask A 1024,1 3 *` has priority 1 and no id. `refresh
KEY=VALUE...` changes keys of capacity-scheduler.xml ("KEY=" removes one) and refreshes the
queues. `drain n1` puts the node into the exclude list and decommissions it gracefully.

By REST: `watch A` asks for records of A's visits, `why A` is the last of them, and Hadoop's words
of A's diagnostics; `look n1` asks for a record of the node's next visit, `seen n1` is its tree;
`bulk 2 n1` asks for the next two visits, and the node beats until the answer is there."""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import urllib.request

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GOLDEN = f"{TOP}/tests/golden/scheduler"
CAPACITY = "yarn.scheduler.capacity."
BASE = {
    CAPACITY
    + "resource-calculator": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
    CAPACITY + "maximum-am-resource-percent": "1",
    CAPACITY
    + "schedule-asynchronously.enable": "false",  # Hadoop 3.5.0 has true, at moments of its own
    CAPACITY + "node-locality-delay": "-1",
}
# Hadoop's sentences of an application that waits; what ours says beside them is not compared.
WORDS = (
    "Application is added to the scheduler and is not yet activated.",
    "Application is Activated, waiting for resources to be assigned for AM.",
    "Queue's AM resource limit exceeded.",
    "User's AM resource limit exceeded.",
    "Skipping AM assignment as cluster resource is empty.",
    "User capacity has reached its maximum limit.",
    "Skipped scheduling for this Node as its black listed.",
    "Skipping assigning to Node as request locality is not matching.",
    "Scheduler has assigned a container for AM, waiting for AM container to be launched",
    "AM container is launched, waiting for AM container to Register with RM",
)
USERS = ("yarn", "ann", "bob", "cid", "dan", "eve")


class Scenario:
    def __init__(self, path):
        self.name = os.path.basename(path)[: -len(".scenario")]
        self.conf, self.steps = dict(BASE), []
        with open(path, encoding="utf-8") as file:
            for line in file:
                line = line.split("# ")[0].strip()
                if line.startswith("conf "):
                    key, value = line[5:].split("=", 1)
                    self.conf[key if key.startswith("yarn.") else CAPACITY + key] = value.strip("'")
                elif line and line != "#":
                    self.steps += expand(line.split())


def expand(words):
    command, rest = words[0], words[1:]
    if command == "beat":
        times = int(rest.pop()[1:]) if rest[-1].startswith("x") else 1
        return [f"beat {node}" for _ in range(times) for node in rest]
    if command in ("take", "used", "room", "finish", "master", "watch", "why", "look", "seen"):
        return [f"{command} {name}" for name in rest]
    if command == "ask" and "," in rest[1]:
        rest[1:1] = ["1", "-1"]
    return [" ".join([command, *rest])]


def all_scenarios(names=()):
    paths = sorted(glob.glob(f"{GOLDEN}/*.scenario"))
    return [
        Scenario(path)
        for path in paths
        if not names or os.path.basename(path)[: -len(".scenario")] in names
    ]


def write_xml(path, keys):
    def escaped(text):
        return str(text).replace("&", "&amp;").replace("<", "&lt;")

    with open(path, "w", encoding="utf-8") as file:
        file.write("<configuration>\n")
        for key, value in keys.items():
            file.write(
                f"<property><name>{escaped(key)}</name><value>{escaped(value)}</value></property>\n"
            )
        file.write("</configuration>\n")


BY_REST = ("watch", "why", "look", "seen")


def one(row):
    """ "STATE (diagnostic)" without amounts."""
    diagnostic = row.get("diagnostic", "").split("\n")[0]
    diagnostic = re.sub(r", unsatisfied PC .*", "", diagnostic)
    return row["allocationState"] + (f" ({diagnostic})" if diagnostic else "")


def node(row):
    return f"n{row['nodeId'].split(':')[0].rsplit('.', 1)[1]} {one(row)}"


def visit(row):
    """An application's visit: its state, those of its requests, and of the node for each."""
    requests = [
        " ".join(
            [f"{r['requestPriority']}/{r['allocationRequestId']}", one(r)]
            + [f"[{node(c)}]" for c in r.get("children", [])]
        )
        for r in row.get("children", [])
    ]
    return "; ".join([one(row), *requests])


def told(allocation, names):
    """The tree of a node's visit, flat, with the names of applications."""

    def flat(row):
        name = row.get("name", "")
        name = "" if "ontainer" in name else names.get(name, name)
        below = [flat(r) for r in row.get("children", [])]
        text = f"{name} {one(row)}".strip()
        return text + (f" {{{', '.join(below)}}}" if below else "")

    text = f"{allocation['finalAllocationState']}: {flat(allocation['root'])}"
    return re.sub("|".join(names) or "$", lambda m: names[m.group()] if m.group() else "", text)


class Peer:
    """A ResourceManager with its configuration directory. `start`, `settle`, `stop`: functions."""

    def __init__(self, build, ports, start, settle, stop):
        self.build, self.ports, self.start, self.settle, self.stop = (
            build,
            ports,
            start,
            settle,
            stop,
        )
        self.dir = tempfile.mkdtemp(prefix="selvedge-scenarios-")
        # Of the driver's nodes 127.0.1.K: the first four in one rack, the others in another.
        # Constant, as Hadoop reads it once.
        with open(f"{self.dir}/racks", "w", encoding="utf-8") as file:
            file.writelines(f"127.0.1.{k} /r{1 if k < 5 else 2}\n" for k in range(1, 10))

    def configure(self, conf):
        names = (
            "address",
            "resource-tracker.address",
            "scheduler.address",
            "admin.address",
            "webapp.address",
        )
        site = {
            f"yarn.resourcemanager.{name}": f"127.0.0.1:{port}"
            for name, port in zip(names, self.ports)
        }
        site.update(
            {
                "yarn.resourcemanager.recovery.enabled": "false",
                "yarn.resourcemanager.hostname": "127.0.0.1",
                "yarn.resourcemanager.nodes.exclude-path": f"{self.dir}/exclude",
                "selvedge.rm.schedule-on-ask": "false",
                "selvedge.rm.unprotected-nodes": "127.0.0.0/8",
                "selvedge.rm.registration.ip-hostname-check": "false",
                "selvedge.rm.state-dir": f"{self.dir}/state",
            }
        )
        site.update({k: v for k, v in conf.items() if not k.startswith(CAPACITY)})
        write_xml(f"{self.dir}/yarn-site.xml", site)
        write_xml(
            f"{self.dir}/core-site.xml",
            {
                "fs.defaultFS": "file:///",
                "hadoop.tmp.dir": self.dir,
                "net.topology.node.switch.mapping.impl": "org.apache.hadoop.net.TableMapping",
                "net.topology.table.file.name": f"{self.dir}/racks",
                "hadoop.user.group.static.mapping.overrides": ";".join(
                    f"{user}=" for user in USERS
                ),
            },
        )
        self.queues(conf)

    def queues(self, conf):
        keys = {k: v for k, v in conf.items() if k.startswith(CAPACITY)}
        if CAPACITY + "root.queues" not in keys:
            keys.update(
                {CAPACITY + "root.queues": "default", CAPACITY + "root.default.capacity": "100"}
            )
        write_xml(f"{self.dir}/capacity-scheduler.xml", keys)

    def close(self):
        shutil.rmtree(self.dir)

    def exclude(self, nodes):
        with open(f"{self.dir}/exclude", "w", encoding="utf-8") as file:
            file.writelines(f"127.0.1.{node[1:]}\n" for node in nodes)

    def refreshed(self, conf, changes):
        for change in changes:
            key, value = change.split("=", 1)
            key = key if key.startswith("yarn.") else CAPACITY + key
            conf.pop(key, None)
            if value:
                conf[key] = value
        self.queues(conf)

    # ---- Over REST ----

    def rest(self, path):
        url = f"http://127.0.0.1:{self.ports[4]}/ws/v1/cluster{path}"
        request = urllib.request.Request(url, headers={"Accept": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def names(self):
        """{id: name} of the applications."""
        return {a["id"]: a["name"] for a in (self.rest("/apps")["apps"] or {}).get("app", [])}

    def asked(self, word, name):
        """The answer to one of BY_REST."""
        if word in ("look", "seen"):
            found = self.rest(f"/scheduler/activities?nodeId=127.0.1.{name[1:]}")["activities"]
            if word == "look":
                return "ok"
            trees = [told(a, self.names()) for a in found.get("allocations", [])]
            return " -- ".join(trees) or found["diagnostic"]
        app = next(i for i, n in self.names().items() if n == name)
        path = f"/scheduler/app-activities/{app}?actions="
        if word == "watch":
            self.rest(path + "refresh&maxTime=600")
            return "ok"
        found = self.rest(path + "get&limit=1")["appActivities"]
        visits = [visit(v) for v in found.get("allocations", [])] or [found["diagnostic"]]
        said = self.rest(f"/apps/{app}")["app"].get("diagnostics", "")
        return " ".join([*visits, "--", *(w for w in WORDS if w in said)])

    def bulk(self, count, beat):
        """The different trees of a bulk answer."""
        path = f"/scheduler/bulk-activities?activitiesCount={count}"
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            answer = pool.submit(self.rest, path)
            while not answer.done():
                beat()
        found = answer.result()["bulkActivities"]["activities"]
        trees = [told(a, self.names()) for v in found for a in v["allocations"]]
        return " -- ".join([f"{len(found) >= int(count)}", *dict.fromkeys(trees)])

    def play(self, scenario, log=subprocess.DEVNULL):
        """Lines "COMMAND: ANSWER"."""
        lines, conf = [], dict(scenario.conf)
        self.pages = any(step.split()[0] in (*BY_REST, "bulk") for step in scenario.steps)
        self.configure(conf)
        self.exclude([])
        self.start()
        driver = subprocess.Popen(
            [f"{self.build}/tests/interop/scheduler-driver", *map(str, self.ports[:4])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            for step in scenario.steps:
                command = step.split()
                if command[0] == "bulk":

                    def beat(node=command[2]):
                        driver.stdin.write(f"beat {node}\n")
                        driver.stdin.flush()
                        driver.stdout.readline()
                        self.settle()

                    lines.append(f"{step}: {self.bulk(command[1], beat)}")
                    continue
                if command[0] in BY_REST:
                    lines.append(f"{step}: {self.asked(*command)}")
                    continue
                if command[0] == "refresh":
                    self.refreshed(conf, command[1:])
                if command[0] == "drain":
                    self.exclude(command[1:])
                short = command[0] in ("refresh", "drain")
                driver.stdin.write((command[0] if short else step) + "\n")
                driver.stdin.flush()
                answer = driver.stdout.readline()
                self.settle()
                lines.append(f"{step}: {answer.strip()}")
                if not answer or answer.startswith("driver: "):
                    break
        finally:
            driver.stdin.close()
            driver.wait(60)
            driver.stdout.close()
            self.stop()
        return lines
