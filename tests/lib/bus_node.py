"""A NodeManager on a private message bus, below nm-driver as its ResourceManager: what the cases of
test-dbus share."""
import subprocess

from cluster import host
from lib.local_commands import LocalCommands
from lib.message_bus import MessageBus, path_of
from lib.nm_driver import Driver, container

KEY = "selvedge.nodemanager.dbus"
ERROR = "org.freedesktop.DBus.Error."


class BusNode:
    def __init__(self, cluster, heartbeat_ms=100):
        self.c, self.node = cluster, cluster.nodes[0]
        self.bus = MessageBus(cluster)
        self.users = cluster.users
        self.admin, self.stranger = cluster.public, cluster.lookup
        with open("/etc/group", "a", encoding="ascii") as f:  # the cluster's own copy
            f.write(f"selvedge-admin:x:64999:{self.admin.pw_name}\n")
        self.driver = Driver(cluster.build, cluster.ports["tracker"], heartbeat_ms)
        self.client = f"{cluster.build}/tests/integration/nodemanager/bus-client"
        self.names = [container(1, 1), container(2, 1)]
        self.paths = [path_of("container", n) for n in self.names]
        self.apps = [path_of("application", f"application_1700000000000_000{n}") for n in (1, 2)]
        self.local = LocalCommands(self)

    def connected(self):
        self.c.wait(self.bus.owned, 60, "the name on the bus")

    def calls(self, *words, user=None):
        argv = (self.c.as_user(user) if user else []) + [
            self.client,
            self.bus.address,
            *map(str, words),
        ]
        return subprocess.run(
            argv, check=True, capture_output=True, text=True, timeout=4 * host.PATIENCE
        ).stdout

    def refused(self, error, function, *arguments, **named):
        try:
            found = function(*arguments, **named)
        except RuntimeError as problem:
            assert error in str(problem), problem
        else:
            raise AssertionError(f"{arguments} was answered: {found}")
