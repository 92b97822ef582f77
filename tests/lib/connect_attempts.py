"""Runs in a container: tries to reach what the connect filter refuses, in every way that a job has,
and prints {attempt: result} as JSON; a result is "done" or an errno's name. Arguments: HOST4 HOST6
PORT OPEN. HOST4 has HOST6 as its IPv6 form; OPEN is a port of HOST4 that is not refused. Needs
nothing but Python."""
import ctypes
import errno
import json
import socket
import struct
import sys

MPTCP, FASTOPEN, FASTOPEN_CONNECT, IP_PKTINFO = 262, 0x20000000, 30, 8
libc = ctypes.CDLL(None, use_errno=True)
results = {}


def attempt(name, function, *args):
    try:
        function(*args)
        results[name] = "done"
    except OSError as e:
        results[name] = errno.errorcode.get(e.errno, str(e))


def sockaddr(family, host, port):
    """The bytes; `family` may be a lie. IPv6 for a text with a colon."""
    if ":" in host:
        return struct.pack(
            "=HHI16sI", family, socket.htons(port), 0, socket.inet_pton(socket.AF_INET6, host), 0
        )
    return struct.pack(
        "=HH4s8x", family, socket.htons(port), socket.inet_pton(socket.AF_INET, host)
    )


def raw(name, s, address, flags=0):
    """connect() or sendto() with an address that Python would not write."""
    r = (
        libc.connect(s.fileno(), address, len(address))
        if name == "connect"
        else libc.sendto(s.fileno(), b"x", 1, flags, address, len(address))
    )
    if r < 0:
        raise OSError(ctypes.get_errno(), name)


def family_of(host):
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def tcp(host, port, protocol=0, before=lambda s: None):
    with socket.socket(family_of(host), socket.SOCK_STREAM, protocol) as s:
        before(s)
        s.settimeout(10)
        s.connect((host, port))
        s.sendall(b"x")


def fast_open(host, port, protocol=0):
    with socket.socket(family_of(host), socket.SOCK_STREAM, protocol) as s:
        s.sendto(b"x", FASTOPEN, (host, port))


def not_blocking(host, port):
    with socket.socket(family_of(host), socket.SOCK_STREAM) as s:
        s.setblocking(False)
        try:
            s.connect((host, port))
        except BlockingIOError:
            pass


def udp_connect(host, port):
    with socket.socket(family_of(host), socket.SOCK_DGRAM) as s:
        s.connect((host, port))
        s.send(b"x")


def udp_to(host, port):
    with socket.socket(family_of(host), socket.SOCK_DGRAM) as s:
        s.sendto(b"x", (host, port))


def udp_message(host, port, ancillary=()):
    with socket.socket(family_of(host), socket.SOCK_DGRAM) as s:
        s.sendmsg([b"x"], ancillary, 0, (host, port))


def udp_connected_elsewhere(host, port, open_port):
    """Connected to a port that is open, then with another address in the message."""
    with socket.socket(family_of(host), socket.SOCK_DGRAM) as s:
        s.connect((host, open_port))
        s.sendto(b"x", (host, port))


def udp_corked(host, port, open_port):
    """The first part goes to an open port, the second one names another."""
    with socket.socket(family_of(host), socket.SOCK_DGRAM) as s:
        s.sendto(b"x", socket.MSG_MORE, (host, open_port))
        s.sendto(b"x", 0, (host, port))


def udp_many(host, port):
    """sendmmsg: one message."""

    class Iovec(ctypes.Structure):
        _fields_ = [("base", ctypes.c_char_p), ("len", ctypes.c_size_t)]

    class Msghdr(ctypes.Structure):
        _fields_ = [
            ("name", ctypes.c_char_p),
            ("namelen", ctypes.c_uint),
            ("iov", ctypes.POINTER(Iovec)),
            ("iovlen", ctypes.c_size_t),
            ("control", ctypes.c_void_p),
            ("controllen", ctypes.c_size_t),
            ("flags", ctypes.c_int),
            ("sent", ctypes.c_uint),
        ]

    address = sockaddr(family_of(host), host, port)
    iov = Iovec(b"x", 1)
    m = Msghdr(address, len(address), ctypes.pointer(iov), 1, None, 0, 0, 0)
    with socket.socket(family_of(host), socket.SOCK_DGRAM) as s:
        if libc.sendmmsg(s.fileno(), ctypes.byref(m), 1, 0) != 1:
            raise OSError(ctypes.get_errno(), "sendmmsg")


def of_family(kind, call, socket_family, family, host, port):
    with socket.socket(socket_family, kind) as s:
        if socket_family == socket.AF_INET6:
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        raw(call, s, sockaddr(family, host, port))


def other_sockets():
    """Kinds of sockets that the filter does not see: each MUST be refused by the system call
    filter."""
    kinds = {
        "SCTP": (2, 1, 132),
        "SCTP, messages": (2, 5, 132),
        "any, messages": (2, 5, 0),
        "any, messages, IPv6": (10, 5, 0),
        "DCCP": (2, 6, 33),
        "any, DCCP": (2, 6, 0),
        "UDP-Lite": (2, 2, 136),
        "raw": (2, 3, 255),
        "any, raw": (2, 3, 0),
        "packet": (17, 3, 0),
        "SMC": (43, 1, 0),
        "SMC by protocol": (2, 1, 256),
        "VSOCK": (40, 1, 0),
        "TIPC": (30, 1, 0),
        "RDS": (21, 5, 0),
        "L2TP": (2, 2, 115),
        "Bluetooth": (31, 1, 3),
        "ALG": (38, 5, 0),
        "XDP": (44, 3, 0),
        "RxRPC": (33, 2, 2),
        "KCM": (41, 2, 0),
        "QIPCRTR": (42, 2, 0),
        "MCTP": (45, 2, 0),
    }
    for name, kind in kinds.items():
        attempt("socket: " + name, lambda kind=kind: socket.socket(*kind).close())

    def io_uring():
        if libc.syscall(425, 8, ctypes.create_string_buffer(120)) < 0:
            raise OSError(ctypes.get_errno(), "io_uring_setup")

    attempt("io_uring", io_uring)


def main():
    host4, host6, port, open_port = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    mapped = "::ffff:" + host4
    any_host = [h for h in ("0.0.0.0", "::", "::ffff:0.0.0.0") if host4 == "127.0.0.1"]
    for host in [host4, host6, mapped] + any_host:
        for name, function in (
            ("TCP", tcp),
            ("TCP, not blocking", not_blocking),
            ("Fast Open", fast_open),
            ("UDP connect", udp_connect),
            ("UDP sendto", udp_to),
            ("UDP sendmsg", udp_message),
            ("UDP sendmmsg", udp_many),
        ):
            attempt("%s %s" % (name, host), function, host, port)
        attempt(
            "Fast Open by option " + host,
            lambda host=host: tcp(
                host, port, before=lambda s: s.setsockopt(socket.IPPROTO_TCP, FASTOPEN_CONNECT, 1)
            ),
        )
        attempt("MPTCP " + host, tcp, host, port, MPTCP)
        attempt("MPTCP, Fast Open " + host, fast_open, host, port, MPTCP)
        attempt("UDP connected elsewhere " + host, udp_connected_elsewhere, host, port, open_port)
    unspec = 0
    for call in ("connect", "sendto"):  # of TCP the kernel takes none
        attempt(
            "UDP %s, an IPv4 address for an IPv6 socket" % call,
            of_family,
            socket.SOCK_DGRAM,
            call,
            socket.AF_INET6,
            socket.AF_INET,
            host4,
            port,
        )
    attempt(
        "UDP sendto, no family",
        of_family,
        socket.SOCK_DGRAM,
        "sendto",
        socket.AF_INET,
        unspec,
        host4,
        port,
    )
    if any_host:
        attempt(
            "TCP to any, from an address",
            lambda: tcp("0.0.0.0", port, before=lambda s: s.bind(("127.0.0.9", 0))),
        )
        attempt(
            "UDP to any, from an address",
            udp_message,
            "0.0.0.0",
            port,
            [
                (
                    socket.IPPROTO_IP,
                    IP_PKTINFO,
                    struct.pack("=i4s4s", 0, socket.inet_aton("127.0.0.9"), b"\0" * 4),
                )
            ],
        )
    attempt("corked", udp_corked, host4, port, open_port)
    attempt("open: TCP", tcp, host4, open_port)
    attempt("open: UDP", udp_to, host4, open_port)
    other_sockets()
    print(json.dumps(results))


main()
