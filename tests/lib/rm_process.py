"""selvedge-rm as a process of its own, with its configuration in a temporary directory, and
rm-driver, which plays NodeManagers, clients and ApplicationMasters. For the programs of
tests/integration/rm-lite."""
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cluster import Report, host  # noqa: E402

BUILD = os.environ.get("BUILD") or "build"
report = Report()


def tell(good, text):
    report.check(text, good)


class Rm:
    def __init__(self, keys=None, queues=None):
        self.dir = tempfile.mkdtemp(prefix="test-rm-")
        names = [
            "address",
            "scheduler.address",
            "resource-tracker.address",
            "admin.address",
            "webapp.address",
        ]
        self.ports = {n: host.free_port() for n in names}
        site = {f"yarn.resourcemanager.{n}": f"127.0.0.1:{p}" for n, p in self.ports.items()}
        site["selvedge.rm.state-dir"] = f"{self.dir}/state"
        site["selvedge.rm.record"] = f"{self.dir}/record"
        site["selvedge.rm.unprotected-nodes"] = "127.0.0.1"
        site["yarn.scheduler.capacity.maximum-am-resource-percent"] = "1"
        site["yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms"] = "300"
        self.site = site
        self.write("yarn-site.xml", {**site, **(keys or {})})
        if queues:
            self.write("capacity-scheduler.xml", queues)
        self.log = open(f"{self.dir}/log", "w+", encoding="utf-8")
        self.killed = False
        self.start()

    def write(self, name, keys):
        with open(f"{self.dir}/{name}", "w", encoding="utf-8") as file:
            file.write("<configuration>\n")
            for key, value in keys.items():
                file.write(f"<property><name>{key}</name><value>{value}</value></property>\n")
            file.write("</configuration>\n")

    def start(self):
        self.process = subprocess.Popen(
            [f"{BUILD}/selvedge-rm", "--conf", self.dir], stderr=self.log
        )
        end = time.monotonic() + host.PATIENCE
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            try:
                return self.get("/ws/v1/cluster/info")
            except (OSError, urllib.error.URLError):
                time.sleep(0.02)
        raise SystemExit(f"selvedge-rm does not start:\n{self.said()}")

    def get(self, path, method="GET", body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.ports['webapp.address']}{path}",
            data=body.encode() if body else None,
            method=method,
            headers={"Content-Type": "application/json"} if body else {},
        )
        with urllib.request.urlopen(request, timeout=host.PATIENCE) as answer:
            return json.load(answer)

    def ask(self, path):
        """Status and text, whatever it is; redirects are followed."""
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self.ports['webapp.address']}{path}", timeout=host.PATIENCE
            ) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def request(self, path, method="GET", body=None, headers=None):
        """Status, headers and text, whatever they are. A body that is no text is sent as JSON."""
        if body is not None and not isinstance(body, (str, bytes)):
            body, headers = json.dumps(body), {
                "Content-Type": "application/json",
                **(headers or {}),
            }
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.ports["webapp.address"], timeout=host.PATIENCE
        )
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode(errors="replace")
        finally:
            connection.close()

    def restart(self, keys):
        self.kill()
        self.write("yarn-site.xml", {**self.site, **keys})
        self.start()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.killed = True

    def replay(self, name, words):
        """The scheduler's decisions are the same again; the record of a killed daemon has lost its
        end."""
        done = subprocess.run(
            [f"{BUILD}/selvedge-rm", "--replay", f"{self.dir}/{name}"],
            capture_output=True,
            text=True,
            timeout=host.PATIENCE,
            check=False,
        )
        tell(
            done.returncode == 0 and words in done.stdout,
            f"{name} replayed: {done.stdout}{done.stderr}".strip().replace("\n", "; "),
        )

    def said(self):
        self.log.flush()
        with open(f"{self.dir}/log", encoding="utf-8") as file:
            return file.read()

    def driver(self, scenario, at_pause=None, env=None):
        """Plays a scenario; its checks are this program's. `at_pause`: called when the driver says
        PAUSE."""
        ports = [
            str(self.ports[n]) for n in ("address", "resource-tracker.address", "scheduler.address")
        ]
        process = subprocess.Popen(
            [f"{BUILD}/tests/integration/rm-lite/rm-driver", *ports, scenario],
            env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for line in process.stdout:
            line = line.rstrip()
            if line in ("RESTART", "PAUSE"):
                if line == "PAUSE":
                    at_pause()
                else:
                    self.kill()
                    self.start()
                process.stdin.write("go\n")
                process.stdin.flush()
            else:
                word, text = line.split(" ", 1)
                tell(word == "ok", f"{scenario}: {text}")
        if process.wait() < 0:
            tell(False, f"{scenario}: the driver died by signal {-process.returncode}")

    def stop(self):
        self.process.terminate()
        tell(self.process.wait(host.PATIENCE) == 0, "the daemon ends well")
        for bad in ("Sanitizer", "runtime error", "cannot take event"):
            tell(bad not in self.said(), f'its log has no "{bad}"')
        self.replay("record", "are the same\n")
        if self.killed:
            self.replay("record.old", "the record is cut in line ")
        self.log.close()
        shutil.rmtree(self.dir)
