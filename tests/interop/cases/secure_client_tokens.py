"""Client tokens (ClientToAM) under our ResourceManager: Hadoop's ApplicationMaster of a MapReduce
job takes the one that its user gets, and none that is forged."""
import re

from cluster import ClusterError
from interop import peers
from interop.cases import mapreduce

PROBE = "ClientTokenProbe"
FORGED = (
    "none",
    "another key",
    "another attempt's",
    "another attempt's key",
    "another user's name",
    "a later attempt",
)
REFUSED = r"SaslException|InvalidToken|AccessControlException|AUTHENTICATION|DIGEST-MD5"


class Running:
    """A MapReduce job of alice's, until it is killed."""

    def __init__(self, s):
        self.s = s

    def __enter__(self):
        c, before = self.s.c, self.ids()
        one = "-Dmapreduce.job.running.map.limit=1"  # room for another job, and no load
        self.process = peers.start_client(c, mapreduce.EXAMPLES, "pi", one, "200", "1000")
        c.wait(lambda: self.ids("RUNNING") - before, 120, "a job runs")
        (self.id,) = self.ids("RUNNING") - before
        return self

    def ids(self, state=None):
        apps = ((self.s.c.rm_get("/ws/v1/cluster/apps") or {}).get("apps") or {}).get("app", [])
        return {app["id"] for app in apps if state in (None, app["state"])}

    def __exit__(self, *_error):
        peers.kill_application(self.s.c, self.id)
        self.process.kill()
        self.process.stdout.close()
        self.process.wait()


def forged_client_tokens(s):
    c = s.c
    with s.acting(s.alice), Running(s) as first, Running(s) as second:
        done = peers.client(c, PROBE, first.id, second.id)
        said = dict(re.findall(r"^([^\t\n]+)\t(.*)$", done.stdout, re.M))
        for name in ("good", "good again"):
            if said.get(name) != "ok":
                raise ClusterError(f"{name}: {done.stdout[-4000:]}")
        for name in FORGED:
            print(f"    {name}: {said.get(name)}", flush=True)
            if not re.search(REFUSED, said.get(name, "")):
                raise ClusterError(f"{name}: {done.stdout[-4000:]}")
