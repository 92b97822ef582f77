"""A step of the demo: a long-running service, of which everything is killed in turn."""
import json
import os
import signal
import time

from cluster.node import http_json

DEFINITION = {
    "name": "shop",
    "version": "1",
    "components": [
        {
            "name": "web",
            "number_of_containers": 3,
            "launch_command": "exec sleep 5555",
            "resource": {"cpus": 1, "memory": "32"},
        }
    ],
}


def processes(word, *more):
    """Pids of the processes whose command line begins with these words, the first by its end."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().decode(errors="replace").split("\0")
        except OSError:
            continue
        if words[0].endswith(word) and words[1 : 1 + len(more)] == list(more):
            found.append(int(pid))
    return sorted(found)


class Shop:
    def __init__(self, c):
        self.c = c

    def launch(self):
        path = f"{self.c.user_dir('shop')}/shop.json"
        with open(path, "w", encoding="utf-8") as f:
            json.dump(DEFINITION, f)
        return self.c.selvedge("service", "launch", "--wait=60", path)

    def containers(self):
        """{instance: container} while the master answers, else None."""
        said = self.c.selvedge("--json", "service", "instances", "--states", "READY", "shop")
        rows = json.loads(said.stdout) if said.returncode == 0 else None
        return rows if rows is None else {row["instance"]: row["container"] for row in rows}

    def whole(self, wanted=None):
        """Three instances, in these containers."""
        now = self.containers()
        return now and len(now) == 3 and wanted in (None, now) and now

    def attempt(self):
        """The number of the master's attempt; None: the ResourceManager does not answer."""
        rows = json.loads(self.c.selvedge("--json", "ps", "--type", "yarn-service").stdout or "[]")
        return rows[0]["attempt"] if rows else None


def instance_killed(c, shop):
    before = shop.containers()
    os.kill(processes("sleep", "5555")[0], signal.SIGKILL)

    def replaced():
        now = shop.whole()
        return now and sum(now[name] != before.get(name) for name in now) == 1

    c.wait(replaced, 30, "an instance is replaced")


def master_killed(c, shop):
    before, attempt = shop.containers(), shop.attempt()
    for pid in processes("selvedge-service-am"):
        os.kill(pid, signal.SIGKILL)
    c.wait(
        lambda: shop.attempt() not in (None, attempt) and shop.whole(before), 30, "another master"
    )


def node_killed(c, shop):
    before = shop.containers()
    c.nodes[0].process.kill()
    c.nodes[0].start()

    def back():
        try:
            said = http_json(f"{c.nodes[0].url}/ws/v1/node/containers")
        except (OSError, ValueError):
            return False
        rows = (said.get("containers") or {}).get("container", [])
        there = {row["id"] for row in rows if row["state"] == "RUNNING"}
        return set(before.values()) <= there and shop.whole(before)

    c.wait(back, 30, "the NodeManager is back")


def rm_killed(c, shop):
    before = shop.containers()
    c.rm.kill()
    c.start_rm()
    c.wait_nodes()
    c.wait(lambda: shop.whole(before), 30, "the ResourceManager is back")


STEPS = (
    ("an instance: it is replaced, under its name", instance_killed, False),
    ("its master: another one takes over the instances", master_killed, True),
    ("the NodeManager", node_killed, True),
    ("the ResourceManager", rm_killed, True),
)


def survive(c, title, holds):
    title("A long-running service, and kill -9 of everything in turn")
    print("  $ selvedge service launch --wait shop.json", flush=True)
    c.services.start()
    shop = Shop(c)
    said = shop.launch()
    holds("three instances are ready", said.returncode == 0 and shop.whole(), said.stderr.strip())
    for what, kill, same in STEPS:
        before, began = processes("sleep", "5555"), time.monotonic()
        kill(c, shop)
        took = f"whole again after {time.monotonic() - began:.1f} s"
        after = processes("sleep", "5555")
        kept = len(set(before) & set(after))
        holds(
            f"it survives the kill of {what}",
            kept == (3 if same else 2) and len(after) == 3,
            f"{took}, {kept} of 3 processes are the same",
        )
    said = c.selvedge("service", "destroy", "shop")
    holds("selvedge service destroy ends it", said.returncode == 0, said.stderr.strip())
    c.wait(lambda: not processes("sleep", "5555"), 30, "its processes end")
    c.services.stop()
