#!/usr/bin/python3
"""An auxiliary service that misbehaves: MODE, and the file into which each start writes a line."""
import base64
import json
import os
import struct
import sys
import time


def read_exactly(n):
    data = b""
    while len(data) < n:
        part = os.read(3, n - len(data))
        if not part:
            sys.exit(0)
        data += part
    return data


def receive():
    return json.loads(read_exactly(struct.unpack(">I", read_exactly(4))[0]))


def send(data):
    while data:
        data = data[os.write(3, data) :]


def frame(message):
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    return struct.pack(">I", len(text)) + text


def forever():
    while True:
        time.sleep(1000)


ANSWER = 65536  # bytes of a frame to the daemon
METADATA = 16384


def largest_frames():
    """Answers to an event, each as large as it may be, in all that JSON has. Those that the daemon
    must refuse come last."""
    members = {f"m{i}": i for i in range(ANSWER // 16)}
    rows = (
        {"metrics": {f"m{i:02d}" + "x" * 60: 2**62 for i in range(16)}},
        {"type": "failed", "message": "m" * (ANSWER - 100)},
        {"type": "failed", "message": "\x01" * (ANSWER // 6 - 100)},
        {"ignored": list(range(ANSWER // 8))},
        {"ignored": [[]] * (ANSWER // 5)},
        {"ignored": "\u00e9" * (ANSWER // 6 - 100)},
        members,
        {"metrics": members},
    )
    for row in rows:
        yield lambda seq, row=row: json.dumps({"type": "done", "seq": seq, **row}).encode()
    for text in (b"[" * ANSWER, b'{"a":' * (ANSWER // 5), b'{"a":[' * (ANSWER // 6)):
        yield lambda seq, text=text: text


def send_largest(starts):
    """One kind of frame after the other, over as many lives as that takes; then "all"."""
    while True:
        with open(starts, encoding="ascii") as f:
            at = f.read().count("frame")
        frames = list(largest_frames())
        event = receive()
        with open(starts, "a", encoding="ascii") as f:
            f.write("frame\n" if at < len(frames) else "all\n")
        if at < len(frames):
            send(frame(frames[at](event["seq"])[:ANSWER]))
        else:
            send(frame({"type": "done", "seq": event["seq"]}))


def main():
    mode, starts = sys.argv[1:]
    with open(starts, "a", encoding="ascii") as f:
        f.write(f"{os.getpid()}\n")
    if mode == "exit":
        sys.exit("<3>this service never starts")
    if mode == "hang-init":
        forever()
    if mode == "flood-before":
        while True:
            os.write(3, b"\xff" * 65536)
    init = receive()
    if mode == "cannot":
        send(frame({"type": "failed", "seq": 0, "message": "no such port\nat all"}))
        forever()
    if mode == "long-metadata":
        send(frame({"type": "ready", "metadata": "QUFB" * 8000}))
        forever()
    if mode == "largest":
        send(frame({"type": "ready", "metadata": base64.b64encode(b"m" * METADATA).decode()}))
        send_largest(starts)
    send(frame({"type": "ready", "metadata": ""}))
    if mode == "silent":  # reads nothing any more
        forever()
    if mode == "no-answer":
        while True:
            receive()
    if mode == "garbage":
        send(frame(b"\x00[[[[" * 100))
        forever()
    if mode == "second-ready":
        send(frame({"type": "ready", "metadata": ""}))
        forever()
    if mode == "future":
        send(frame({"type": "done", "seq": 1 << 40}))
        forever()
    if mode == "flood-after":
        while True:
            send(frame({"type": "done", "seq": 1}) * 1000)
    if mode == "log-flood":
        while True:
            os.write(1, b"x" * 5000 + b"\n\x1b[2J\n")
    if mode.startswith("die:"):  # at that event
        while True:
            event = receive()
            if event["type"] == mode[4:]:
                os.abort()
            send(frame({"type": "done", "seq": event["seq"]}))
    if mode == "fail-all":
        while True:
            send(
                frame(
                    {"type": "failed", "seq": receive()["seq"], "message": "\x1b[2J" + "m" * 5000}
                )
            )
    sys.exit(f"mode {mode} is not known")


main()
