#!/usr/bin/python3
"""An auxiliary service of Selvedge's NodeManager: keeps a line for each event in its state directory, and tells containers
the path of that file as its metadata. docs/design/aux-services.md has the protocol. In yarn-site.xml:

    yarn.nodemanager.aux-services                            example
    selvedge.nodemanager.aux-services.example.command        /usr/bin/python3 /usr/share/doc/selvedge/examples/aux-service.py
"""
import base64
import json
import os
import struct
import sys

CONNECTION = 3  # a Unix stream socket; its end is the order to exit
FRAME_MAX = 1 << 20


def read_exactly(n):
    data = b""
    while len(data) < n:
        part = os.read(CONNECTION, n - len(data))
        if not part:
            sys.exit(0)
        data += part
    return data


def receive():
    (length,) = struct.unpack(">I", read_exactly(4))
    if not 1 <= length <= FRAME_MAX:
        sys.exit(f"<3>a frame of {length} bytes")
    return json.loads(read_exactly(length))


def send(message):
    text = json.dumps(message).encode()
    data = struct.pack(">I", len(text)) + text
    while data:
        data = data[os.write(CONNECTION, data) :]


def main():
    init = receive()
    if init["type"] != "init" or init["protocol"] != 1:
        send({"type": "failed", "seq": 0, "message": "protocol 1 is needed"})
        sys.exit(1)
    path = (init["stateDir"] or "/tmp") + "/events"
    events = open(path, "a", buffering=1)
    events.write(json.dumps(init) + "\n")
    send({"type": "ready", "metadata": base64.b64encode(path.encode()).decode()})
    print("<6>ready, events go to", path, flush=True)
    while True:
        event = receive()
        events.write(json.dumps(event) + "\n")
        if event["type"] in (
            "application-init",
            "application-stop",
            "container-init",
            "container-stop",
            "local-dirs",
            "replayed",
            "ping",
        ):
            send({"type": "done", "seq": event["seq"]})
        else:  # of a later version
            send(
                {"type": "failed", "seq": event["seq"], "message": "unknown type " + event["type"]}
            )


if __name__ == "__main__":
    main()
