"""Runs a real log-uploader as an ordinary user and speaks logs/upload-request.h to it."""
import array
import os
import select
import shutil
import socket
import struct
import subprocess
import tempfile

from lib.localizer_process import BUILD, USER, above_the_targets, become_user

PROGRAM = os.path.join(BUILD, "log-uploader")
DUMP = os.path.join(BUILD, "tests/integration/logs/logs-dump")
TEXTS = {
    "remote": 1,
    "servers": 2,
    "user": 3,
    "suffix": 4,
    "group": 5,
    "app": 6,
    "bucket": 7,
    "file": 8,
    "include": 9,
    "exclude": 10,
    "time": 12,
    "rolled_include": 13,
    "rolled_exclude": 14,
    "web": 15,
}
(
    CODEC,
    TIMEOUT,
    HOSTNAMES,
    RIGHT,
    LIST,
    CONTAINER,
    SKIP,
    ENDED,
    APP_RUNS,
    DELETE,
    RATE,
    FILES_MAX,
    OLDER_LAYOUT,
    OTHERS_BEFORE,
    PROTECTION,
    CREDENTIALS,
) = range(64, 80)
OUTCOMES = ("done", "nothing", "failed", "refused")
APP = "application_1700000000123_10042"
PLACE = f"alice/bucket-logs-tfile/0042/{APP}/node1_8041"


def field(tag, value):
    value = value.encode() if isinstance(value, str) else value
    return struct.pack(">BI", tag, len(value)) + value


def container(n):
    return f"container_1700000000123_10042_01_{n:06d}"


class Answer:
    def __init__(self, data):
        outcome, self.files, self.skipped, self.bytes = struct.unpack("=IIIxxxxQ", data[:24])
        self.outcome, self.text = OUTCOMES[outcome], data[24:].split(b"\0")[0].decode()

    def __repr__(self):
        return (
            f"<{self.outcome}: {self.files} files, {self.bytes} bytes, {self.skipped} "
            f"skipped: {self.text!r}>"
        )


class Logs:
    """Log directories of an application, two disks, owned by the user; `remote`: a directory for
    file: uploads."""

    def __init__(self):
        self.root = tempfile.mkdtemp(prefix="selvedge-logs-", dir="/tmp")
        self.disks = [f"{self.root}/log{i}" for i in range(2)]
        self.remote = f"{self.root}/remote"
        os.chmod(self.root, 0o755)
        os.mkdir(self.remote)
        os.chmod(self.remote, 0o1777)
        for disk in self.disks:
            os.makedirs(f"{disk}/{APP}")
            self.own(disk, f"{disk}/{APP}")

    def own(self, *paths):
        for path in paths:
            os.chown(path, USER, USER, follow_symlinks=False)

    def path(self, number, name, disk=0):
        where = f"{self.disks[disk]}/{APP}/{container(number)}"
        if not os.path.isdir(where):
            os.mkdir(where, 0o750)
            self.own(where)
        return os.path.join(os.fsencode(where), os.fsencode(name))

    def put(self, number, name, data, disk=0):
        path = self.path(number, name, disk)
        with open(path, "wb") as f:
            f.write(data)
        os.chmod(path, 0o640)
        self.own(path)
        return path

    def close(self):
        shutil.rmtree(self.root)


class Uploader:
    def __init__(
        self,
        logs,
        containers,
        local=True,
        acls=(("VIEW_APP", "alice"), ("MODIFY_APP", " ")),
        codec=0,
        timeout_ms=2000,
        ended=(),
        app_runs=False,
        delete=True,
        files_max=30,
        rate=0,
        older=False,
        others_before=0,
        skips=(),
        protection=0,
        credentials=None,
        **texts,
    ):
        values = {
            "remote": logs.remote,
            "user": "alice",
            "suffix": "bucket-logs-tfile",
            "app": APP,
            "bucket": "0042",
            "file": "node1_8041",
            **texts,
        }
        request = b"".join(field(TEXTS[k], v) for k, v in values.items())
        request += field(CODEC, bytes([codec])) + field(TIMEOUT, struct.pack(">I", timeout_ms))
        request += b"".join(field(RIGHT, r) + field(LIST, text) for r, text in acls)
        request += b"".join(field(CONTAINER, container(n)) for n in containers)
        request += b"".join(field(ENDED, container(n)) for n in ended)
        request += b"".join(field(SKIP, container(n)) for n in skips)
        request += field(OTHERS_BEFORE, struct.pack(">Q", others_before)) if others_before else b""
        request += field(OLDER_LAYOUT, bytes([older])) + field(RATE, struct.pack(">Q", rate))
        request += (
            field(APP_RUNS, bytes([app_runs]))
            + field(DELETE, bytes([delete]))
            + field(FILES_MAX, struct.pack(">I", files_max))
            + field(PROTECTION, struct.pack(">I", protection))
        )
        if credentials:
            request += field(CREDENTIALS, b"\1")
        self.start([f"{disk}/{APP}" for disk in logs.disks])
        self.send(request, logs.remote if local else None, credentials)

    def start(self, dirs):
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        theirs = above_the_targets(theirs.detach(), socket.socket)
        given = {3: theirs.fileno()}
        for i, path in enumerate(dirs):
            given[16 + i] = above_the_targets(os.open(path, os.O_PATH | os.O_DIRECTORY))
        self.log = tempfile.TemporaryFile()
        moves = " ".join(f"{to}<&{fd}" for to, fd in given.items())
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", f'umask 027; exec "$0" {moves}', PROGRAM],
            cwd="/",
            env={},
            pass_fds=tuple(given.values()),
            preexec_fn=become_user,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.log,
        )
        theirs.close()
        for to, fd in given.items():
            if to != 3:
                os.close(fd)

    def send(self, request, remote, credentials=None):
        fds = []
        for part in (request, credentials):
            if part:
                fds.append(os.memfd_create("upload"))
                os.write(fds[-1], part)
        if remote:
            fds.append(os.open(remote, os.O_PATH | os.O_DIRECTORY))
        self.channel.sendmsg(
            [b"U"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
        )
        for fd in fds:
            os.close(fd)

    def output(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def answer(self, seconds=60):
        if not select.select([self.channel], [], [], seconds)[0]:
            raise TimeoutError("log-uploader gives no answer: " + self.output())
        data = self.channel.recv(4096)
        status = self.process.wait(20)
        self.channel.close()
        if not data or status != 0:
            raise EOFError(f"log-uploader ended with {status}: {self.output()}")
        return Answer(data)


def upload(*args, **more):
    return Uploader(*args, **more).answer()


def dump(path):
    """[(container, name, length, sha256)], in their order."""
    done = subprocess.run([DUMP, path], capture_output=True, check=True)
    return parse_dump(done.stdout)


def parse_dump(output):
    found, current = [], None
    for line in output.split(b"\n"):
        words = line.split(b" ", 3)
        if words[0] == b"container":
            current = words[1].decode()
        elif words[0] == b"file":
            found.append((current, words[3], int(words[1]), words[2].decode()))
    assert b"\nend\n" in output, output
    return found
