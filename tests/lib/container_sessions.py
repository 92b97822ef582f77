"""Sessions in a container as the daemon has them (executor/session.h), in Python."""
import array
import os
import socket
import struct

MAGIC = 0x73457653
VERSION = 1
SESSIONS_MAX = 8
STARTED, FAILED, ENDED = 1, 2, 3


class Door:
    """A container's door, made as the daemon's account: give `fd` to Container.launch()."""

    def __init__(self, g, c):
        self.directory = os.open(os.path.dirname(c.record_path), os.O_RDONLY | os.O_DIRECTORY)
        self.path = "/proc/self/fd/%d/door" % self.directory
        self.uid, self.gid = g.nm.pw_uid, g.nm.pw_gid
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.as_daemon(lambda: s.bind(self.path))
        s.listen(SESSIONS_MAX)
        s.setblocking(False)
        self.fd = s.detach()

    def as_daemon(self, what):
        os.setegid(self.gid)
        os.seteuid(self.uid)
        try:
            return what()
        finally:
            os.seteuid(0)
            os.setegid(0)

    def knock(self):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.as_daemon(lambda: s.connect(self.path))
        return s


def start(arguments, variables=(), terminal=None, version=VERSION, magic=MAGIC, n=None):
    """A request; terminal: (rows, columns); n: other numbers of words than there are."""
    counts = n or (len(arguments), len(variables))
    head = struct.pack(
        "=IHHHHHH", magic, version, 1 if terminal else 0, *(terminal or (0, 0)), *counts
    )
    return head + b"".join(w.encode() + b"\0" for w in (*arguments, *variables))


class Session:
    """One program; `to`, `out` and `err` are this side of its pipes, or `to` the terminal."""

    def __init__(self, door, arguments, variables=("PATH=/usr/bin:/bin",), terminal=None):
        self.sock = door.knock()
        self.to = self.out = self.err = None
        theirs = []
        if not terminal:
            pairs = [os.pipe() for _ in range(3)]
            self.to, self.out, self.err = pairs[0][1], pairs[1][0], pairs[2][0]
            theirs = [pairs[0][0], pairs[1][1], pairs[2][1]]
        self.send(start(arguments, variables, terminal), theirs)
        for fd in theirs:
            os.close(fd)

    def send(self, data, fds=()):
        control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        try:
            self.sock.sendmsg([data], control)
        except BrokenPipeError:
            pass  # refused before it was read: the answer is there

    def answer(self, timeout=60):
        """(word, value), or None at the end of the connection."""
        return answer(self.sock, timeout, self)

    def close(self):
        self.sock.close()
        for fd in {self.to, self.out, self.err} - {None}:
            os.close(fd)

    def run(self, data=b""):
        """(exit code, output, errors) of a program with pipes, from its start to its end."""
        got = self.answer()
        if got != (STARTED, 0):
            self.close()
            return got
        os.write(self.to, data)
        os.close(self.to)
        self.to = None
        texts = [b"".join(iter(lambda: os.read(fd, 65536), b"")) for fd in (self.out, self.err)]
        word, value = self.answer()
        self.close()
        return (value if word == ENDED else (word, value), *(t.decode() for t in texts))


def answer(sock, timeout=60, session=None):
    sock.settimeout(timeout)
    try:
        data, anc, _, _ = sock.recvmsg(64, socket.CMSG_SPACE(16))
    except ConnectionResetError:  # the request was not read
        data, anc, _, _ = sock.recvmsg(64, socket.CMSG_SPACE(16))
    for _, _, payload in anc:
        fds = array.array("i")
        fds.frombytes(payload)
        for fd in fds:
            if session and session.to is None:
                session.to = fd
            else:
                os.close(fd)
    if not data:
        return None
    magic, word, value = struct.unpack("=IIi", data)
    assert magic == MAGIC
    return word, value
