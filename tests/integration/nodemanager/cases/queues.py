"""A node with a queue of opportunistic containers: what waits, what is killed or paused for a
guaranteed one, what the ResourceManager sheds and promotes, and what is left of that when the
daemon is killed. Cases of test-real-settings."""
import os

from lib.nm_driver import container
from lib.worker_machine import WorkerMachine

QUEUED = int(os.environ.get("QUEUED") or 1000)
GUARANTEED, OPPORTUNISTIC = 1, 2
SCHEDULED, RUNNING, PAUSED = 1, 2, 3  # sub-states
FULL = "Opportunistic container queue is full."
KILLED = "Container Killed to make room for Guaranteed Container."
SHED = "Container De-queued to meet NM queuing limits."
MEMORY = 64


class Queues(WorkerMachine):
    def queues(self, length, room, **more):
        """A node with room for that many containers."""
        self.restart(
            {
                "yarn.nodemanager.resource.memory-mb": room * MEMORY,
                "yarn.nodemanager.resource.cpu-vcores": 2 * room,
                "yarn.nodemanager.opportunistic-containers-max-queue-length": length,
                **more,
            }
        )

    def begin(self, kind, app, first, count=1, memory=MEMORY):
        self.driver("next", 1, kind)
        answer = self.driver.start(app, first, count, self.user, "sleep 1000", memory=memory)
        assert len(answer.get("ok", ())) == count, answer

    def promote(self, app, number, version=1):
        """In the answer to a heartbeat."""
        self.driver("next", 1, GUARANTEED)
        self.driver("rmupdate", app, number, self.user, MEMORY, 1, version)

    def told(self, **wanted):
        """Until a heartbeat tells this of the opportunistic containers."""
        last = {}

        def as_wanted():
            assert self.driver("beats", 60000, 1)["reached"]
            last.update(self.driver("opportunistic")["opportunistic"] or {})
            return all(last.get(k) == v for k, v in wanted.items())

        try:
            self.wait(as_wanted, f"a heartbeat with {wanted}")
        except Exception as e:
            raise AssertionError(f"{last} is not {wanted}") from e

    def sub(self, app, number):
        rows = self.driver.status(app, number)["status"]
        return rows.get(container(app, number), {}).get("sub")

    def becomes(self, app, number, sub):
        self.wait(lambda: self.sub(app, number) == sub, f"{container(app, number)} is {sub}")

    def killed(self, app, number, words):
        """By the scheduler, told to the ResourceManager."""
        name = container(app, number)
        self.wait(
            lambda: self.driver("beats", 60000, 1)["reached"]
            and self.driver.exits().get(name, {}).get("told"),
            f"the end of {name}",
        )
        row = self.driver.exits()[name]
        assert row["exit"] == -108 and words in row["diagnostics"], row

    def for_room(self, app, numbers):
        """Exactly one of them was killed: the others run."""
        (gone,) = [n for n in numbers if self.sub(app, n) != RUNNING]
        self.killed(app, gone, KILLED)
        return gone

    def dies(self):
        self.node.process.kill()
        self.node.start()
        self.driver.registered()

    # --- cases ------------------------------------------------------------------------------

    def opportunistic_queue(self):
        self.queues(QUEUED, 4)
        app, other, last = self.new_app(), self.new_app(), 4 + QUEUED
        self.begin(OPPORTUNISTIC, app, 1, last)
        full = {"running": 4, "memory": 1, "vcores": 4, "wait": -1, "capacity": QUEUED}
        self.told(queued=QUEUED, length=QUEUED, **full)
        for number in range(1, 5):
            self.becomes(app, number, RUNNING)
        assert self.sub(app, last) == SCHEDULED
        self.begin(OPPORTUNISTIC, app, last + 1)
        self.killed(app, last + 1, FULL)
        self.dies()
        self.told(queued=QUEUED, length=QUEUED, **full)
        assert [self.sub(app, n) for n in (1, 4, 5, last)] == [RUNNING] * 2 + [SCHEDULED] * 2
        bean = self.node.get("/jmx?qry=Hadoop:service=NodeManager,name=NodeManagerMetrics")
        (bean,) = bean["beans"]
        assert (
            bean["RunningOpportunisticContainers"],
            bean["AllocatedOpportunisticVCores"],
            bean["ContainersOpportunisticQueued"],
            bean["ContainersGuaranteedQueued"],
        ) == (4, 4, QUEUED, 0), bean
        # one guaranteed container: one makes room, nothing else happens
        self.begin(GUARANTEED, other, 1)
        self.becomes(other, 1, RUNNING)
        self.told(running=3, queued=QUEUED, length=QUEUED)
        first = self.for_room(app, [1, 2, 3, 4])
        # the last one of the queue is promoted
        self.promote(app, last)
        self.becomes(app, last, RUNNING)
        self.told(running=2, queued=QUEUED - 1, length=QUEUED - 1)
        self.for_room(app, [n for n in (1, 2, 3, 4) if n != first])
        # room comes free: the first one of the queue
        self.driver.stop(other, 1)
        self.becomes(app, 5, RUNNING)
        # the promotion and the queue survive the daemon
        self.dies()
        self.told(running=3, queued=QUEUED - 2, length=QUEUED - 2)
        assert self.sub(app, last) == RUNNING
        self.driver("queue-limit", 2)
        self.told(running=3, queued=2, length=2)
        self.driver("queue-limit", -2)
        for number in (8, last - 1):
            self.killed(app, number, SHED)
        assert [self.sub(app, n) for n in (6, 7)] == [SCHEDULED] * 2
        # a queued one that its master stops
        assert self.driver.stop(app, 6)["ok"]
        self.told(running=3, queued=1)
        self.wait(lambda: self.driver.exits()[container(app, 6)]["told"], "its end")
        assert self.driver.exits()[container(app, 6)]["exit"] == -105
        self.driver("next", 1, GUARANTEED)
        for a in (app, other):
            self.driver("finish", a)
        self.c.settle()

    def paused_for_guaranteed(self):
        pause = {"yarn.nodemanager.opportunistic-containers-use-pause-for-preemption": "true"}
        self.queues(4, 2, **pause)
        app, other = self.new_app(), self.new_app()
        self.begin(OPPORTUNISTIC, app, 1, 3)
        for number in (1, 2):
            self.becomes(app, number, RUNNING)
        self.begin(GUARANTEED, other, 1, memory=2 * MEMORY)
        self.becomes(other, 1, RUNNING)
        assert [self.sub(app, n) for n in (1, 2, 3)] == [PAUSED, PAUSED, SCHEDULED]
        self.told(running=0, queued=3, length=3)
        self.dies()
        self.told(running=0, queued=3, length=3)
        assert [self.sub(app, n) for n in (1, 2, 3)] == [PAUSED, PAUSED, SCHEDULED]
        assert self.driver.stop(other, 1)["ok"]
        for number in (1, 2):
            self.becomes(app, number, RUNNING)
        assert self.sub(app, 3) == SCHEDULED
        self.driver("next", 1, GUARANTEED)
        for a in (app, other):
            self.driver("finish", a)
        self.c.settle()

    def no_queue(self):
        """Hadoop's default: guaranteed containers start by the ResourceManager's word, without a
        count of the node's room; opportunistic ones are not accepted."""
        self.queues(0, 1)
        app = self.new_app()
        self.begin(GUARANTEED, app, 1, 3)
        self.wait(lambda: len(self.running()) == 3, "three on a node of one")
        self.begin(OPPORTUNISTIC, app, 4)
        self.killed(app, 4, FULL)
        self.driver("next", 1, GUARANTEED)
        self.driver("finish", app)
        self.c.settle()
