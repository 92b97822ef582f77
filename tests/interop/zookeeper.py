"""A real ZooKeeper server."""
import os
import signal
import socket
import subprocess

from cluster.host import free_port, wait_for
from interop import hadoop

SERVER = "org.apache.zookeeper.server.ZooKeeperServerMain"


class Server:
    """On one port and one directory, of the jars in `path`, or of Hadoop's reference version."""

    def __init__(self, directory, path=None):
        self.directory, self.port, self.process, self.path = directory, free_port(), None, path
        self.address = f"127.0.0.1:{self.port}"

    def start(self):
        options = [*hadoop.SHORT_LIVED, "-Xmx128m", "-Dzookeeper.admin.enableServer=false"]
        argv = ["java", *options, "-cp", self.path, SERVER] if self.path else []
        argv = argv or hadoop.java(hadoop.REFERENCE, SERVER, options=options)
        os.makedirs(self.directory, exist_ok=True)
        with open(f"{self.directory}.log", "ab") as log:
            self.process = subprocess.Popen(
                [*argv, str(self.port), self.directory], stdout=log, stderr=log
            )

    def is_up(self):
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except OSError:
            return False
        return True

    def wait(self):
        wait_for(self.is_up, 20, "ZooKeeper")

    def kill(self):
        if self.process:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
        self.process = None
