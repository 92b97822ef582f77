"""NameNodes that lie, stop and never end; directories, and the failover between two. Cases of
test-hdfs-peers."""
import os
import struct

from lib import scripted_hdfs as fake
from lib.hdfs_reads import DATA, HdfsReads
from lib.localizer_process import PUBLIC, Localizer
from lib.scripted_hdfs import DataNode, Exceptional, NameNode


class NameNodes(HdfsReads):
    def namenodes(self):
        good = DataNode(fake.good(DATA))
        n, port = len(DATA), good.port

        def at(blocks=None, **change):
            return {
                "getFileInfo": fake.status(n),
                "getServerDefaults": fake.defaults(),
                "getBlockLocations": fake.located(
                    n, [fake.block(0, n, [port])] if blocks is None else blocks
                ),
                **change,
            }

        reply, _, namenode = self.one(at())
        self.report.check("a good NameNode", reply.done and reply.size == n, str(reply))
        self.report.check(
            "it is asked four times",
            [m for m, _ in namenode.calls]
            == ["getFileInfo", "getServerDefaults", "getBlockLocations", "getFileInfo"],
            namenode.calls,
        )
        cases = []

        def refused(name, answers, reason, words, **more):
            cases.append((name, answers, reason, words, more))

        for name, blocks in {
            "no block": [],
            "a gap": [fake.block(0, 100, [port]), fake.block(200, n - 200, [port])],
            "blocks that overlap": [fake.block(0, 200, [port]), fake.block(100, n - 100, [port])],
            "a block beyond the end": [fake.block(0, n + 1, [port])],
            "an empty block": [fake.block(0, 0, [port])],
            "a block of 16 EiB": [fake.block(0, 2**64 - 1, [port])],
            "a block at a negative offset": [fake.block(-1, n, [port])],
            "10,000 blocks": [fake.block(i, 1, [port]) for i in range(10000)],
            "a port that is none": [fake.block(0, n, [fake.datanode(70000)])],
            "a pool with a long name": [fake.block(0, n, [port], pool="x" * 300)],
            "a token of 64 KiB": [fake.block(0, n, [port], token=bytes(1 << 16))],
        }.items():
            refused(f"{name}", at(blocks), "source", "the NameNode's answer")
        refused("no DataNode", at([fake.block(0, n, [])]), "source", "has no DataNode")
        refused(
            "a name for an address",
            at([fake.block(0, n, [fake.datanode(port, "localhost")])]),
            "source",
            "its address is not known",
        )
        refused(
            "a link-local address",
            at([fake.block(0, n, [fake.datanode(80, "169.254.169.254")])]),
            "source",
            "Permission denied",
        )
        refused(
            "another length later",
            at(getBlockLocations=fake.located(n + 1, [fake.block(0, n + 1, [port])])),
            "changed",
            "changed while it was read",
        )
        seen = []

        def replaced(_request):
            seen.append(1)
            return fake.status(n, inode=16386 + len(seen))

        refused(
            "another file afterwards",
            at(getFileInfo=replaced),
            "changed",
            "changed while it was read",
        )
        for name, key, words in (
            ("encrypted transfer without a key", b"", "and gives no key for it"),
            ("a key without a nonce", fake.data_key(nonce=b""), "is malformed"),
            ("a key of a pool with quotes", fake.data_key(pool='BP"'), "is malformed"),
            ("a key that is too long", fake.data_key(key=b"k" * 65), "is malformed"),
        ):
            refused(
                name,
                at(getServerDefaults=fake.defaults(1), getDataEncryptionKey=key),
                "source",
                words,
            )
        refused(
            "an encryption zone without a key",
            at(getFileInfo=fake.status(n, flags=2)),
            "source",
            "it is in an encryption zone, and the NameNode's answer has no key of it",
        )
        refused(
            "erasure coding without a policy",
            at(getFileInfo=fake.status(n, flags=4)),
            "source",
            "does not say by which policy",
        )
        refused(
            "a file being written",
            at(getBlockLocations=fake.located(n, [fake.block(0, n, [port])], 1, 0)),
            "source",
            "is being written",
        )
        refused(
            "a symbolic link", at(getFileInfo=fake.status(n, kind=3)), "source", "symbolic links"
        )
        refused("an unknown kind of file", at(getFileInfo=fake.status(n, kind=9)), "source", "")
        refused(
            "a length of 16 EiB",
            at(getFileInfo=fake.status(2**64 - 1)),
            "source",
            "an invalid length or time",
        )
        refused(
            "a time of 2^64",
            at(getFileInfo=fake.status(n, mtime=2**64 - 1)),
            "source",
            "an invalid length or time",
        )
        for what, answer, reason, words in (
            ("without an end", fake.listing([], more=1), "source", "listing is incomplete"),
            (
                "with the name ..",
                fake.listing([("..", fake.status(n))]),
                "source",
                "an invalid file name",
            ),
            (
                "with a slash in a name",
                fake.listing([("a/b", fake.status(n))]),
                "source",
                "an invalid file name",
            ),
            (
                "with a control byte",
                fake.listing([("a\x1b", fake.status(n))]),
                "archive",
                "control byte",
            ),
            (
                "with a link",
                fake.listing([("a", fake.status(n, kind=3))]),
                "source",
                "symbolic links",
            ),
            (
                "that repeats itself",
                fake.listing([("a", fake.status(0, kind=1))], more=1),
                "limit",
                "too many entries",
            ),
            (
                "of 10,000 directories",
                fake.listing([(str(i), fake.status(0, kind=1)) for i in range(10000)]),
                "limit",
                "too many entries",
            ),
            (
                "of directories in directories",
                fake.listing([("a", fake.status(0, kind=1))]),
                "limit",
                "deeper than 64 components",
            ),
        ):
            refused(
                f"a directory {what}",
                at(getFileInfo=fake.status(0, kind=1), getListing=answer),
                reason,
                words,
            )
        refused(
            "no such directory",
            at(getFileInfo=fake.status(0, kind=1), getListing=b""),
            "source",
            "does not exist",
        )
        refused(
            "PUBLIC, a file in it closed",
            at(
                getFileInfo=fake.status(0, kind=1, mode=0o755),
                getListing=fake.listing([("a", fake.status(n, mode=0o640))]),
            ),
            "not-public",
            "is not publicly accessible",
            visibility=PUBLIC,
        )
        refused(
            "PUBLIC, an encryption zone in it",
            at(
                getFileInfo=fake.status(0, kind=1, mode=0o755),
                getListing=fake.listing([("a", fake.status(n, flags=2))]),
            ),
            "not-public",
            "is not publicly accessible",
            visibility=PUBLIC,
        )
        refused("no such file", at(getFileInfo=b""), "source", "File does not exist: hdfs://")
        refused(
            "an exception of many lines",
            at(
                getFileInfo=Exceptional(
                    "org.apache.hadoop.security.AccessControlException",
                    "Permission denied: user=alice\n\tat java.lang." + "x" * 100000,
                )
            ),
            "source",
            "Permission denied: user=alice",
        )
        refused(
            "a link on the way",
            at(
                getFileInfo=Exceptional(
                    "org.apache.hadoop.hdfs.protocol.UnresolvedPathException", "/d"
                )
            ),
            "source",
            "symbolic links",
        )
        refused("a malformed answer", at(getFileInfo=b"\xff" * 50), "source", "", deadline_ms=60000)
        refused(
            "silence", at(getFileInfo="silent"), "limit", "longer than the limit", deadline_ms=2000
        )
        refused(
            "PUBLIC below a closed directory",
            at(
                getFileInfo=lambda q: fake.status(
                    n, kind=2 if q[1] == [b"/d/f"] else 1, mode=0o640 if q[1] == [b"/d"] else 0o755
                )
            ),
            "not-public",
            "is not publicly accessible",
            visibility=PUBLIC,
        )
        self.all_refused(cases)
        good.close()

    def directory(self):
        """Listed in parts, each file read from its DataNode."""
        good = DataNode(fake.good(DATA))
        parts = {
            (b"/d/f", b""): fake.listing(
                [("one", fake.status(len(DATA))), ("sub", fake.status(0, kind=1))], more=1
            ),
            (b"/d/f", b"sub"): fake.listing([("zero", fake.status(0))]),
            (b"/d/f/sub", b""): fake.listing([("two", fake.status(len(DATA)))]),
        }

        def status(request):
            path = request[1][0]
            return (
                fake.status(0, kind=1)
                if path == b"/d/f"
                else fake.status(0 if path.endswith(b"zero") else len(DATA))
            )

        def blocks(request):
            if request[1][0].endswith(b"zero"):
                return fake.located(0, [])
            return fake.located(len(DATA), [fake.block(0, len(DATA), [good.port])])

        answers = {
            "getFileInfo": status,
            "getServerDefaults": fake.defaults(),
            "getBlockLocations": blocks,
            "getListing": lambda q: parts[(q[1][0], (q.get(2) or [b""])[0])],
        }
        reply, at, namenode = self.one(answers)
        found = {
            os.path.relpath(os.path.join(where, name), at): os.path.getsize(
                os.path.join(where, name)
            )
            for where, _, names in os.walk(at)
            for name in names
        }
        self.report.check(
            "a directory: all of it",
            reply.done
            and reply.tree
            and reply.size == 2 * len(DATA)
            and found == {"f/one": len(DATA), "f/sub/two": len(DATA), "f/zero": 0},
            f"{reply} {found}",
        )
        self.report.check("three listings", len(namenode.called("getListing")) == 3, namenode.calls)
        seen = []

        def replaced(request):
            seen.append(1)
            return (
                fake.status(0, kind=1, inode=16386 + (len(seen) > 1))
                if request[1][0] == b"/d/f"
                else status(request)
            )

        reply, at, _ = self.one(
            {**answers, "getFileInfo": replaced, "getListing": fake.listing([])}
        )
        self.report.check(
            "a directory that is another one afterwards is refused",
            reply.reason == "changed" and not os.path.lexists(at + "_tmp"),
            str(reply),
        )
        good.close()

    def failover(self):
        """Standby, silence of one that ends, then the active one."""
        good = DataNode(fake.good(DATA))
        active = NameNode(
            {
                "getFileInfo": fake.status(len(DATA)),
                "getServerDefaults": fake.defaults(),
                "getBlockLocations": fake.located(
                    len(DATA), [fake.block(0, len(DATA), [good.port])]
                ),
            }
        )
        standby = NameNode(
            {
                "getFileInfo": Exceptional(
                    "org.apache.hadoop.ipc.StandbyException",
                    "Operation category READ is not supported in state standby",
                )
            }
        )
        half = NameNode({"getFileInfo": ("raw", struct.pack(">i", 1000) + b"half an answer")})
        huge = NameNode({"getFileInfo": ("raw", struct.pack(">i", 0x7FFFFFFF) + bytes(1000))})
        loc = Localizer(self.place)
        request, _ = self.fetch(
            loc,
            active,
            "/d/f",
            servers=",".join(
                f"127.0.0.1:{p}" for p in (1, standby.port, half.port, huge.port, active.port)
            ),
        )
        reply = loc.answer(request)
        self.report.check(
            "refused, standby, half an answer, 2 GiB: the next NameNode is asked",
            reply.done and reply.size == len(DATA),
            str(reply),
        )
        self.report.check(
            "each was asked", standby.calls and half.calls and huge.calls and active.calls
        )
        loc.close()
        for server in (good, active, standby, half, huge):
            server.close()
