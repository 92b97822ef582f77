"""A NameNode and DataNodes that answer what a test tells them, byte by byte: for what a real one
never sends. Hadoop IPC 9 with simple authentication or delegation tokens, DataTransferProtocol 28;
no protobuf library."""
import base64
import contextlib
import hashlib
import re
import socket
import struct
import threading
import zlib

CHUNK = 512
CRC32, CRC32C, NO_SUMS = 1, 2, 0


def varint(n):
    n &= 2**64 - 1
    out = b""
    while True:
        byte, n = n & 0x7F, n >> 7
        out += bytes([byte | (0x80 if n else 0)])
        if not n:
            return out


def field(number, value):
    """A varint or a length-delimited field."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def delimited(message):
    return varint(len(message)) + message


def fields(data):
    """{number: [values]} of a message; fixed numbers are left as bytes."""
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value

    while at < len(data):
        key = number()
        if key & 7 == 0:
            value = number()
        else:
            size = {1: 8, 5: 4}.get(key & 7) or number()
            value = data[at : at + size]
            at += size
        found.setdefault(key >> 3, []).append(value)
    return found


def split_delimited(data):
    """The messages of a frame."""
    found = []
    while data:
        length = shift = n = 0
        while True:
            byte = data[n]
            length |= (byte & 0x7F) << shift
            shift += 7
            n += 1
            if not byte & 0x80:
                break
        found.append(data[n : n + length])
        data = data[n + length :]
    return found


# ---- messages of a NameNode ----


def status(length, mtime=1700000000250, kind=2, mode=0o644, flags=0, inode=16386):
    return field(
        1,
        field(1, kind)
        + field(2, b"")
        + field(3, length)
        + field(4, field(1, mode))
        + field(5, "alice")
        + field(6, "users")
        + field(7, mtime)
        + field(8, 0)
        + field(11, 1 << 20)
        + field(13, inode)
        + field(18, flags),
    )


def listing(children, more=0):
    """Of getListing: [(name, a status)]."""

    def named(name, st):
        inner = fields(st)[1][0]
        return field(1, inner.replace(field(2, b""), field(2, name), 1))

    return field(1, b"".join(named(name, st) for name, st in children) + field(2, more))


def datanode(port, address="127.0.0.1", name="localhost"):
    return field(
        1,
        field(1, address)
        + field(2, name)
        + field(3, f"uuid-{port}")
        + field(4, port)
        + field(5, 9864)
        + field(6, 9867),
    )


def block(offset, length, nodes, number=1073741825, token=b"", pool="BP-1"):
    return (
        field(1, field(1, pool) + field(2, number) + field(3, 1001) + field(4, length))
        + field(2, offset)
        + b"".join(field(3, n if isinstance(n, bytes) else datanode(n)) for n in nodes)
        + field(4, 0)
        + field(5, field(1, token) + field(2, b"") + field(3, "") + field(4, ""))
    )


def located(length, blocks, under_construction=0, complete=1, more=b""):
    return field(
        1,
        field(1, length)
        + b"".join(field(2, b) for b in blocks)
        + field(3, under_construction)
        + field(5, complete)
        + more,
    )


def defaults(encrypt=0, provider=None):
    return field(
        1,
        field(1, 1 << 27)
        + field(2, CHUNK)
        + field(3, 65536)
        + field(4, 3)
        + field(5, 4096)
        + field(6, encrypt)
        + (b"" if provider is None else field(9, provider)),
    )


def encryption(key=bytes(16), iv=bytes(16), name="k", version="k@0", suite=2, protocol=2):
    """A FileEncryptionInfoProto."""
    return (
        field(1, suite)
        + field(2, protocol)
        + field(3, key)
        + field(4, iv)
        + field(5, name)
        + field(6, version)
    )


def data_key(number=7, pool="BP-1", nonce=b"nonce", key=b"key", until=1 << 50):
    """Of getDataEncryptionKey."""
    return field(
        1,
        field(1, number) + field(2, pool) + field(3, nonce) + field(4, key) + field(5, until),
    )


# ---- the stream of a DataNode ----


def answer(chunk=CHUNK, kind=CRC32, offset=0, code=0, message=""):
    if code:
        return delimited(field(1, code) + field(5, message))
    return delimited(
        field(1, 0) + field(4, field(1, field(1, kind) + field(2, chunk)) + field(2, offset))
    )


def header(offset, seqno, last, length):
    return (
        varint(1 << 3 | 1)
        + struct.pack("<q", offset)
        + varint(2 << 3 | 1)
        + struct.pack("<q", seqno)
        + field(3, int(last))
        + varint(4 << 3 | 5)
        + struct.pack("<i", length)
    )


def packet(offset, seqno, data=b"", last=False, sums=None, length=None, says=None, head=None):
    if sums is None:
        sums = b"".join(
            struct.pack(">I", zlib.crc32(data[i : i + CHUNK])) for i in range(0, len(data), CHUNK)
        )
    head = (
        header(offset, seqno, last, len(data) if length is None else length)
        if head is None
        else head
    )
    says = 4 + len(sums) + len(data) if says is None else says
    return struct.pack(">iH", says, len(head)) + head + sums + data


def stream(data, size=4096, start=0, seqno=0):
    """A whole good block from the chunk that holds `start`; good with `seqno` 0."""
    start -= start % CHUNK
    out = answer(offset=start)
    for at in range(start, len(data), size):
        out += packet(at, seqno, data[at : at + size])
        seqno += 1
    return out + packet(len(data), seqno, last=True)


# ---- servers ----


class Server:
    """Accepts on loopback, a thread a connection."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.open, self.closed = [], False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            self.open.append(peer)
            threading.Thread(target=self._run, args=(peer,), daemon=True).start()

    def _run(self, peer):
        with contextlib.suppress(OSError, IndexError, struct.error):
            self.serve(peer)
        with contextlib.suppress(OSError):
            peer.close()

    def close(self):
        self.closed = True
        for s in [self.listener, *self.open]:
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)
            s.close()


def receive(peer, n):
    data = b""
    while len(data) < n:
        more = peer.recv(n - len(data))
        if not more:
            raise OSError("closed")
        data += more
    return data


def drain(peer):
    """Waits until the other side closes."""
    while peer.recv(4096):
        pass


class Exceptional(Exception):
    """An answer that is a Java exception: (class, text)."""


SASL_CALL = (1 << 32) - 33  # callId of a response is a uint32 of a negative number
SUCCESS, NEGOTIATE, INITIATE, CHALLENGE, RESPONSE = range(5)


class Refused(Exception):
    """The client's token is refused: (class, text)."""


class Sasl:
    """DIGEST-MD5 of one connection, server side. `tokens`: {identifier: password}; `impostor`: does
    not know them."""

    def __init__(self, tokens, impostor):
        self.tokens, self.impostor, self.nonce = tokens, impostor, "bm9uY2U="

    def hello(self):
        challenge = (
            f'realm="default",nonce="{self.nonce}",qop="auth",charset=utf-8,algorithm=md5-sess'
        )
        token = (
            field(1, "TOKEN")
            + field(2, "DIGEST-MD5")
            + field(3, "")
            + field(4, "default")
            + field(5, challenge)
        )
        return (
            field(2, NEGOTIATE)
            + field(4, token)
            + field(4, field(1, "SIMPLE") + field(2, "") + field(3, "") + field(4, ""))
        )

    def check(self, text):
        """(identifier, rspauth) of the client's answer."""
        said = dict(re.findall(r'(\w+)="?([^",]*)"?', text))
        identifier = base64.b64decode(said["username"])
        if identifier not in self.tokens:
            raise Refused(
                "org.apache.hadoop.security.token.SecretManager$InvalidToken",
                "token is expired\n\tat a.stack",
            )
        password = base64.b64encode(self.tokens[identifier]).decode()

        def digest(method):
            def md5(s):
                return hashlib.md5(s).hexdigest()

            first = hashlib.md5(f'{said["username"]}:default:{password}'.encode()).digest()
            first = md5(first + f':{said["nonce"]}:{said["cnonce"]}'.encode())
            return md5(
                ":".join(
                    (
                        first,
                        said["nonce"],
                        said["nc"],
                        said["cnonce"],
                        said["qop"],
                        md5(f"{method}:/default".encode()),
                    )
                ).encode()
            )

        if said["response"] != digest("AUTHENTICATE"):
            raise Refused(
                "javax.security.sasl.SaslException", "DIGEST-MD5: digest response format violation."
            )
        return identifier, "rspauth=" + ("0" * 32 if self.impostor else digest(""))


class NameNode(Server):
    """`answers`: {method: message, or a function of the request's fields}. A value that is an
    Exceptional is an exception; "silent" answers nothing; ("raw", bytes) is sent as it is and the
    connection closed. `tokens`: takes delegation tokens, {identifier: password}; None: a client
    with a token is told that none is needed.
    """

    def __init__(self, answers, tokens=None, impostor=False):
        self.answers, self.calls, self.users, self.identifiers = answers, [], [], []
        self.tokens, self.impostor = tokens, impostor
        super().__init__()

    def sasl(self, peer):
        """All of the exchange."""

        def send(message, status=0, more=b""):
            frame = delimited(field(1, SASL_CALL) + field(2, status) + field(3, 9) + more) + (
                b"" if message is None else delimited(message)
            )
            peer.sendall(struct.pack(">i", len(frame)) + frame)

        def next_message():
            (length,) = struct.unpack(">i", receive(peer, 4))
            return fields(split_delimited(receive(peer, length))[1])

        if next_message()[2] != [NEGOTIATE]:
            raise OSError("no negotiation")
        if self.tokens is None:
            send(field(2, SUCCESS))
            return
        sasl = Sasl(self.tokens, self.impostor)
        send(sasl.hello())
        try:
            identifier, rspauth = sasl.check(next_message()[3][0].decode())
        except Refused as error:
            send(None, 2, field(4, error.args[0]) + field(5, error.args[1]) + field(6, 12))
            raise OSError("refused") from None
        self.identifiers.append(identifier)
        send(field(2, SUCCESS) + field(3, rspauth))

    def serve(self, peer):
        hello = receive(peer, 7)  # hrpc, version, class of service, authentication
        if hello[6] != 0:
            self.sasl(peer)
        while True:
            (length,) = struct.unpack(">i", receive(peer, 4))
            parts = split_delimited(receive(peer, length))
            call = fields(parts[0])
            number = call[3][0] >> 1 ^ -(call[3][0] & 1)
            if number < 0:  # the connection's context, or a ping
                context = fields(parts[1]) if len(parts) > 1 else {}
                self.users += [fields(user)[1][0].decode() for user in context.get(2, [])]
                continue
            method = fields(parts[1])[1][0].decode()
            request = fields(parts[2]) if len(parts) > 2 else {}
            self.calls.append((method, request))
            value = self.answers.get(method, b"")
            if callable(value):
                value = value(request)
            head = field(1, number) + field(3, 9) + field(7, call[4][0])
            if value == "silent":
                continue
            if isinstance(value, tuple):
                peer.sendall(value[1])
                return
            if isinstance(value, Exceptional):
                frame = delimited(
                    head
                    + field(2, 1)
                    + field(4, value.args[0])
                    + field(5, value.args[1])
                    + field(6, 1)
                )
            else:
                frame = delimited(head + field(2, 0)) + delimited(value)
            peer.sendall(struct.pack(">i", len(frame)) + frame)

    def called(self, method):
        return [request for name, request in self.calls if name == method]


class DataNode(Server):
    """`script(peer, offset, length)` answers READ_BLOCK."""

    def __init__(self, script):
        self.script, self.reads, self.statuses = script, [], []
        super().__init__()

    def serve(self, peer):
        version, operation = struct.unpack(">HB", receive(peer, 3))
        assert (version, operation) == (28, 81)
        length = shift = 0
        while True:
            byte = receive(peer, 1)[0]
            length |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
        request = fields(receive(peer, length))
        self.reads.append(request)
        self.script(peer, request[2][0], request[3][0])
        with contextlib.suppress(OSError):
            head = peer.recv(64)
            if head:
                self.statuses.append(fields(head[1 : 1 + head[0]])[1][0])


def sends(data, then_wait=True):
    """A script: these bytes, whatever was asked for."""

    def script(peer, _offset, _length):
        peer.sendall(data)
        if not then_wait:
            peer.close()

    return script


def good(data):
    return lambda peer, offset, _length: peer.sendall(stream(data, start=offset))
