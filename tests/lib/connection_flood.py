"""A container that opens connections to one RPC port without end: 10,050, then one for each that
the server has closed. Each is kept alive by pings. SIMPLE ones say who they are and count as
established; TOKEN ones stop before SASL. Runs by itself in the container (`command`), where it
prints lines "held N" once all were opened."""
import base64

CONNECTIONS = 10050


def flood(host, port, simple, total):
    import resource, select, socket, time  # noqa: E401 - this function's text is the program in the container

    def text(number, value):
        return bytes([number << 3 | 2, len(value)]) + value

    def frame(call, body):
        # RpcRequestHeaderProto: rpcKind, rpcOp, callId, clientId, retryCount
        header = b"\x08\x02\x10\x00\x18" + bytes([call]) + text(4, bytes(16)) + b"\x28\x01"
        whole = bytes([len(header)]) + header + (bytes([len(body)]) + body if body else b"")
        return len(whole).to_bytes(4, "big") + whole

    protocol = b"org.apache.hadoop.yarn.api.ApplicationClientProtocolPB"
    hello = b"hrpc\x09\x00" + (
        b"\x00" + frame(5, text(2, text(1, b"flood")) + text(3, protocol)) if simple else b"\xdf"
    )
    ping = frame(7, b"") if simple else b""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    poll, alive = select.epoll(), {}

    def take():
        s = socket.socket()
        try:
            s.connect((host, port))
            s.send(hello)
        except OSError:
            s.close()
            return
        s.setblocking(False)
        alive[s.fileno()] = s
        poll.register(s, select.EPOLLIN)

    def drop_closed():
        for fd, _ in poll.poll(0, total):
            try:
                gone = not alive[fd].recv(65536)
            except BlockingIOError:
                gone = False
            except OSError:
                gone = True
            if gone:
                poll.unregister(fd)
                alive.pop(fd).close()

    for n in range(total):
        take()
        if n % 100 == 0:
            drop_closed()
    drop_closed()
    while True:
        print("held", len(alive), flush=True)
        drop_closed()
        for s in list(alive.values()):
            try:
                s.send(ping)
            except OSError:
                pass
        for _ in range(min(50, total - len(alive))):
            take()
        time.sleep(0.2)


def command(host, port, simple, total=CONNECTIONS):
    """A shell command line that does it."""
    with open(__file__, encoding="utf-8") as own:
        source = own.read() + f"\nflood({host!r}, {port}, {simple}, {total})\n"
    return (
        f"echo {base64.b64encode(source.encode()).decode()} | base64 -d >flood.py; exec "
        "python3 flood.py"
    )
