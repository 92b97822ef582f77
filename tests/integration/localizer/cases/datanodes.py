"""DataNodes that lie, stop and never end, each alone and in front of a good one. Cases of
test-hdfs-peers."""
import os
import struct

from lib import scripted_hdfs as fake
from lib.hdfs_reads import DATA, HdfsReads
from lib.localizer_process import PROGRESS, Answer, Localizer
from lib.scripted_hdfs import CHUNK, DataNode, NameNode, answer, drain, packet, sends


def endless(peer, _offset, _length):
    """Good packets, and more of them for ever."""
    peer.sendall(answer())
    at, seqno = 0, 0
    while True:
        piece = (DATA + DATA)[at % CHUNK * 0 : CHUNK * 8]
        peer.sendall(packet(at, seqno, piece))
        at, seqno = at + len(piece), seqno + 1


def trickle(peer, _offset, _length):
    """A byte at a time, too slowly for a packet within the time limit."""
    import select

    for byte in fake.stream(DATA):
        peer.sendall(bytes([byte]))
        if select.select([peer], [], [], 0.2)[0]:
            return


def silent(peer, _offset, _length):
    drain(peer)


def flipped():
    data = bytearray(fake.stream(DATA))
    data[-100] ^= 1
    return bytes(data)


def first(**change):
    """An answer and one packet of which something is wrong."""
    return answer() + packet(0, 0, DATA[:1024], **change)


BAD = {
    "closes at once": sends(b"", then_wait=False),
    "says nothing": silent,
    "sends a byte now and then": trickle,
    "never ends": endless,
    "answers garbage": sends(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 20),
    "answers with a length of 4 GiB": sends(b"\xff\xff\xff\xff\x0f" + bytes(100)),
    "answers with a length without end": sends(b"\xff" * 100),
    "answers an error": sends(answer(code=1, message="no such block\nand a stack")),
    "answers an unknown status": sends(answer(code=99)),
    "has chunks of 0 bytes": sends(answer(chunk=0) + fake.stream(DATA)),
    "has chunks of 4 GiB": sends(answer(chunk=0xFFFFFFFF)),
    "has an unknown checksum": sends(answer(kind=7)),
    "begins elsewhere": sends(answer(offset=CHUNK)),
    "begins inside a chunk": sends(answer(offset=13)),
    "has a packet of 2 GiB": sends(first(says=0x7FFFFFFF)),
    "has a packet of negative length": sends(first(says=-5)),
    "has a packet shorter than its length": sends(first(says=3)),
    "has a header of 64 KiB": sends(answer() + struct.pack(">iH", 1000, 0xFFFF) + bytes(70000)),
    "has a malformed header": sends(first(head=b"\xff" * 20)),
    "has a negative length of data": sends(first(length=-1)),
    "has more data than its packet": sends(first(length=0x7FFFFFFF)),
    "has no checksums": sends(first(sums=b"")),
    "has too many checksums": sends(first(sums=bytes(80))),
    "has another offset": sends(answer() + packet(CHUNK, 0, DATA[:1024])),
    "has a negative offset": sends(answer() + packet(-CHUNK, 0, DATA[:1024])),
    "has other sequence numbers": sends(fake.stream(DATA, seqno=1)),
    "repeats a packet": sends(first() + packet(0, 0, DATA[:1024])),
    "sends empty packets": sends(answer() + packet(0, 0) * 10),
    "ends early": sends(first() + packet(1024, 1, last=True)),
    "ends with data": sends(first(last=True)),
    "breaks off in a packet": sends(first()[:-100], then_wait=False),
    "has a wrong byte": sends(flipped()),
}


def named(what):
    return "/d/" + "".join(c if c.isalnum() else "-" for c in what)


class DataNodes(HdfsReads):
    def datanodes(self, in_front):
        """All bad DataNodes at once, each serving a file of its own."""
        good, bad = DataNode(fake.good(DATA)), {
            what: DataNode(script) for what, script in BAD.items()
        }
        ports = {
            named(what): [node.port, good.port] if in_front else [node.port]
            for what, node in bad.items()
        }
        namenode = NameNode(
            {
                "getFileInfo": fake.status(len(DATA)),
                "getServerDefaults": fake.defaults(),
                "getBlockLocations": lambda q: fake.located(
                    len(DATA), [fake.block(0, len(DATA), ports[q[1][0].decode()])]
                ),
            }
        )
        todo, replies = list(BAD), {}
        loc = Localizer(self.place)
        try:
            waiting = {}
            while todo or waiting:
                while todo and len(waiting) < 16:
                    what = todo.pop()
                    request, rel = self.fetch(loc, namenode, named(what))
                    waiting[request] = (what, rel)
                kind, request, body = loc.receive()
                if kind != PROGRESS:
                    what, rel = waiting.pop(request)
                    replies[what] = (
                        Answer(kind, request, body),
                        os.path.join(self.place.public, rel),
                    )
            code = loc.close()
        finally:
            for server in [namenode, good, *bad.values()]:
                server.close()
        self.report.check(f"container-localizer survives ({in_front=})", code == 0, loc.output())
        for what, (reply, at) in replies.items():
            if in_front:
                self.next_replica(what, reply, at)
            else:
                left = [p for p in (at, at + "_tmp") if os.path.lexists(p)]
                self.report.check(
                    f"a DataNode that {what} is refused",
                    not reply.done
                    and reply.reason == "source"
                    and "DataNode 127.0.0.1:" in reply.text
                    and "\n" not in reply.text
                    and not left,
                    f"{reply} {left}",
                )
        if in_front:
            reported = [
                fake.fields(fake.fields(b)[3][0])[1][0]
                for q in namenode.called("reportBadBlocks")
                for b in q[1]
            ]
            wrong_byte = bad["has a wrong byte"]
            self.report.check(
                "the corrupt replica alone is reported",
                [fake.fields(d)[4][0] for d in reported] == [wrong_byte.port],
                reported,
            )
            self.report.check(
                "its DataNode is told", wrong_byte.statuses == [2], wrong_byte.statuses
            )
            self.report.check("the good DataNode is told", set(good.statuses) == {6}, good.statuses)

    def next_replica(self, what, reply, at):
        path, content = os.path.join(at, os.path.basename(named(what))), None
        if reply.done and os.path.exists(path):
            with open(path, "rb") as f:
                content = f.read()
        self.report.check(
            f"behind a DataNode that {what} the next one is read", content == DATA, str(reply)
        )

    def resumed(self):
        """A DataNode that breaks off in the middle: the next one is asked for the rest only."""
        whole = fake.stream(DATA)
        broken, good = DataNode(sends(whole[:6000], then_wait=False)), DataNode(fake.good(DATA))
        reply, at, _ = self.one(
            {
                "getFileInfo": fake.status(len(DATA)),
                "getServerDefaults": fake.defaults(),
                "getBlockLocations": fake.located(
                    len(DATA), [fake.block(0, len(DATA), [broken.port, good.port])]
                ),
            }
        )
        with open(os.path.join(at, "f"), "rb") as f:
            content = f.read()
        self.report.check(
            "the read goes on where it broke off",
            reply.done
            and content == DATA
            and [(r[2][0], r[3][0]) for r in good.reads] == [(4096, len(DATA) - 4096)],
            f"{reply} {[r[2] for r in good.reads]}",
        )
        broken.close()
        good.close()
