"""A WebSocket client of a NodeManager's sessions, for hostile frames as well as right ones."""
import base64
import os
import socket
import struct

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
PROTOCOL = "selvedge-exec-1"
START, INPUT, SIZE, OUTPUT, ERRORS, END = range(6)


def frame(opcode, data, masked=True, final=True, length=None):
    n = len(data) if length is None else length
    bit = 0x80 if masked else 0
    head = bytes([opcode | (0x80 if final else 0)])
    if n < 126:
        head += bytes([bit | n])
    elif n < 65536:
        head += bytes([bit | 126]) + struct.pack(">H", n)
    else:
        head += bytes([bit | 127]) + struct.pack(">Q", n)
    if not masked:
        return head + data
    mask = os.urandom(4)
    return head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data))


def start(*arguments, terminal=False, rows=24, columns=80, term=""):
    words = b"".join(w.encode() + b"\0" for w in (term, *arguments))
    return bytes([START]) + struct.pack(">BHH", terminal, rows, columns) + words


class WebSocket:
    """`status`: of the answer; `answer`: all of it. Then frames, if it is 101."""

    def __init__(self, port, path, protocol=PROTOCOL, headers=(), timeout=60):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {key}",
            *([f"Sec-WebSocket-Protocol: {protocol}"] if protocol else []),
            *headers,
        ]
        self.sock.sendall("\r\n".join([*lines, "", ""]).encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        self.status = int(head.split()[1])
        self.answer = head.decode()
        if self.status != 101:
            self.sock.settimeout(1)
            n = int(self.answer.lower().split("content-length:")[1].split()[0])
            while len(self.buffer) < n:
                self._more()
            self.answer += self.buffer.decode()
            self.close()

    def _more(self):
        data = self.sock.recv(65536)
        if not data:
            raise EOFError
        self.buffer += data

    def send(self, opcode, data, **more):
        self.sock.sendall(frame(opcode, data, **more))

    def _take(self, n):
        while len(self.buffer) < n:
            self._more()
        data, self.buffer = self.buffer[:n], self.buffer[n:]
        return data

    def receive(self):
        """(opcode, data); (None, b"") at the end."""
        try:
            first, second = self._take(2)
            n = second & 0x7F
            if n == 126:
                (n,) = struct.unpack(">H", self._take(2))
            elif n == 127:
                (n,) = struct.unpack(">Q", self._take(8))
            return first & 0x0F, self._take(n)
        except (EOFError, ConnectionResetError):
            return None, b""

    def all(self):
        """Every frame until the end: (output, errors, END or None, CLOSE or None)."""
        out, err, end, closed = b"", b"", None, None
        while True:
            opcode, data = self.receive()
            if opcode is None:
                self.close()
                return out, err, end, closed
            if opcode == BINARY and data[0] == OUTPUT:
                out += data[1:]
            elif opcode == BINARY and data[0] == ERRORS:
                err += data[1:]
            elif opcode == BINARY and data[0] == END:
                end = (data[1], data[2], data[3:].decode())
            elif opcode == TEXT:
                out += data
            elif opcode == CLOSE:
                closed = struct.unpack(">H", data[:2])[0], data[2:].decode()

    def close(self):
        self.sock.close()
