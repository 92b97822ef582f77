"""Briefly, the life of a service under one master in one pairing of ResourceManager and nodes: from
its launch by our API server to its end. The definition chooses the master."""
from cluster import ClusterError
from interop import services
from interop.cases.service_life import SLEEP, expect_version, sleeper
from interop.service import Service, kill, processes, ready

MASTERS = {services.OURS: "selvedge", services.APACHE: "hadoop"}


def chosen(master):
    return {"properties": {"selvedge.service.master": MASTERS[master]}}


class Cell:
    def __init__(self, c, master):
        self.c = c
        self.definition = {"configuration": chosen(master), "components": [sleeper(2)]}
        self.s = Service(c, "cell", self.definition, services.OURS)
        self.now = {}  # {instance: container}

    def launched(self):
        self.s.post()
        self.now = self.s.stable({"sleeper": 2})
        expect_version(self.s, self.now, SLEEP)

    def flexed(self):
        for count in (3, 1):
            self.s.put({"number_of_containers": count}, "/components/sleeper")
            found = self.s.stable({"sleeper": count})
            kept = {name: i for name, i in self.now.items() if name in found}
            names = {f"sleeper-{i}" for i in range(count)}
            if set(found) != names or not kept.items() <= found.items():
                raise ClusterError(f"flexed to {count}: {found}, before {self.now}")
            self.now = found

    def killed(self):
        before = self.now["sleeper-0"]
        kill(before)
        self.now = self.s.stable({"sleeper": 1}, without=[before])
        if set(self.now) != {"sleeper-0"}:
            raise ClusterError(f"{self.now}")

    def upgraded(self):
        """By instance, express, and back: each in the containers that are there."""
        self._upgrade("2", 222222, "UPGRADING")
        self.s.until("UPGRADING")
        self.s.put(
            [{"component_instance_name": "sleeper-0", "state": "UPGRADING"}], "/component-instances"
        )
        self.s.wait(lambda status: "sleeper-0" in ready(status), 120, "sleeper-0 is READY again")
        expect_version(self.s, {"sleeper-0": self.now["sleeper-0"]}, 222222)
        self.s.put({"state": "STARTED"})
        self._runs("2", 222222)
        self._upgrade("3", 333333, "EXPRESS_UPGRADING")
        self._runs("3", 333333)
        self._upgrade("4", 444444, "UPGRADING")
        self.s.until("UPGRADING")
        self.s.put({"state": "UPGRADING"}, "/components/sleeper")
        expect_version(self.s, self.now, 444444)
        self.s.put({"state": "CANCEL_UPGRADING"})
        self._runs("3", 333333)

    def _upgrade(self, version, seconds, state):
        new = {"version": version, "state": state, "components": [sleeper(1, seconds)]}
        self.s.put({**self.definition, **new})

    def _runs(self, version, seconds):
        expect_version(self.s, self.now, seconds)
        found, status = self.s.stable({"sleeper": 1}), self.s.status()
        if found != self.now or status["version"] != version:
            raise ClusterError(f"{status['version']}: {found}, before {self.now}")

    def stopped(self):
        self.s.put({"state": "STOPPED"})
        self.s.until("STOPPED")
        self.c.wait(
            lambda: not any(processes(i) for i in self.now.values()), 60, "its processes have ended"
        )
        if ready(self.s.status()):
            raise ClusterError(f"{self.s.status()}")
        answer = self.s.call("DELETE")
        if answer.status != 200 or self.s.call("GET").status != 404:
            raise ClusterError(f"{answer}")


CASES = {
    "launched": Cell.launched,
    "flexed to 3, to 1": Cell.flexed,
    "killed container replaced": Cell.killed,
    "upgraded, express, cancelled": Cell.upgraded,
    "stopped, destroyed": Cell.stopped,
}


def run(report, c, row, masters):
    for master in masters:
        cell = Cell(c, master)
        for name, function in CASES.items():
            if master == services.APACHE and function == Cell.upgraded:
                continue  # minutes, and the row selvedge has it
            if not report.case(f"{row}: {master}'s master: {name}", function, cell):
                cell.s.end()
                break
