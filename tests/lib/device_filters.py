"""Filters of a cgroup, as root sees and sets them: of devices, or of another hook."""
import ctypes
import os
import struct

BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
LOAD, ATTACH, DETACH, GET_FD_BY_ID, QUERY = 5, 8, 9, 13, 16
CGROUP_DEVICE, MULTI = 6, 2
CONNECT_HOOKS = (10, 11, 14, 15)  # INET4_CONNECT, INET6_CONNECT, UDP4_SENDMSG, UDP6_SENDMSG
MOST = 64  # of one group: the next one is E2BIG
libc = ctypes.CDLL(None, use_errno=True)


def call(command, attr):
    buffer = ctypes.create_string_buffer(attr, 128)
    return libc.syscall(BPF, command, buffer, 128), buffer.raw


def identities(group, hook=CGROUP_DEVICE):
    """Numbers of the filters that are attached to it, or why it cannot be told."""
    fd = os.open(group, os.O_RDONLY)
    ids = (ctypes.c_uint32 * MOST)()
    r, said = call(QUERY, struct.pack("=IIIIQI", fd, hook, 0, 0, ctypes.addressof(ids), MOST))
    os.close(fd)
    return (
        list(ids[: struct.unpack_from("=I", said, 24)[0]])
        if r == 0
        else os.strerror(ctypes.get_errno())
    )


def count(group, hook=CGROUP_DEVICE):
    found = identities(group, hook)
    return found if isinstance(found, str) else len(found)


def attach(group, name=b"others", times=1, hook=CGROUP_DEVICE):
    """Filters that allow everything, as root could load them: each one of its own."""
    code = ctypes.create_string_buffer(
        struct.pack("=BBhiBBhi", 0xB7, 0, 0, 1, 0x95, 0, 0, 0)
    )  # return 1
    text = ctypes.create_string_buffer(b"Apache-2.0")
    fd = os.open(group, os.O_RDONLY)
    ok = True
    for _ in range(times):
        prog, _ = call(
            LOAD,
            struct.pack(
                "=IIQQIIQII16sII",
                15 if hook == CGROUP_DEVICE else 18,
                2,
                ctypes.addressof(code),
                ctypes.addressof(text),
                0,
                0,
                0,
                0,
                0,
                name,
                0,
                hook if hook != CGROUP_DEVICE else 0,
            ),
        )
        ok = ok and prog >= 0 and call(ATTACH, struct.pack("=IIII", fd, prog, hook, MULTI))[0] == 0
        os.close(prog)
    os.close(fd)
    return ok


def detach(group, hook=CGROUP_DEVICE):
    """All of them."""
    fd = os.open(group, os.O_RDONLY)
    for number in identities(group, hook):
        prog, _ = call(GET_FD_BY_ID, struct.pack("=III", number, 0, 0))
        if call(DETACH, struct.pack("=IIII", fd, prog, hook, 0))[0]:
            raise OSError(ctypes.get_errno(), "BPF_PROG_DETACH")
        os.close(prog)
    os.close(fd)
