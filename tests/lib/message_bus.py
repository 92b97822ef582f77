"""A private dbus-daemon in a cluster's directory, with the installed policy for the cluster's
accounts, and busctl on it."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cluster import host  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NAME = "org.selvedge.NodeManager1"
ROOT = "/org/selvedge/NodeManager1"
POLICY = f"{TOP}/packaging/{NAME}.conf"
# What a distribution's system.conf says, as far as it matters here.
CONFIG = """<busconfig>
  <type>system</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <deny own="*"/>
    <deny send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
    <allow receive_type="signal"/>
    <allow send_destination="org.freedesktop.DBus"/>
    <allow send_destination="org.freedesktop.PolicyKit1"/>
  </policy>
  <policy user="root"><allow own="org.freedesktop.PolicyKit1"/></policy>
  <includedir>{policies}</includedir>
</busconfig>
"""


def path_of(kind, identifier):
    """The object's path: sd_bus_path_encode writes an underscore as _5f."""
    return f"{ROOT}/{kind}/" + identifier.replace("_", "_5f")


class MessageBus:
    def __init__(self, cluster):
        self.cluster = cluster
        self.dir = f"{cluster.root}/bus"
        os.mkdir(self.dir, 0o755)
        os.mkdir(f"{self.dir}/policies", 0o755)
        self.socket = f"{self.dir}/socket"
        self.address = f"unix:path={self.socket}"
        with open(f"{self.dir}/config", "w", encoding="ascii") as f:
            f.write(CONFIG.format(socket=self.socket, policies=f"{self.dir}/policies"))
        self.policy(True)
        self.process = None

    def policy(self, installed):
        """The package's policy, for the cluster's daemon account, or none. For a bus that starts
        later."""
        place = f"{self.dir}/policies/{NAME}.conf"
        if not installed:
            os.unlink(place)
            return
        with open(POLICY, encoding="ascii") as f:
            text = f.read().replace('user="yarn"', f'user="{self.cluster.daemon.pw_name}"')
        with open(place, "w", encoding="ascii") as f:
            f.write(text)

    def start(self):
        log = open(f"{self.cluster.root}/log/bus.log", "ab")
        self.process = subprocess.Popen(
            [
                "dbus-daemon",
                f"--config-file={self.dir}/config",
                "--nofork",
                "--nopidfile",
                "--nosyslog",
            ],
            stdout=log,
            stderr=log,
        )
        log.close()
        host.wait_for(lambda: os.path.exists(self.socket), host.PATIENCE, "the bus")

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(host.PATIENCE)
        self.process = None

    def run(self, *words, user=None):
        """busctl as root or another account: exit status, stdout, stderr."""
        argv = (self.cluster.as_user(user) if user else []) + [
            "busctl",
            f"--address={self.address}",
            *words,
        ]
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=host.PATIENCE, check=False
        )
        return done.returncode, done.stdout, done.stderr

    def get(self, path, interface, name, user=None):
        """The value of a property; an error is a RuntimeError with busctl's words."""
        code, out, error = self.run(
            "--json=short", "get-property", NAME, path, f"{NAME}.{interface}", name, user=user
        )
        if code != 0:
            raise RuntimeError(error.strip())
        return json.loads(out)["data"]

    def call(self, path, interface, method, *arguments, user=None):
        code, out, error = self.run(
            "--json=short", "call", NAME, path, interface, method, *arguments, user=user
        )
        if code != 0:
            raise RuntimeError(error.strip())
        return json.loads(out)["data"] if out.strip() else []

    def objects(self, user=None):
        """GetManagedObjects: {path: {interface: {property: value}}}."""
        found = self.call(
            ROOT, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", user=user
        )[0]
        return {
            path: {i: {n: v["data"] for n, v in p.items()} for i, p in interfaces.items()}
            for path, interfaces in found.items()
        }

    def owned(self):
        return self.run("status", NAME)[0] == 0
