"""A worker node with a network and a host name of its own, below nm-driver as its ResourceManager
and ApplicationMasters: what the cases of test-real-settings share."""
import ctypes
import os
import socket
import subprocess

from cluster import ClusterError, host, private_namespace
from lib.nm_driver import Driver, container

NEW_UTS, NEW_NET = 0x04000000, 0x40000000
NODE_ADDRESS, OTHER_ADDRESS = "10.99.7.7", "10.99.7.8"


def own_machine():
    """A network and a host name of its own: the node listens on every address of it, on the ports
    of the documents."""
    private_namespace()
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_UTS | NEW_NET) != 0:
        raise SystemExit(f"unshare: {os.strerror(ctypes.get_errno())}")
    for words in (("link", "set", "lo", "up"), ("addr", "add", f"{NODE_ADDRESS}/32", "dev", "lo")):
        subprocess.run(["ip", *words], check=True)
    socket.sethostname("worker7")


class WorkerMachine:
    def __init__(self, cluster):
        self.c, self.node = cluster, cluster.nodes[0]
        self.user = cluster.users[0].pw_name
        self.driver = Driver(cluster.build, cluster.ports["tracker"])
        self.usual = dict(self.node.site)
        self.ended = self.app = 0
        self.names(f"{NODE_ADDRESS} worker7.example worker7\n{OTHER_ADDRESS} rm.example")

    def names(self, lines):
        with open("/etc/hosts", "w", encoding="ascii") as f:
            f.write(f"127.0.0.1 localhost\n{lines}\n")

    def restart(self, site=None):
        self.stop()
        self.node.site = {**self.usual, **(site or {})}
        self.node.start()
        for _ in range(2 * host.PATIENCE):
            answer = self.driver("registered", 1000)
            if "timeout" not in answer:
                return answer
            self.node.process.must_run()
        raise ClusterError("the NodeManager does not register")

    def stop(self):
        if self.node.process and self.node.process.process:
            self.node.process.stop()

    def end(self):
        """The exit status of a daemon that ends by itself."""
        code = self.node.process.process.wait(host.PATIENCE)
        self.node.process.process = None
        return code

    def refused(self, site):
        """What a daemon with these keys says, which does not start."""
        self.stop()
        self.node.site = {**self.usual, **site}
        self.node.start()
        assert self.end() == 4, self.node.process.tail()
        return self.node.process.tail(3)

    def wait(self, condition, what, seconds=host.PATIENCE):
        self.c.wait(condition, seconds, what)

    def log(self):
        with open(self.node.process.log, encoding="utf-8", errors="replace") as f:
            return f.read()

    def new_app(self):
        self.app += 1
        return self.app

    def one(self, command="true", app=None, number=1, fault="-"):
        """Runs one container to its end and returns the row of it; without `app`, of an application
        of its own."""
        own, app = not app, app or self.new_app()
        answer = self.driver.start(app, number, 1, self.user, command, fault)
        assert answer.get("ok"), answer
        self.wait(
            lambda: self.driver("beats", 60000, 1)["reached"]
            and self.driver.exits()[container(app, number)]["told"],
            "its end",
        )
        if own:
            self.driver("finish", app)
        return self.driver.exits()[container(app, number)]

    def check_config(self, site, code):
        self.node.site = {**self.usual, **site}
        self.node.write_conf()
        done = subprocess.run(
            [
                *self.c.as_user(self.c.daemon),
                f"{self.node.prefix}/sbin/selvedge-nodemanager",
                "--check-config",
            ],
            env=self.c.daemon_env(self.node.conf_dir, "check"),
            cwd="/",
            capture_output=True,
            text=True,
            timeout=host.PATIENCE,
        )
        self.node.site = dict(self.usual)
        text = done.stdout + done.stderr
        assert done.returncode == code, (done.returncode, text)
        return text

    def running(self):
        rows = (self.node.get("/ws/v1/node/containers").get("containers") or {}).get(
            "container", []
        )
        return [r["id"] for r in rows if r["state"] == "RUNNING"]
