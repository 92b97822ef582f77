"""nm-driver as a Python object: plays ResourceManager and ApplicationMasters around a
NodeManager."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cluster.cluster import EMULATED  # noqa: E402
from cluster.host import PATIENCE  # noqa: E402

LONG = (8 if EMULATED else 2) * PATIENCE  # seconds

CLUSTER_TS = 1700000000000
YARN = "org.apache.hadoop.yarn.exceptions."
INVALID_TOKEN = "org.apache.hadoop.security.token.SecretManager$InvalidToken"


def container(app, number, attempt=1):
    return f"container_{CLUSTER_TS}_{app:04d}_{attempt:02d}_{number:06d}"


class Driver:
    def __init__(self, build, port, heartbeat_ms=100):
        self.process = subprocess.Popen(
            [
                f"{build}/tests/integration/nodemanager/nm-driver",
                "--port",
                str(port),
                "--heartbeat",
                str(heartbeat_ms),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("nm-driver ended")
        return json.loads(line)

    def registered(self, seconds=LONG):
        answer = self("registered", seconds * 1000)
        if "timeout" in answer:
            raise RuntimeError(f"the NodeManager did not register within {seconds} s")
        return answer

    def start(self, app, first, count, user, command, fault="-", memory=64):
        return self("start", app, first, count, user, memory, fault, command)

    def stop(self, app, first, count=1, caller=None):
        return self("stop", caller or app, app, first, count)

    def status(self, app, first, count=1, caller=None):
        return self("status", caller or app, app, first, count)

    def signal(self, app, number, command, caller=None):
        return self("signal", caller or app, app, number, command)

    def change(self, method, app, number, auto_commit=True, command="", caller=None):
        return self("change", method, caller or app, app, number, int(auto_commit), command)

    def keys(self):
        return [bytes.fromhex(k) for k in self("keys")["keys"]]

    def update(self, app, number, user, memory, vcores, version, fault="-"):
        return self("update", app, number, user, memory, vcores, version, fault)

    def exits(self, app=0):
        """Of one application, or of all."""
        return self("exits", app)["exits"]

    def wait(self, count, seconds=LONG):
        """Until that many containers have ended, ever."""
        answer = self("wait", seconds * 1000, count)
        if not answer["reached"]:
            raise RuntimeError(f"{answer['ended']} of {count} containers ended within {seconds} s")

    def close(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)
