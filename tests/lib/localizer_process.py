"""Runs a real container-localizer as an ordinary user and speaks localizer/channel.h to it."""
import fcntl
import os
import resource
import select
import shutil
import socket
import stat
import struct
import subprocess
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(TOP, os.environ.get("BUILD", "build"))
PROGRAM = os.path.join(BUILD, "container-localizer")
USER = 65534  # nobody: any account but root

MAGIC, VERSION = 0x534C4F43, 5
FETCH, CANCEL, PROGRESS, DONE, FAILED = 1, 2, 16, 17, 18
ARCHIVE, FILE, PATTERN = 1, 2, 3
PUBLIC, PRIVATE, APPLICATION = 1, 2, 3
REASONS = {
    1: "internal",
    2: "url",
    3: "source",
    4: "changed",
    5: "not-public",
    6: "archive",
    7: "limit",
    8: "disk",
    9: "cancelled",
    10: "leftover",
    11: "taken",
    12: "auth",
}


def text(s):
    s = s if isinstance(s, bytes) else s.encode()
    return struct.pack(">H", len(s)) + s


def become_user():
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)


def above_the_targets(fd, make=None):
    """Moves a descriptor out of the way of those that container-localizer is given."""
    high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100)
    os.close(fd)
    return make(fileno=high) if make else high


class Answer:
    def __init__(self, kind, request, body):
        self.kind, self.request = kind, request
        self.size = self.entries = 0
        self.reason = self.text = ""
        if kind == DONE:
            self.size, self.entries, self.tree = struct.unpack(">QIB", body)
        elif kind == FAILED:
            n = struct.unpack(">H", body[1:3])[0]
            self.reason, self.text = REASONS[body[0]], body[3 : 3 + n].decode()

    @property
    def done(self):
        return self.kind == DONE

    def __repr__(self):
        return (
            f"<done {self.size} bytes, {self.entries} entries>"
            if self.done
            else f"<failed {self.reason}: {self.text}>"
        )


class Workplace:
    """A directory of the test's own, with the cache directories in it and things that must not
    change beside them."""

    def __init__(self):
        self.root = tempfile.mkdtemp(prefix="selvedge-localizer-", dir="/tmp")
        os.chmod(self.root, 0o755)
        self.src = os.path.join(self.root, "src")
        self.local = os.path.join(self.root, "local")
        self.public = os.path.join(self.local, "filecache")
        self.app = os.path.join(self.local, "appcache")
        self.outside = os.path.join(self.local, "outside")
        for path in (self.src, self.local, self.public, self.app, self.outside):
            os.mkdir(path, 0o755)
            os.chmod(path, 0o755)
        for path in (self.public, self.app, self.outside):
            if os.getuid() == 0:
                os.chown(path, USER, USER)
        with open(os.path.join(self.outside, "sentinel"), "wb") as f:
            f.write(b"untouched")
        if os.getuid() == 0:
            os.chown(os.path.join(self.outside, "sentinel"), USER, USER)
        self.serial = 10

    def put(self, name, data, mtime=1700000000.25, mode=0o644):
        path = os.path.join(self.src, f"{self.serial}-{name}")
        with open(path, "wb") as f:
            f.write(data)
        os.chmod(path, mode)
        os.utime(path, ns=(int(mtime * 1000) * 10**6,) * 2)
        return path

    def snapshot(self):
        """Everything outside the caches' entries."""
        seen = []
        for base in (self.src, self.local):
            for where, dirs, files in os.walk(base):
                if where in (self.public, self.app):
                    dirs[:] = []
                for name in dirs + files:
                    path = os.path.join(where, name)
                    if os.path.dirname(path) in (self.public, self.app):
                        continue
                    st = os.lstat(path)
                    cache = path in (self.public, self.app)
                    seen.append(
                        (path, st.st_ino, st.st_mode, st.st_uid)
                        + (() if cache else (st.st_size, st.st_mtime_ns))
                    )
        return sorted(seen)

    def close(self):
        shutil.rmtree(self.root, ignore_errors=False)


class Localizer:
    def __init__(self, place, limits=None, dirs=True):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        theirs = above_the_targets(theirs.detach(), socket.socket)
        public = above_the_targets(os.open(place.public, os.O_PATH | os.O_DIRECTORY))
        app = above_the_targets(os.open(place.app, os.O_PATH | os.O_DIRECTORY))
        self.place, self.channel, self.next = place, ours, 1
        self.early = {}  # answers to other requests than the one waited for
        self.log = tempfile.TemporaryFile()

        def child():
            for what, value in (limits or {}).items():
                resource.setrlimit(what, (value, value))
            become_user()

        # The shell puts the descriptors where the helper would.
        given = {3: theirs.fileno(), **({16: public, 48: app} if dirs else {})}
        moves = " ".join(f"{to}<&{fd}" for to, fd in given.items())
        closes = " ".join(f"{fd}<&-" for fd in given.values() if fd not in given)
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", f'exec "$0" {moves} {closes}', PROGRAM],
            cwd="/",
            env={},
            pass_fds=tuple(given.values()),
            preexec_fn=child,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.log,
        )
        theirs.close()
        os.close(public)
        os.close(app)

    def send(self, data, credentials=None):
        """`credentials` go with it as a sealed memfd."""
        if credentials is None:
            self.channel.send(data)
            return
        fd = os.memfd_create("credentials", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
        try:
            os.write(fd, credentials)
            fcntl.fcntl(
                fd,
                fcntl.F_ADD_SEALS,
                fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL,
            )
            socket.send_fds(self.channel, [data], [fd])
        finally:
            os.close(fd)

    def fetch(
        self,
        url,
        name,
        kind=FILE,
        visibility=PRIVATE,
        timestamp=0,
        size=-1,
        pattern="",
        max_bytes=1 << 30,
        max_entries=1000,
        deadline_ms=120000,
        rel=None,
        directory=0,
        io_timeout_ms=0,
        failover=(15, 500, 15000),
        login="",
        servers="",
        region="",
        access_key="",
        secret_key="",
        session_token="",
        options=0,
        protection=0,
        ratio=200,
        path=1024,
        depth=64,
        slowest_rate=1024,
        credentials=None,
    ):
        """Sends FETCH; returns (request, rel)."""
        self.place.serial += 1
        rel = rel or str(self.place.serial)
        request, self.next = self.next, self.next + 1
        self.send(
            struct.pack(
                ">IBBQBBBqqQIIIIIIIIIIBI",
                MAGIC,
                VERSION,
                FETCH,
                request,
                kind,
                visibility,
                directory,
                timestamp,
                size,
                max_bytes,
                max_entries,
                ratio,
                path,
                depth,
                slowest_rate,
                deadline_ms,
                io_timeout_ms,
                *failover,
                options,
                protection,
            )
            + text(login)
            + text(servers)
            + text(region)
            + text(access_key)
            + text(secret_key)
            + text(session_token)
            + text(url)
            + text(pattern)
            + text(rel)
            + text(name),
            credentials,
        )
        return request, rel

    def cancel(self, request):
        self.send(struct.pack(">IBBQ", MAGIC, VERSION, CANCEL, request))

    def receive(self, seconds=180):
        """The next message as (kind, request, body), or None at the end of the channel."""
        ready, _, _ = select.select([self.channel], [], [], seconds)
        if not ready:
            raise TimeoutError("container-localizer gives no answer")
        data = self.channel.recv(8192)
        if not data:
            return None
        magic, version, kind, request = struct.unpack(">IBBQ", data[:14])
        assert (magic, version) == (MAGIC, VERSION), data
        return kind, request, data[14:]

    def answer(self, request, seconds=180):
        """Answers may arrive in another order than the requests."""
        end = time.monotonic() + seconds
        while request not in self.early:
            message = self.receive(max(end - time.monotonic(), 0))
            if message is None:
                raise EOFError("container-localizer has closed: " + self.output())
            if message[0] != PROGRESS:
                self.early[message[1]] = Answer(*message)
        return self.early.pop(request)

    def output(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def close(self):
        """Closes the channel; the process must end by itself."""
        self.channel.close()
        code = self.process.wait(60)
        return code


def left_over(cache):
    return sorted(os.listdir(cache))


def tree(top):
    """What lies below an entry: path → content, "dir", "-> target"; and what is wrong with it."""
    found, wrong = {}, []
    top_b = os.fsencode(top)
    for where, dirs, files in os.walk(top_b):
        for name in dirs + files:
            path = os.path.join(where, name)
            rel = path[len(top_b) + 1 :]
            try:
                rel = rel.decode()
            except UnicodeDecodeError:
                pass
            st = os.lstat(path)
            if stat.S_ISLNK(st.st_mode):
                found[rel] = "-> " + os.fsdecode(os.readlink(path))
                if not os.path.realpath(path).startswith(
                    os.path.realpath(top_b) + b"/"
                ) and os.path.realpath(path) != os.path.realpath(top_b):
                    wrong.append(f"{rel!r} points outside")
            elif stat.S_ISDIR(st.st_mode):
                found[rel] = "dir"
            elif stat.S_ISREG(st.st_mode):
                with open(path, "rb") as f:
                    found[rel] = f.read()
                if os.listxattr(path, follow_symlinks=False):
                    wrong.append(f"{rel!r} has extended attributes")
            else:
                wrong.append(f"{rel!r} is of mode {st.st_mode:o}")
    return found, wrong


def wrong_modes(top, public):
    dir_mode, file_mode = (0o755, 0o555) if public else (0o700, 0o500)
    wrong = []
    for where, dirs, files in os.walk(top):
        for path in [where] + [os.path.join(where, f) for f in files]:
            st = os.lstat(path)
            if stat.S_ISLNK(st.st_mode):
                continue
            want = dir_mode if stat.S_ISDIR(st.st_mode) else file_mode
            if stat.S_IMODE(st.st_mode) != want:
                wrong.append(f"{path} {stat.S_IMODE(st.st_mode):o}")
            if os.getuid() == 0 and st.st_uid != USER:
                wrong.append(f"{path} belongs to {st.st_uid}")
    return wrong
