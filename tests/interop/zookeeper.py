"""A real ZooKeeper server."""
import os
import signal
import socket
import struct
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


def read_node(port, path):
    """Bytes and version of a node, asked for as any client does; None: there is none."""

    def take(n):
        data = b""
        while len(data) < n:
            more = connection.recv(n - len(data))
            if not more:
                raise OSError("ZooKeeper has closed the connection")
            data += more
        return data

    def call(body):
        connection.sendall(struct.pack(">i", len(body)) + body)
        return take(struct.unpack(">i", take(4))[0])

    name = path.encode()
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        call(struct.pack(">iqiqi16s", 0, 0, 10000, 0, 16, b""))
        answer = call(struct.pack(">iii", 1, 4, len(name)) + name + b"\0")
        call(struct.pack(">ii", 2, -11))  # the session ends
    error, size = struct.unpack(">ii", answer[12:20]) if len(answer) >= 20 else (-101, 0)
    if error:
        return None
    return answer[20 : 20 + size], struct.unpack(">i", answer[20 + size + 32 : 20 + size + 36])[0]
