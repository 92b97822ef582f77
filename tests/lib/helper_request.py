"""What is sent to the setuid helper and what it answers, as executor/request.h has it. In Python,
for tests/lib/helper_fixture.py."""
import array
import fcntl
import os
import re
import socket
import struct

CHECK, INIT_APP, LAUNCH, LOCALIZE, SIGNAL, DELETE, LINK = 1, 2, 3, 4, 5, 6, 7
AGAIN, DOOR = 1, 2  # LAUNCH
DELETE_CONTAINER, DELETE_CONTAINER_LOGS, DELETE_APP, DELETE_APP_LOGS = 1, 2, 3, 4
DELETE_USER, DELETE_RESOURCE, DELETE_PUBLIC = 5, 6, 7
PUBLIC, PRIVATE, APPLICATION, LOGS = 1, 2, 4, 8
MAGIC = 0x71457653
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ALL_SEALS = 0x0001 | 0x0002 | 0x0004 | 0x0008  # SEAL, SHRINK, GROW, WRITE


def statuses():
    """Names and numbers of the helper's refusals, from executor/request.h."""
    text = open(os.path.join(TOP, "executor/request.h")).read()
    return {m.group(1): int(m.group(2)) for m in re.finditer(r"EXE_STATUS_([A-Z_]+) = (\d+)", text)}


STATUS = statuses()
NAMES = {v: k for k, v in STATUS.items()}

REQUEST_SIZE = 560
STRICT, HADOOP, HOST = 1, 2, 3
NET_HOST, NET_NONE, NET_PRIVATE = 0, 1, 2


def request(
    op,
    ts=0,
    app=0,
    attempt=0,
    container=0,
    user="",
    local=0,
    log=0,
    work=0,
    profile=0,
    what=0,
    visibility=0,
    sig=0,
    resource=0,
    resource_dir=0,
    version=9,
    magic=MAGIC,
    rid=77,
    memory=0,
    pids=0,
    network=0,
    net_index=0,
    net_rate=0,
    net_ceil=0,
    devices=(),
    n_devices=None,
    more=(),
    n_more=None,
    categories=(0, 0, 0, 0),
    submitter=None,
):
    """struct exe_request of executor/request.h. The submitter is the user, where the operation has
    one."""
    if submitter is None:
        submitter = (
            ""
            if op == SIGNAL or op == DELETE and what in (DELETE_CONTAINER_LOGS, DELETE_APP_LOGS)
            else user
        )
    u, s = (n.encode() if isinstance(n, str) else n for n in (user, submitter))
    nodes = b"".join(struct.pack("=II", *d) for d in devices) or struct.pack(
        "=%dI" % len(more), *more
    )
    return struct.pack(
        "=IHHQqqiiIIQIIQIIIBBBBBBBB4H128s76s256s",
        magic,
        version,
        op,
        rid,
        ts,
        container,
        app,
        attempt,
        local,
        log,
        resource,
        resource_dir,
        pids,
        memory,
        net_index,
        net_rate,
        net_ceil,
        network,
        profile,
        work,
        what,
        visibility,
        sig,
        len(devices) if n_devices is None else n_devices,
        len(more) if n_more is None else n_more,
        *categories,
        nodes,
        u,
        s,
    )


def say(sock, data, fds=()):
    """Sends a request."""
    sock.sendmsg(
        [data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    )


def memfd(content, seals=ALL_SEALS):
    fd = os.memfd_create("t", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(fd, content)
    if seals:
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


class Reply:
    def __init__(self, data, fds):
        (self.magic, self.version, self.status, self.rid, self.error, self.pid, n) = struct.unpack(
            "<IHHQiiH", data[:26]
        )
        self.text = data[32 : 32 + n].decode()
        self.fds = fds

    def __repr__(self):
        return "%s errno=%d %r" % (NAMES.get(self.status, self.status), self.error, self.text)
