"""A ZooKeeper of one server in a thread of a test: as much of the protocol as our daemons use
(sessions, ephemeral nodes, versions, several operations in one request), without Java. What only
the real one shows is in the interop suite."""
import asyncio
import struct
import threading
import time

CREATE, DELETE, GET, SET, CHILDREN, PING, MULTI, CLOSE = 1, 2, 4, 5, 8, 11, 14, -11
NO_NODE, BAD_VERSION, EXISTS, NOT_EMPTY, NOT_DONE = -101, -103, -110, -111, -2
EPHEMERAL = 1


class Refused(Exception):
    def __init__(self, code):
        super().__init__(str(code))
        self.code = code


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        (value,) = struct.unpack_from(f">{form}", self.data, self.at)
        self.at += struct.calcsize(f">{form}")
        return value

    def buffer(self):
        n = max(self.number("i"), 0)
        self.at += n
        return self.data[self.at - n : self.at]

    def text(self):
        return self.buffer().decode()

    def operation(self, kind):
        """Path, data, version or flags."""
        path, data, last = self.text(), b"", -1
        if kind in (CREATE, SET):
            data = self.buffer()
        if kind == CREATE:
            for _ in range(self.number("i")):
                self.number("i"), self.text(), self.text()
        if kind in (CREATE, SET, DELETE):
            last = self.number("i")
        return path, data, last


def buffer(data):
    return struct.pack(">i", len(data)) + data


class Node:
    def __init__(self, data=b"", owner=0):
        self.data, self.version, self.owner = data, 0, owner

    def stat(self):
        return struct.pack(
            ">qqqqiiiqiiq", 0, 0, 0, 0, self.version, 0, 0, self.owner, len(self.data), 0, 0
        )


class Session:
    def __init__(self, seconds):
        self.seconds, self.heard, self.writer = seconds, time.monotonic(), None


class ZooKeeper:
    def __init__(self):
        self.nodes, self.sessions, self.made = {"": Node()}, {}, 0
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(asyncio.start_server(self.serve, "127.0.0.1", 0))
        self.port = self.server.sockets[0].getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self.expiring = self.loop.create_task(self.expire())
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.server.close()
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self.loop.close()

    # --- what a test sees; nodes are changed by the thread alone ---

    def get(self, path):
        node = self.nodes.get(path)
        return None if node is None else node.data.decode()

    # --- nodes ---

    def do(self, nodes, session, kind, path, data, last):
        """One operation, in the nodes of a copy; the answer behind its header."""
        node = nodes.get(path)
        if kind == CREATE:
            if node:
                raise Refused(EXISTS)
            if path.rsplit("/", 1)[0] not in nodes:
                raise Refused(NO_NODE)
            nodes[path] = Node(data, session if last & EPHEMERAL else 0)
            return buffer(path.encode())
        if not node:
            raise Refused(NO_NODE)
        if kind in (SET, DELETE) and last not in (-1, node.version):
            raise Refused(BAD_VERSION)
        if kind == GET:
            return buffer(node.data) + node.stat()
        below = []
        if kind in (CHILDREN, DELETE):
            below = [n[len(path) + 1 :] for n in nodes if n.startswith(path + "/")]
            below = [n for n in below if "/" not in n]
        if kind == CHILDREN:
            return struct.pack(">i", len(below)) + b"".join(buffer(n.encode()) for n in below)
        if kind == DELETE:
            if below:
                raise Refused(NOT_EMPTY)
            del nodes[path]
            return b""
        nodes[path] = Node(data, node.owner)
        nodes[path].version = node.version + 1
        return nodes[path].stat()

    def multi(self, session, r):
        """All of them or none."""
        nodes, results, error = dict(self.nodes), [], 0
        while True:
            kind, end, _ = r.number("i"), r.number("?"), r.number("i")
            if end:
                break
            operation = r.operation(kind)
            if error:
                results.append((-1, NOT_DONE, struct.pack(">i", NOT_DONE)))
                continue
            try:
                results.append((kind, 0, self.do(nodes, session, kind, *operation)))
            except Refused as refused:
                error = refused.code
                results = [(-1, 0, struct.pack(">i", 0))] * len(results)
                results.append((-1, error, struct.pack(">i", error)))
        if not error:
            self.nodes = nodes
        parts = [struct.pack(">i?i", kind, False, code) + body for kind, code, body in results]
        return b"".join(parts) + struct.pack(">i?i", -1, True, -1)

    # --- sessions ---

    def end(self, session):
        self.sessions.pop(session, None)
        for path in [p for p, n in self.nodes.items() if session and n.owner == session]:
            del self.nodes[path]

    async def expire(self):
        while True:
            await asyncio.sleep(0.05)
            for number, session in list(self.sessions.items()):
                if time.monotonic() - session.heard > session.seconds:
                    session.writer.close()
                    self.end(number)

    async def serve(self, reader, writer):
        try:
            await self.talk(reader, writer)
        except (asyncio.IncompleteReadError, OSError):
            pass
        writer.close()

    async def talk(self, reader, writer):
        async def frame():
            (n,) = struct.unpack(">i", await reader.readexactly(4))
            return Reader(await reader.readexactly(n))

        greeting = await frame()
        greeting.number("i"), greeting.number("q")
        timeout, number = greeting.number("i"), greeting.number("q")
        if number == 0:
            self.made += 1
            number = self.made
            self.sessions[number] = Session(timeout / 1000)
        session = self.sessions.get(number)
        alive = number if session else 0
        writer.write(
            buffer(struct.pack(">iiq", 0, timeout if alive else 0, alive) + buffer(bytes(16)))
        )
        if not session:
            return
        session.writer = writer
        while number in self.sessions:
            r = await frame()
            session.heard = time.monotonic()
            xid, kind = r.number("i"), r.number("i")
            error, body = 0, b""
            try:
                if kind == CLOSE:
                    self.end(number)
                elif kind == MULTI:
                    body = self.multi(number, r)
                elif kind != PING:
                    body = self.do(self.nodes, number, kind, *r.operation(kind))
            except Refused as refused:
                error = refused.code
            writer.write(buffer(struct.pack(">iqi", xid, 1, error) + body))
