"""The wire component's client registers a node with Apache's ResourceManager, heartbeats and
unregisters."""
import os
import socket
import subprocess

from interop import hadoop

PEER = os.path.join(hadoop.BUILD, "tests", "interop", "wire-peer")
WANTED = [
    "registered action 0 key 8 bytes",
    "heartbeat 1 action 0",
    "heartbeat 2 action 0",
    "heartbeat 3 action 0",
    "unregistered",
]


def listens(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def register(c):
    c.wait(lambda: listens(c.ports["tracker"]), 60, "the resource tracker listens")
    done = subprocess.run(
        [PEER, "register", str(c.ports["tracker"])], capture_output=True, text=True, timeout=300
    )
    if done.stdout.splitlines() != WANTED:
        raise AssertionError(f"exit {done.returncode}: {done.stdout}{done.stderr[-1500:]}")


def run(report, c):
    report.case(f"{c.pairing}: a node registers, heartbeats, unregisters", register, c)
