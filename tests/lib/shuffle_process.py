"""Runs a real selvedge-shuffle as an ordinary account, in the NodeManager's place, with map outputs
made here."""
import base64
import fcntl
import hashlib
import hmac
import json
import os
import resource
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import zlib

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(TOP, os.environ.get("BUILD", "build"))
PROGRAM = os.path.join(BUILD, "selvedge-shuffle")
DAEMON, ALICE, BOB = (
    65531,
    65532,
    65533,
)  # the server's account and those of two jobs; numbers alone


def index_of(parts, crc=None):
    """file.out.index of (start, raw, length) for each reducer."""
    records = b"".join(struct.pack(">qqq", *part) for part in parts)
    return records + struct.pack(">Q", zlib.crc32(records) if crc is None else crc)


def vlong(n):
    if -112 <= n <= 127:
        return struct.pack("b", n)
    size = (n.bit_length() + 7) // 8
    return struct.pack("b", -112 - size) + n.to_bytes(size, "big")


def token(secret, kind=b"mapreduce.job"):
    """Token<JobTokenIdentifier> as MapReduce's ApplicationMaster sends it."""

    def field(b):
        return vlong(len(b)) + b

    return field(field(b"job_1_1")) + field(secret) + field(kind) + field(b"job_1_1")


def url_hash(secret, port, uri):
    return base64.b64encode(
        hmac.new(secret, f"{port}{uri}".encode(), hashlib.sha1).digest()
    ).decode()


class Job:
    def __init__(self, number, user, uid, secret):
        self.application, self.id = (
            f"application_1700000000000_{number:04}",
            f"job_1700000000000_{number:04}",
        )
        self.user, self.uid, self.secret = user, uid, secret
        self.app_dir = f"usercache/{user}/appcache/{self.application}"

    def init(self, **more):
        return dict(
            {
                "type": "application-init",
                "applicationId": self.application,
                "user": self.user,
                "account": self.user,
                "uid": self.uid,
                "appDir": self.app_dir,
                "recovered": False,
                "data": base64.b64encode(token(self.secret)).decode(),
            },
            **more,
        )

    def map(self, n):
        return f"attempt_{self.id[4:]}_m_{n:06}_0"


class Workplace:
    """Local directories that the server may read, and files beside them that it may not."""

    def __init__(self):
        self.root = tempfile.mkdtemp(prefix="selvedge-shuffle-", dir="/tmp")
        os.chmod(self.root, 0o755)
        self.dirs = [os.path.join(self.root, name) for name in ("disk1", "disk2")]
        for path in self.dirs:
            self.mkdirs(path, "usercache", DAEMON)

    @staticmethod
    def mkdirs(base, path, uid):
        at = base
        for name in [""] + path.split("/"):
            at = os.path.join(at, name) if name else at
            if not os.path.isdir(at):
                os.mkdir(at)
                os.chown(at, uid, DAEMON)
                os.chmod(at, 0o2750 if uid != DAEMON else 0o755)
        return at

    def output_dir(self, job, n, disk=0):
        return self.mkdirs(self.dirs[disk], f"{job.app_dir}/output/{job.map(n)}", job.uid)

    def write(self, path, data, uid):
        with open(path, "wb") as file:
            file.write(data)
        os.chown(path, uid, DAEMON)
        os.chmod(path, 0o640)

    def output(self, job, n, parts, disk=0, index=None, index_disk=None):
        """A map output with these bytes for the reducers. Raw lengths are told as 7 more."""
        at, records = 0, []
        for part in parts:
            records.append((at, len(part) + 7, len(part)))
            at += len(part)
        base = self.output_dir(job, n, disk)
        self.write(base + "/file.out", b"".join(parts), job.uid)
        index_base = base if index_disk is None else self.output_dir(job, n, index_disk)
        self.write(
            index_base + "/file.out.index", index_of(records) if index is None else index, job.uid
        )
        return base

    def remove(self):
        shutil.rmtree(self.root)


class Shuffle:
    """The process, and the NodeManager's end of its descriptor 3."""

    def __init__(
        self, dirs, properties=None, files=None, listen=None, raw_init=None, conf_dir=None
    ):
        self.channel, theirs = socket.socketpair()
        self.channel.settimeout(60)
        high = [
            fcntl.fcntl(fd, fcntl.F_DUPFD, 100)
            for fd in [theirs.fileno()] + ([listen.fileno()] if listen else [])
        ]

        def become():
            for i, fd in enumerate(high):
                os.dup2(fd, 3 + i, inheritable=True)
            if files:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
            os.setgroups([])
            os.setresgid(DAEMON, DAEMON, DAEMON)
            os.setresuid(DAEMON, DAEMON, DAEMON)

        self.log_path = tempfile.NamedTemporaryFile(
            prefix="selvedge-shuffle-log-", delete=False
        ).name
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [PROGRAM],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=become,
                close_fds=True,
                pass_fds=range(3, 3 + len(high)),
            )
        for fd in high:
            os.close(fd)
        theirs.close()
        self.seq = 0
        self.send(
            raw_init
            or {
                "type": "init",
                "protocol": 1,
                "service": "mapreduce_shuffle",
                "localDirs": dirs,
                "stateDir": None,
                "confDir": conf_dir,
                "properties": dict({"mapreduce.shuffle.port": "0"}, **(properties or {})),
                "listenFds": ["mapreduce_shuffle"] if listen else [],
            }
        )
        self.ready = self.receive()
        self.port = (
            struct.unpack(">I", base64.b64decode(self.ready["metadata"]))[0]
            if self.ready and self.ready["type"] == "ready"
            else None
        )

    def send(self, message):
        text = json.dumps(message).encode()
        self.channel.sendall(struct.pack(">I", len(text)) + text)

    def receive(self):
        """The next message; None: the process has ended."""

        def exactly(n):
            data = b""
            while len(data) < n:
                piece = self.channel.recv(n - len(data))
                if not piece:
                    return None
                data += piece
            return data

        head = exactly(4)
        return json.loads(exactly(struct.unpack(">I", head)[0])) if head else None

    def event(self, message):
        self.seq += 1
        self.send(dict(message, seq=self.seq))
        return self.receive()

    def stop(self, job):
        return self.event({"type": "application-stop", "applicationId": job.application})

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def close(self):
        """The NodeManager goes away. The exit status."""
        self.channel.close()
        status = self.process.wait(60)
        os.unlink(self.log_path)
        return status


class Answer:
    def __init__(self, status, headers, body, whole):
        self.status, self.headers, self.body, self.whole = status, headers, body, whole

    def __repr__(self):
        return f"<{self.status} {self.body[:100]!r}>"


class Client:
    """One connection of a reducer. HTTP by hand, so that it can be wrong."""

    def __init__(self, port, host="127.0.0.1", tls=None, session=None, source=""):
        self.socket = socket.create_connection((host, port), timeout=60, source_address=(source, 0))
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname="localhost", session=session)
        self.port, self.rest = port, bytearray()

    def uri(self, job, reduce, maps, more=""):
        return f"/mapOutput?job={job.id}&reduce={reduce}&map={','.join(maps)}{more}"

    def send(
        self, uri, secret=None, sent_hash=None, method="GET", lines=(), host=True, version="1.0.0"
    ):
        sent_hash = (
            sent_hash
            if sent_hash is not None
            else url_hash(secret, self.port, uri)
            if secret
            else None
        )
        head = (
            [f"{method} {uri} HTTP/1.1"]
            + (["Host: x"] if host else [])
            + ["name: mapreduce", f"version: {version}"]
        )
        head += [f"UrlHash: {sent_hash}"] if sent_hash is not None else []
        self.raw("\r\n".join(head + list(lines)).encode() + b"\r\n\r\n")

    def raw(self, data):
        self.socket.sendall(data)

    def _more(self):
        piece = self.socket.recv(1 << 16)
        self.rest += piece
        return piece

    def answer(self):
        """None: the connection ended without one."""
        try:
            while b"\r\n\r\n" not in self.rest:
                if not self._more():
                    return None
        except ConnectionResetError:
            return None
        end = self.rest.index(b"\r\n\r\n")
        head = bytes(self.rest[:end])
        del self.rest[: end + 4]
        lines = head.decode().split("\r\n")
        headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines[1:])}
        length = int(headers["content-length"])
        while len(self.rest) < length and self._more():
            pass
        body = bytes(self.rest[:length])
        del self.rest[:length]
        return Answer(int(lines[0].split()[1]), headers, body, len(body) == length)

    def at_end(self):
        """The server has closed."""
        try:
            return self.socket.recv(1) == b""
        except (ConnectionResetError, ssl.SSLError):
            return True

    def close(self):
        self.socket.close()


def fetch(port, job, reduce, maps, more="", tls=None, **how):
    client = Client(port, tls=tls)
    try:
        how.setdefault("secret", job.secret)
        client.send(client.uri(job, reduce, maps, more), **how)
        return client.answer()
    finally:
        client.close()


def unpack(body):
    """[(map, length, raw, reduce, bytes)] of an answer's body."""

    def number(at):
        first = struct.unpack("b", body[at : at + 1])[0]
        if first >= -112:
            return first, at + 1
        size = -112 - first
        return int.from_bytes(body[at + 1 : at + 1 + size], "big"), at + 1 + size

    at, result = 0, []
    while at < len(body):
        n, at = number(at)
        name, at = body[at : at + n].decode(), at + n
        length, at = number(at)
        raw, at = number(at)
        reduce, at = number(at)
        result.append((name, length, raw, reduce, body[at : at + length]))
        at += length
    return result
