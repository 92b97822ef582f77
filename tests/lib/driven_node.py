"""A NodeManager of a throw-away cluster below nm-driver as its ResourceManager and
ApplicationMasters: what the cases of test-nodemanager share."""
import os
import urllib.error
import urllib.request

from cluster import host
from lib.nm_driver import Driver


class DrivenNode:
    def __init__(self, cluster):
        self.c, self.node = cluster, cluster.nodes[0]
        self.user = cluster.users[0].pw_name
        # leads to the helper, which runs from its own place alone
        self.helper = f"{self.node.libexec}/started"
        os.symlink(f"{self.node.libexec}/container-executor", self.helper)
        self.node.site["selvedge.nodemanager.executor.path"] = self.helper
        self.driver = Driver(cluster.build, cluster.ports["tracker"])
        self.ended = 0
        self.app = 0

    def expect_ends(self, count, seconds=60):
        self.ended += count
        self.driver.wait(self.ended, seconds)

    def restarted(self, site):
        """With these keys of yarn-site.xml; None removes one."""
        self.node.process.stop()
        self.node.site.update(site)
        for key in [key for key, value in site.items() if value is None]:
            del self.node.site[key]
        self.node.start()
        self.driver.registered()

    def new_app(self):
        self.app += 1
        return self.app

    def get(self, path):
        with urllib.request.urlopen(self.node.url + path, timeout=host.PATIENCE) as answer:
            return answer.status, answer.headers, answer.read()

    def refused(self, path):
        try:
            return self.get(path)[0]
        except urllib.error.HTTPError as error:
            return error.code

    def wait(self, condition, seconds, what):
        self.c.wait(condition, seconds, what)

    def running(self):
        rows = (self.node.get("/ws/v1/node/containers").get("containers") or {}).get(
            "container", []
        )
        return [r["id"] for r in rows if r["state"] == "RUNNING"]

    def told(self, words):
        """How often the daemon's log, of all its lives, has the words."""
        with open(self.node.process.log, encoding="utf-8", errors="replace") as f:
            return f.read().count(words)
