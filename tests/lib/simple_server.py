"""A Hadoop server that takes no Kerberos tickets: it answers each client's first SASL message with
the offers that it is made with, or with the end of the exchange, and keeps what comes after that. A
client that is to be authenticated must send nothing more."""
import contextlib
import socket
import struct
import threading

SUCCESS, NEGOTIATE = 0, 1
SASL_CALL = 0xFFFFFFDF  # -33


def varint(number):
    text = b""
    while number > 0x7F:
        text += bytes([number & 0x7F | 0x80])
        number >>= 7
    return text + bytes([number])


def field(number, value):
    """A number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def sasl(state, *offers):
    """A frame with an RpcSaslProto; `offers`: (method, mechanism)."""
    header = field(1, SASL_CALL) + field(2, 0) + field(3, 9)
    message = field(2, state) + b"".join(
        field(4, field(1, method) + field(2, mechanism)) for method, mechanism in offers
    )
    body = b"".join(varint(len(part)) + part for part in (header, message))
    return struct.pack(">I", len(body)) + body


ANSWERS = {
    "offers SIMPLE": sasl(NEGOTIATE, (b"SIMPLE", b"")),
    "offers TOKEN": sasl(NEGOTIATE, (b"TOKEN", b"DIGEST-MD5")),
    "wants nothing": sasl(SUCCESS),
}


class SimpleServer:
    """`later`: what clients have sent after the answer."""

    def __init__(self, address, answer):
        self.answer, self.asked, self.later = answer, 0, b""
        self.listener = socket.create_server((address, 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_error):
        self.listener.shutdown(socket.SHUT_RDWR)  # ends accept()
        self.listener.close()
        self.thread.join(60)

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                client.settimeout(30)
                with client, contextlib.suppress(OSError):
                    self._serve_one(client)

    def _serve_one(self, client):
        stream = client.makefile("rb")
        if stream.read(7)[:4] != b"hrpc":
            return
        (length,) = struct.unpack(">I", stream.read(4))
        stream.read(length)
        client.sendall(self.answer)
        self.asked += 1
        self.later += stream.read()  # to the end
