"""kill -9 of the NodeManager in a storm of starts, stops, pauses, re-initializations, restarts,
rollbacks, commits and updates of resources: afterwards the ResourceManager, REST, the store,
cgroups, directories and processes agree on what lives, and how. A case of test-nodemanager."""
import collections
import contextlib
import glob
import os
import random
import sqlite3
import threading

from cluster import ClusterError, host
from lib.driven_node import DrivenNode
from lib.message_bus import NAME, MessageBus, path_of
from lib.nm_driver import container
from lib.store_copy import store_copy

KILL_ROUNDS = int(os.environ.get("KILL_ROUNDS") or (8 if os.environ.get("SANITIZE") else 20))
LIVES = ("RUNNING", "PAUSED")
# Containers of a round: 1 … LONG stay, those behind them, BATCH a call, end by themselves.
LONG, LAST, BATCH = 4, 16, 3
REINIT, COMMIT = "reInitializeContainer", "commitLastReInitialization"
ROLLBACK, RESTART = "rollbackLastReInitialization", "restartContainer"
DONE, REFUSED, UNKNOWN = "done", "refused", "unknown"  # nobody has answered


def number_of(name):
    return int(name.rsplit("_", 1)[1])


def exit_code(n):
    return (n - LONG - 1) // BATCH % 7


def outcome(answer):
    if "error" not in answer:
        return REFUSED if answer.get("failed") else DONE
    return REFUSED if answer["class"] else UNKNOWN


class Lasting:
    """What a container that stays may be: more than one thing where the daemon has died before it
    answered."""

    def __init__(self, started):
        self.started, self.stopped = started, REFUSED
        self.names = {("first", None)}  # of the command that runs, and of the one to go back to
        self.memory = {64}
        self.version = self.reinits = 0

    def changed(self, result, method, name):
        after = {
            {
                REINIT: lambda now, before: (name, now),
                RESTART: lambda now, before: (now, before),
                ROLLBACK: lambda now, before: (before, None),
                COMMIT: lambda now, before: (now, None),
            }[method](*pair)
            for pair in self.names
        }
        self.names = self.after(result, self.names, after)

    @staticmethod
    def after(result, before, then):
        return {DONE: then, UNKNOWN: before | then, REFUSED: before}[result]


class Storm(DrivenNode):
    def kill_rounds(self):
        bus, done = MessageBus(self.c), collections.Counter()
        bus.start()
        try:
            self.restarted({"selvedge.nodemanager.dbus": bus.address})
            for number in range(KILL_ROUNDS):
                self.kill_round(number, bus, done)
            self.restarted({"selvedge.nodemanager.dbus": None})
        finally:
            bus.stop()
        print(f"        {dict(done)}", flush=True)
        kinds = ("start", "stop", "Freeze", "Thaw", REINIT, RESTART, ROLLBACK, COMMIT, "update")
        assert KILL_ROUNDS < 8 or all(done[kind] for kind in kinds), done

    def kill_round(self, number, bus, done):
        app, dice = self.new_app(), random.Random(number)
        before, killer = self.mounts(), threading.Timer(dice.random(), self.node.process.kill)
        killer.start()
        lasting, accepted = self.storm(app, dice, bus, done)
        killer.join()
        self.node.start()
        if number % 4 == 3:  # again, while the next daemon reads what the last one has left
            killer = threading.Timer(dice.random() * 0.3, self.node.process.kill)
            killer.start()
            killer.join()
            self.driver.exits(app)  # the registration of that daemon does not count
            self.node.start()
        self.driver.registered()
        said = []

        def agreed():
            said.append(self.difference(app, lasting, accepted))
            return not said[-1]

        try:
            self.wait(agreed, 60, "everybody agrees")
        except ClusterError:
            raise AssertionError(f"round {number}: {said[-1]}") from None
        living = self.living(app)
        self.driver("finish", app)
        self.wait(
            lambda: all(r["told"] for r in self.driver.exits(app).values()), 60, "all have ended"
        )
        for name, row in self.driver.exits(app).items():
            n = number_of(name)
            wanted = {exit_code(n)} if n > LONG else {-107} if n in living else {-105}
            if n <= LONG and lasting[n].stopped == UNKNOWN:
                wanted.add(143)  # stopped, but for the record of it
            assert row["exit"] in wanted, (number, name, row, wanted)
        if number % 5 == 4 or number == KILL_ROUNDS - 1:  # what is deleted takes its time
            self.c.settle(30)
            self.wait(lambda: not self.recorded("1"), 30, "the store has forgotten all")
            assert self.mounts() == before, (number, self.mounts() ^ before)
        self.ended = sum(1 for r in self.driver.exits().values() if r["told"])

    # --- the storm --------------------------------------------------------------------------

    def storm(self, app, dice, bus, done):
        """Until the daemon has died. Returns the containers that stay, and the names of those
        others whose start was acknowledged."""
        lasting, accepted, first, result = {}, set(), LONG + 1, DONE
        while self.node.process.process and result != UNKNOWN:
            n = dice.randint(1, LONG)
            if n not in lasting:
                result = self.start(app, n, 1, self.command("first"), set())
                lasting[n] = Lasting(result)
                kind = "start"
            else:
                kind = dice.choice(
                    ["start", "Freeze", "Thaw", "Thaw", REINIT, REINIT, RESTART, ROLLBACK, COMMIT]
                    + ["update", "update", "stop" if dice.random() < 0.2 else "start"]
                )
                if kind == "start":
                    if first > LAST:
                        continue
                    command = f"read -t {dice.random():.2f} <> <(:); exit {exit_code(first)}"
                    result = self.start(app, first, BATCH, command, accepted)
                    first += BATCH
                else:
                    result = self.change(app, n, lasting[n], kind, dice, bus)
            done[kind] += result == DONE
        return lasting, accepted

    @staticmethod
    def command(name):
        return f"echo {name} >><LOG_DIR>/names; sleep 1000"

    def start(self, app, first, count, command, accepted):
        answer = self.driver.start(app, first, count, self.user, command)
        accepted |= set(answer.get("ok", []))
        return outcome(answer)

    def change(self, app, n, one, kind, dice, bus):
        if kind in ("Freeze", "Thaw"):
            with contextlib.suppress(RuntimeError):
                bus.call(path_of("container", container(app, n)), f"{NAME}.Container", kind)
                return DONE
            return REFUSED
        if kind == "stop":
            result = outcome(self.driver.stop(app, n))
            one.stopped = DONE if DONE in (one.stopped, result) else max(one.stopped, result)
            return result
        if kind == "update":
            one.version += 1
            memory = 64 + dice.randint(1, 16)
            result = outcome(self.driver.update(app, n, self.user, memory, 1, one.version))
            one.memory = one.after(result, one.memory, {memory})
            return result
        one.reinits += 1
        name = f"{n}.{one.reinits}"
        result = outcome(self.driver.change(kind, app, n, False, self.command(name)))
        one.changed(result, kind, name)
        return result

    # --- what everybody says ----------------------------------------------------------------

    def rows(self, app):
        rows = (self.node.get("/ws/v1/node/containers").get("containers") or {}).get(
            "container", []
        )
        return {r["id"]: r for r in rows if r["id"].startswith(container(app, 0)[:-6])}

    def living(self, app):
        return {number_of(name) for name, r in self.rows(app).items() if r["state"] in LIVES}

    def recorded(self, condition):
        """Containers in the store."""
        with store_copy(f"{self.node.dir}/recovery") as db:
            return {name for name, in db.execute(f"SELECT id FROM containers WHERE {condition}")}

    def groups(self):
        leaves = {os.path.basename(path): path for path in self.c.cgroup.leaves()}
        return {name: path for name, path in leaves.items() if name.startswith("container_")}

    def mounts(self):
        """But for what the helper prepares anew for each daemon."""
        with open("/proc/self/mountinfo", encoding="utf-8") as f:
            places = {line.split()[4] for line in f if self.c.root in line}
        return {place for place in places if not place.startswith(self.node.state)}

    def difference(self, app, lasting, accepted):
        """Between the views, or from what may be; "" = none."""
        rows = self.rows(app)
        late = {name: r["state"] for name, r in rows.items() if r["state"] not in (*LIVES, "DONE")}
        live = {name for name, r in rows.items() if r["state"] in LIVES}
        exits = self.driver.exits(app)
        if late or any(number_of(name) > LONG for name in live):
            return f"late: {late}, {live}"
        if not accepted <= set(exits):
            return f"never told: {accepted - set(exits)}"
        places = [f"{d}/usercache/*/appcache/*_{app:04d}/container_*" for d in self.node.local_dirs]
        try:
            of_app = f"app='application_1700000000000_{app:04d}'"
            recorded, groups = self.recorded(f"{of_app} AND done=0"), self.groups()
        except sqlite3.DatabaseError as error:
            return str(error)
        views = {
            "REST": live,
            "ResourceManager": {name for name, r in exits.items() if not r["told"]},
            "store": recorded,
            "cgroups": set(groups),
            "directories": {os.path.basename(d) for place in places for d in glob.glob(place)},
        }
        if any(view != live for view in views.values()):
            return str(views)
        pids = set(self.c.container_processes())
        if not pids <= set(self.c.cgroup.pids()):
            return f"outside cgroups: {[host.describe(p) for p in pids]}"
        for n, one in lasting.items():
            name = container(app, n)
            problem = self.wrong(one, name, rows.get(name), groups.get(name))
            if problem:
                return f"{name}: {problem}"
        return ""

    def wrong(self, one, name, row, group):
        lives = row is not None and row["state"] in LIVES
        if lives and (one.stopped == DONE or one.started == REFUSED):
            return "it lives"
        if not lives:
            return "" if DONE != one.started or one.stopped != REFUSED else "it does not live"
        with open(f"{group}/cgroup.freeze", encoding="ascii") as f:
            if (f.read() == "1\n") != (row["state"] == "PAUSED"):
                return f"cgroup.freeze is not {row['state']}"
        with open(f"{group}/cgroup.procs", encoding="ascii") as f:
            if not f.read():
                return "no process"
        if row["totalMemoryNeededMB"] not in one.memory:
            return f"{row['totalMemoryNeededMB']} MB, not one of {one.memory}"
        if row["state"] == "PAUSED":
            return ""  # perhaps before its command had begun
        log = (
            f"{self.node.log_dirs[0]}/{name.rsplit('_', 2)[0].replace('container', 'application')}"
        )
        with contextlib.suppress(FileNotFoundError):
            with open(f"{log}/{name}/names", encoding="ascii") as f:
                runs = f.read().split()[-1]
            return "" if runs in {now for now, _ in one.names} else f"{runs}: {one.names}"
        return "its command has not begun"
