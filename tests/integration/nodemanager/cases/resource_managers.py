"""Other ResourceManagers, other keys and other attempts than those that containers began with.
Cases of test-nodemanager."""
import contextlib
import os
import time

from cluster import host
from lib.driven_node import DrivenNode
from lib.nm_driver import INVALID_TOKEN, YARN, Driver, container

RM_AWAY = float(os.environ.get("RM_AWAY") or 60)  # seconds
RM = "yarn.resourcemanager."
RUNNING, COMPLETE = 2, 3


class ResourceManagers(DrivenNode):
    def both_away(self):
        """Of two ResourceManagers the active one goes, and the other one comes after RM_AWAY:
        containers run on and end meanwhile, and it is told of all of them."""
        app, port = self.new_app(), host.free_port()
        site = {
            RM + "ha.enabled": "true",
            RM + "ha.rm-ids": "rm1,rm2",
            RM + "cluster-id": "cluster",
            RM + "resource-tracker.address.rm1": f"127.0.0.1:{self.c.ports['tracker']}",
            RM + "resource-tracker.address.rm2": f"127.0.0.1:{port}",
            "yarn.client.failover-sleep-base-ms": "50",
            "yarn.client.failover-sleep-max-ms": "500",
        }
        self.restarted(site)
        log = f"{self.node.log_dirs[0]}/application_1700000000000_{app:04d}/{container(app, 2)}"
        self.driver.start(app, 1, 1, self.user, "sleep 1000")
        self.wait(lambda: container(app, 1) in self.running(), 20, "the one that stays")
        self.driver.start(app, 2, 1, self.user, "sleep 0.5; echo ><LOG_DIR>/over; exit 5")
        self.driver("pause", "on")
        back, failed = time.monotonic() + RM_AWAY, self.told("Failing over to ResourceManager")
        self.wait(
            lambda: time.monotonic() >= back
            and os.path.exists(f"{log}/over")
            and container(app, 2) not in self.running()
            and self.told("Failing over to ResourceManager") >= failed + 3,
            RM_AWAY + 30,
            "both are away",
        )
        with self.another(port) as second:
            again = second.registered()
            rows = {row["id"]: (row["state"], row["exit"]) for row in again["containers"]}
            assert rows[container(app, 1)][0] == RUNNING, again
            assert rows[container(app, 2)] == (COMPLETE, 5), again
            assert second.start(app, 3, 1, self.user, "exit 4")["ok"]
            assert second.stop(app, 1)["ok"]
            second.wait(3)
            exits = [second.exits()[container(app, n)]["exit"] for n in (1, 2, 3)]
            assert exits == [-105, 5, 4], exits
            second("finish", app)
            assert second("beats", 60000, 3)["reached"]
        self.first_again()
        self.restarted({key: None for key in site})
        self.c.settle(30)

    def other_keys(self):
        """A ResourceManager that has forgotten everything comes back at the same address: what was
        signed before is refused with the reason, and what runs goes on."""
        app, other = self.new_app(), self.new_app()
        self.driver.start(app, 1, 2, self.user, "sleep 1000")
        mine = {container(app, n) for n in (1, 2)}
        self.wait(lambda: mine <= set(self.running()), 20, "running")
        self.driver("pause", "on")
        with self.another(self.c.ports["tracker"]) as second:
            again = second.registered()
            assert [row["state"] for row in again["containers"]] == [RUNNING] * 2, again
            # The NMToken of an attempt that runs here stays good, the ContainerToken does not.
            for a in (app, other):
                row = self.driver.start(a, 3, 1, self.user, "true")["failed"][container(a, 3)]
                assert row["class"] == YARN + "InvalidContainerException", row
                words = f"{container(a, 3)} rejected as it is allocated by a previous RM"
                assert words in row["message"], row
            assert self.driver.stop(app, 1)["ok"]
            second.wait(1)
            for _ in range(2):
                second("roll")
                assert second("beats", 60000, 3)["reached"]
            stranger = self.new_app()
            row = self.driver.start(stranger, 1, 1, self.user, "true")
            assert row["class"] == INVALID_TOKEN, row
            assert "seems to have been generated illegally" in row["message"], row
            assert second.start(app, 4, 1, self.user, "exit 4")["ok"]
            second.wait(2)
            assert container(app, 2) in self.running()
            assert second.stop(app, 2)["ok"]
            second.wait(3)
            exits = [second.exits()[container(app, n)]["exit"] for n in (1, 2, 4)]
            assert exits == [-105, -105, 4], exits
            second("finish", app)
            assert second("beats", 60000, 3)["reached"]
        self.first_again()
        self.c.settle(30)

    def second_attempt(self):
        """The next master of an application whose containers were kept has NMTokens of its own:
        with them it has the containers of both attempts, also after key rolls and a restart."""
        app = self.new_app()
        kept = [container(app, n) for n in (1, 2)]
        self.driver.start(app, 1, 2, self.user, "sleep 1000")
        self.wait(lambda: set(kept) <= set(self.running()), 20, "running")
        self.driver("attempt", 2, 1)
        assert sorted(self.driver.status(app, 1, 2)["status"]) == kept
        self.driver("attempt", 2, 2)
        mine = [container(app, n, attempt=2) for n in (1, 2)]
        assert self.driver.start(app, 1, 1, self.user, "sleep 1000")["ok"] == mine[:1]
        for _ in range(2):  # neither key of its first token is one of the node's now
            self.driver("roll")
            assert self.driver("beats", 60000, 3)["reached"]
        assert self.driver.start(app, 2, 1, self.user, "sleep 1000")["ok"] == mine[1:]
        self.wait(lambda: set(kept + mine) <= set(self.running()), 20, "both attempts' run")
        self.node.process.kill()
        self.node.start()
        again = self.driver.registered()
        alive = sorted(row["id"] for row in again["containers"] if row["state"] == RUNNING)
        assert alive == kept + mine, again
        self.driver("attempt", 2, 1)
        self.wait(lambda: self.driver.stop(app, 1)["ok"] == kept[:1], 20, "the first one's")
        self.driver("attempt", 1, 1)  # a master that has not noticed
        assert self.driver.stop(app, 2)["ok"] == kept[1:]
        self.driver("attempt", 2, 2)
        assert self.driver.stop(app, 1, 2)["ok"] == mine
        self.driver("attempt", 1, 1)
        self.expect_ends(4)
        exits = self.driver.exits(app)
        assert [exits[name]["exit"] for name in kept + mine] == [-105] * 4, exits
        self.driver("finish", app)
        self.c.settle(30)

    # --- their processes --------------------------------------------------------------------

    @contextlib.contextmanager
    def another(self, port):
        """Another ResourceManager than the driver's, with masters of its own, which does not know
        the node."""
        second = Driver(self.c.build, port)
        second("restarted")
        try:
            yield second
        finally:
            second.close()

    def first_again(self):
        """The driver's ResourceManager comes back, as one that has forgotten the node."""
        self.driver("restarted")
        self.driver("pause", "off")
        self.driver.registered()
        self.ended = sum(1 for r in self.driver.exits().values() if r["told"])
