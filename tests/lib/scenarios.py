"""Scenarios of the scheduler (tests/golden/scheduler/*.scenario): played through
tests/interop/scheduler-driver at selvedge-rm or at Apache's ResourceManager, without real nodes.

A scenario: comments, then "conf KEY=VALUE" (yarn.scheduler.capacity. is left out; ' ' is a blank),
then the driver's commands. Short forms: `beat n1 n2 x3` is three rounds over both nodes, `take A B`
and `used A B` are one command each, `ask A 1024,1 3 *` has priority 1 and no id. `refresh
KEY=VALUE...` changes keys of capacity-scheduler.xml ("KEY=" removes one) and refreshes the
queues."""
import glob
import os
import shutil
import subprocess
import tempfile

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
    if command in ("take", "used", "room", "finish", "master"):
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

    def refreshed(self, conf, changes):
        for change in changes:
            key, value = change.split("=", 1)
            key = key if key.startswith("yarn.") else CAPACITY + key
            conf.pop(key, None)
            if value:
                conf[key] = value
        self.queues(conf)

    def play(self, scenario, log=subprocess.DEVNULL):
        """Lines "COMMAND: ANSWER"."""
        lines, conf = [], dict(scenario.conf)
        self.configure(conf)
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
                if command[0] == "refresh":
                    self.refreshed(conf, command[1:])
                driver.stdin.write((command[0] if command[0] == "refresh" else step) + "\n")
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
