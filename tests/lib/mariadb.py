"""A real MariaDB server on loopback, with its files below a directory of the test: an account that
may make databases, and a proxy that cuts connections."""
import glob
import os
import random
import shutil
import socket
import subprocess
import threading

from cluster.host import free_port, wait_for

USER, PASSWORD = "yarn", "it's a secret"
SMALL = [
    "--no-defaults",
    "--skip-name-resolve",
    "--innodb-buffer-pool-size=8M",
    "--innodb-log-file-size=4M",
    "--innodb-flush-log-at-trx-commit=2",  # what was committed outlives a killed server
]


class Unavailable(Exception):
    """There is no mariadbd."""


class MariaDB:
    """`more`: options of the server."""

    def __init__(self, root, more=()):
        if not shutil.which("mariadbd"):
            raise Unavailable("mariadbd is not installed (mariadb-server-core)")
        self.root, self.port, self.more, self.process = root, free_port(), list(more), None
        os.mkdir(root)
        self.data = f"{root}/data"
        self.temporary = f"--tmpdir={root}"  # not a /tmp that others clean
        self.user = [f"--user={'root' if os.geteuid() == 0 else os.getlogin()}"]
        with open(f"{root}/accounts.sql", "w", encoding="utf-8") as f:
            quoted = PASSWORD.replace("'", "''")
            f.write(
                f"CREATE USER IF NOT EXISTS '{USER}'@'%' IDENTIFIED BY '{quoted}';\n"
                f"GRANT ALL ON *.* TO '{USER}'@'%';\n"
            )
        self.bootstrap()
        self.start()

    def bootstrap(self):
        """Makes the server's own tables, as mariadb-install-db does by programs of the client."""
        sql = "CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n"
        scripts = next(d for d in ("/usr/share/mariadb", "/usr/share/mysql") if os.path.isdir(d))
        for name in ("system_tables", "performance_tables", "system_tables_data"):
            for path in glob.glob(f"{scripts}/*_{name}.sql"):
                with open(path, encoding="utf-8") as f:
                    sql += f.read()
        os.mkdir(self.data)
        made = subprocess.run(
            ["mariadbd", *SMALL, *self.user, f"--datadir={self.data}", self.temporary]
            + ["--bootstrap", *self.more],
            input=sql,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if made.returncode != 0:
            raise RuntimeError(f"mariadbd --bootstrap: {made.stderr[-2000:]}")

    def start(self):
        with open(f"{self.root}/log", "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL"]  # a killed test leaves none behind
                + ["mariadbd", *SMALL, *self.user, f"--datadir={self.data}", f"--port={self.port}"]
                + [f"--socket={self.root}/socket", f"--pid-file={self.root}/pid", self.temporary]
                + ["--bind-address=127.0.0.1", f"--init-file={self.root}/accounts.sql"]
                + self.more,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        wait_for(self.answers, 60, "mariadbd starts")

    def answers(self):
        if self.process.poll() is not None:
            with open(f"{self.root}/log", encoding="utf-8", errors="replace") as f:
                raise RuntimeError(f"mariadbd has ended: {f.read()[-1000:]}")
        try:
            with socket.create_connection(("127.0.0.1", self.port), 10) as connection:
                return connection.recv(1)  # it has executed its statements of the start
        except OSError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def url(self, database, port=None, user=USER, password=PASSWORD, more=""):
        secret = password.replace("'", "%27").replace(" ", "+")
        return (
            f"jdbc:mariadb://127.0.0.1:{port or self.port}/{database.replace(' ', '%20')}"
            f"?user={user}&password={secret}{more}"
        )

    def sql(self, database, text):
        """Executes statements as the server starts, which is the one way without a client."""
        self.kill()
        with open(f"{self.root}/accounts.sql", "r+", encoding="utf-8") as f:
            accounts = f.read()
            f.write(f"USE `{database}`;\n{text};\n")
        self.start()
        with open(f"{self.root}/accounts.sql", "w", encoding="utf-8") as f:
            f.write(accounts)

    def close(self):
        if self.process.poll() is None:
            self.kill()


class Proxy:
    """Forwards to a server on loopback, but for its connection number n at the packet number n,
    those of both sides counted; it begins anew at one after `most`. `fault` "cut": the connection
    breaks, for the client when the server has ended what it was doing (a statement that goes on
    behind a broken connection could undo a later one); "stall": nothing is forwarded any more; "flip": a byte of that packet, if the server's,
    is another one, and the connection breaks five packets later."""

    def __init__(self, port, most, fault="cut"):
        self.server, self.most, self.fault, self.count = port, most, fault, 0
        self.random = random.Random(most)
        self.ends = []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.count += 1
            left = [1 + (self.count - 1) % self.most]
            server = socket.create_connection(("127.0.0.1", self.server))
            self.ends += [client, server]  # a stalled connection stays open
            for pair in ((client, server), (server, client)):
                pair[0].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(
                    target=self.forward, args=(*pair, left, pair[0] is server), daemon=True
                ).start()

    @staticmethod
    def exactly(source, n):
        data = b""
        while len(data) < n:
            part = source.recv(n - len(data))
            if not part:
                raise OSError("ended")
            data += part
        return data

    def changed(self, body):
        at = self.random.randrange(len(body))
        return body[:at] + bytes([body[at] ^ self.random.randrange(1, 256)]) + body[at + 1 :]

    @staticmethod
    def drain(server):
        """Waits until the server has closed its end; its other answers are lost."""
        try:
            server.shutdown(socket.SHUT_WR)
            while server.recv(65536):
                pass
        except OSError:
            pass

    def forward(self, source, sink, left, of_server):
        """Packets have a length of three bytes and a number before them."""
        try:
            while left[0] > (-5 if self.fault == "flip" else 0):
                head = self.exactly(source, 4)
                body = self.exactly(source, int.from_bytes(head[:3], "little"))
                left[0] -= 1
                if left[0] == 0 and self.fault == "flip" and of_server and body:
                    body = self.changed(body)
                sink.sendall(head + body)
        except OSError:
            pass
        else:
            if self.fault == "stall":
                return
            if self.fault == "cut":
                self.drain(source if of_server else sink)
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        for end in [self.listener, *self.ends]:
            end.close()
