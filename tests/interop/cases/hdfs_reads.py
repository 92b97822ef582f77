"""container-localizer's reads from a real HDFS: sizes, directories, tokens, corrupt and lost
replicas, stopped DataNodes, and two NameNodes. For test-hdfs."""
import os
import signal

from cluster.host import wait_for
from interop.hdfs import BLOCK
from lib import hostile_archives
from lib.localizer_process import ARCHIVE, FILE, PRIVATE, PUBLIC, Localizer

# where a DataNode is silent; elsewhere Hadoop's, since a busy machine is silent for seconds, too
TIMEOUT_MS = 2000


def expect(condition, detail=""):
    if not condition:
        raise AssertionError(detail)


class Reads:
    """The cases; `h` is the file system, `place` the caches."""

    def __init__(self, h, place):
        self.h, self.place = h, place

    def start(self, path, time_and_length, kind=FILE, visibility=PRIVATE, name=None, **more):
        loc = Localizer(self.place)
        values = {
            "timestamp": time_and_length[0],
            "size": time_and_length[1],
            "login": "alice",
            "servers": f"{self.h.address}:{self.h.port}",
            "io_timeout_ms": 60000,
            **more,
        }
        request, rel = loc.fetch(
            values.pop("url", self.h.url(path)),
            name or os.path.basename(path),
            kind,
            visibility,
            **values,
        )
        return loc, request, os.path.join(self.place.public, rel)

    def finish(self, loc, request):
        answer = loc.answer(request, 600)
        expect(loc.close() == 0, "container-localizer must end with its channel: " + loc.output())
        return answer

    def get(self, path, time_and_length, **more):
        loc, request, at = self.start(path, time_and_length, **more)
        return self.finish(loc, request), at

    def same(self, path, time_and_length, data, **more):
        answer, at = self.get(path, time_and_length, **more)
        expect(answer.done and answer.size == len(data), str(answer))
        with open(os.path.join(at, os.path.basename(path)), "rb") as f:
            expect(f.read() == data, f"{path} has another content")

    def refused(self, reason, words, path, time_and_length, **more):
        answer, at = self.get(path, time_and_length, **more)
        expect(not answer.done and answer.reason == reason and words in answer.text, str(answer))
        expect(not os.path.lexists(at) and not os.path.lexists(at + "_tmp"), f"{at} was left")

    def sizes(self):
        for length in (0, 1, 511, 512, 513, BLOCK, BLOCK + 1, 5 * BLOCK - 7):
            data = os.urandom(length)
            path = f"/sizes/{length}"
            self.same(path, self.h.put(path, data), data)

    def many_blocks(self):
        """More than the NameNode is asked for at once."""
        data = os.urandom(25 * BLOCK // 8 + 1)
        path = "/sizes/many"
        self.same(path, self.h.put(path, data, block=BLOCK // 8), data)

    def archive(self):
        case = next(
            c
            for c in hostile_archives.all_archives()
            if isinstance(c.wanted, dict) and c.file.endswith("tgz")
        )
        path = "/archives/" + case.file
        answer, at = self.get(path, self.h.put(path, case.data), kind=ARCHIVE)
        expect(answer.done and os.path.isdir(os.path.join(at, case.file)), str(answer))

    def changed(self):
        when, length = self.h.put("/changed/f", b"content")
        self.refused("changed", "changed on src filesystem", "/changed/f", (when - 1, length))
        self.refused("changed", "expected: 8 bytes, was: 7 bytes", "/changed/f", (when, 8))
        self.same("/changed/f", (when, -1), b"content")

    def refusals(self):
        self.refused("source", "File does not exist: hdfs://", "/nothing/here", (1, 1))
        at = self.h.put("/secret/f", b"content", owner="bob", mode="600")
        self.refused("source", "Permission denied: user=alice, access=READ", "/secret/f", at)
        self.same("/secret/f", at, b"content", login="bob")
        at = self.h.put("/target/f", b"content")
        self.h.ask("link", "/target/f", "/link/f")
        self.refused("source", "symbolic links of HDFS are not supported", "/link/f", at)
        at = tuple(map(int, self.h.ask("hold", "/open/f").split()))
        self.refused(
            "source", "is being written, and its length is not known", "/open/f", (at[0], -1)
        )
        at = self.h.put("/limit/f", b"content")
        self.refused("limit", "larger than the limit of 6 bytes", "/limit/f", at, max_bytes=6)
        self.refused("url", "names no NameNode", "/limit/f", at, servers="")

    def directory(self):
        """Copied with what lies below it, over both protocols."""
        for i in range(10):
            self.h.ask("mkdir", f"/tree/{i}", "755")
        data = os.urandom(BLOCK + 1)
        self.h.put("/tree/7/f", data)
        when, length = map(int, self.h.ask("status", "/tree").split())
        for more in (
            {},
            {"url": f"webhdfs://{self.h.address}:{self.h.web_port}/tree"},
            {"visibility": PUBLIC},
        ):
            answer, at = self.get("/tree", (when, length), **more)
            expect(
                answer.done and answer.size == len(data) and answer.entries == 12,
                f"{more} {answer}",
            )
            with open(os.path.join(at, "tree", "7", "f"), "rb") as f:
                expect(f.read() == data, "another content")
            expect(len(os.listdir(os.path.join(at, "tree"))) == 10, "children")
        self.refused("limit", "too many entries", "/tree", (when, length), max_entries=10)
        self.refused("changed", "changed on src filesystem", "/tree", (when - 1, length))
        self.h.put("/tree/7/closed", b"content", mode="640")
        self.refused(
            "not-public", "is not publicly accessible", "/tree", (when, length), visibility=PUBLIC
        )

    def many_files(self):
        """10,000 files of 1 KiB in ten directories."""
        self.h.ask("many", "/many", 10000, 1024)
        at = tuple(map(int, self.h.ask("status", "/many").split()))
        answer, where = self.get("/many", at, max_entries=20000, deadline_ms=600000)
        expect(answer.done and answer.size == 10000 << 10, str(answer))
        for i in range(10000):
            with open(f"{where}/many/{i % 10}/{i}", "rb") as f:
                expect(f.read() == b"%-1024d" % i, f"file {i} has another content")
        self.h.ask("remove", "/many")

    def huge(self):
        """512 MiB, of another kind in each MiB."""
        data = b"".join(i.to_bytes(8, "big") * (BLOCK // 8) for i in range(512))
        self.same("/huge", self.h.put("/huge", data, block=64 * BLOCK), data)
        self.h.ask("remove", "/huge")

    def encrypted(self):
        """With the keys in a file of the NameNode's. Those of a KMS: cases/encryption_zones.py."""
        self.h.ask("zone", "/zone")
        at = self.h.put("/zone/f", b"content")
        self.refused("source", "its key provider is jceks://", "/zone/f", at)
        self.refused("not-public", "is not publicly accessible", "/zone/f", at, visibility=PUBLIC)

    def erasure_coded(self):
        """Two DataNodes have no room for parity: all units are read. cases/striped_reads.py has
        more of them."""
        self.h.ask("ec", "/striped", "XOR-2-1-1024k")
        data = os.urandom(3 * BLOCK + 7)
        self.same("/striped/f", self.h.put("/striped/f", data), data)
        self.h.ask("ec", "/legacy", "RS-LEGACY-6-3-1024k")
        at = self.h.put("/legacy/f", b"")
        self.refused("source", "it is erasure-coded by policy 3", "/legacy/f", at)

    def public(self):
        self.h.ask("mkdir", "/public/a/b", "755")
        at = self.h.put("/public/a/b/f", b"content")
        self.same("/public/a/b/f", at, b"content", visibility=PUBLIC)
        self.h.ask("mkdir", "/public/a", "750")
        self.h.ask("own", "/public/a", "alice")
        self.refused(
            "not-public",
            "is not publicly accessible and as such cannot be part of the public cache.",
            "/public/a/b/f",
            at,
            visibility=PUBLIC,
        )
        self.same("/public/a/b/f", at, b"content")
        at = self.h.put("/public/closed", b"content", mode="640")
        self.refused(
            "not-public", "is not publicly accessible", "/public/closed", at, visibility=PUBLIC
        )

    def delegation_token(self):
        """Whose token the job has is who reads, whatever the name; a token that was cancelled is
        refused."""
        data, path, at = b"alice's", "/tokens/own", f"{self.h.root}/credentials"
        stamp = self.h.put(path, data, mode="600")
        service = self.h.ask("token", "alice", at)
        expect(service == f"{self.h.address}:{self.h.port}", service)
        with open(at, "rb") as f:
            credentials = f.read()
        self.refused("source", "Permission denied: user=mallory", path, stamp, login="mallory")
        self.same(path, stamp, data, login="mallory", credentials=credentials)
        self.h.ask("cancel", "alice", at)
        self.refused("auth", "cache", path, stamp, login="alice", credentials=credentials)
        self.same(path, stamp, data, login="alice")

    def next_namenode(self):
        """The first NameNode of the list is not there."""
        at = self.h.put("/failover/f", b"content")
        self.same(
            "/failover/f", at, b"content", servers=f"127.0.0.1:1,{self.h.address}:{self.h.port}"
        )
        self.same("/failover/f", at, b"content", servers=f"{self.h.name}:{self.h.port}")

    def webhdfs(self):
        def url(path):
            return f"webhdfs://{self.h.address}:{self.h.web_port}{path}"

        for length in (0, 1, 3 * BLOCK + 1):
            data, path = os.urandom(length), f"/web/{length}"
            at = self.h.put(path, data)
            self.same(path, at, data, url=url(path))
            self.same(path, at, data, url=url(path), visibility=PUBLIC)
        self.refused(
            "changed", "changed on src filesystem", path, (at[0] - 1, at[1]), url=url(path)
        )
        self.refused(
            "source", "File does not exist: webhdfs://", "/web/none", at, url=url("/web/none")
        )
        at = self.h.put("/web/secret", b"content", owner="bob", mode="600")
        self.refused(
            "source", "permission denied: user=alice", "/web/secret", at, url=url("/web/secret")
        )
        self.refused(
            "not-public",
            "is not publicly accessible",
            "/web/secret",
            at,
            url=url("/web/secret"),
            login="bob",
            visibility=PUBLIC,
        )
        self.same("/web/secret", at, b"content", url=url("/web/secret"), login="bob")

    def replaced(self):
        """A file that is another one when its blocks are asked for."""
        at = self.h.put("/replaced/f", b"content")
        self.h.put("/replaced/f", b"CONTENT")
        answer, _ = self.get("/replaced/f", at)
        expect(not answer.done and answer.reason == "changed", str(answer))

    # ---- DataNodes that fail ----

    def replicas(self, path):
        """The ports of both DataNodes of a file's only block."""
        return wait_for(
            lambda: (found := self.h.blocks(path)[0][1])[1:] and found,
            30,
            "both replicas are reported",
        )

    def spoil(self, path, port, meta=False):
        """One byte of the first chunk, or of its checksum behind the header of seven bytes. Not of
        the last chunk: of a partial one the DataNode has the checksum in memory."""
        block = self.h.blocks(path)[0][0]
        with open(self.h.replica(block, port, meta), "r+b") as f:
            f.seek(8)
            byte = f.read(1)
            f.seek(8)
            f.write(bytes([byte[0] ^ 1]))

    def corrupt(self):
        """One replica is bad on disk, in its data or in its checksums: found whenever it is tried
        first, and reported."""
        for meta in (False, True):
            data, path = os.urandom(100000), f"/corrupt/{meta}"
            at = self.h.put(path, data)
            bad, good = self.replicas(path)
            self.spoil(path, bad, meta)
            for _ in range(40):  # the NameNode shuffles replicas that are equally near
                self.same(path, at, data)
                left = self.h.blocks(path)[0][1]
                if bad not in left:
                    break
            expect(
                left == [good],
                f"{'checksums' if meta else 'data'}: {bad} was not reported in 40 reads: {left}",
            )

    def all_corrupt(self):
        path = "/corrupt/all"
        at = self.h.put(path, os.urandom(100000))
        for port in self.replicas(path):
            self.spoil(path, port)
        self.refused("source", "replicas of block", path, at)

    def serving(self, pid):
        """The DataNode that a process is connected to, or None."""
        inodes = set()
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                target = os.readlink(f"/proc/{pid}/fd/{fd}")
            except OSError:
                continue
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
        with open("/proc/net/tcp", encoding="ascii") as table:
            for row in [line.split() for line in table][1:]:
                port = int(row[2].split(":")[1], 16)
                if row[9] in inodes and port in self.h.datanode_ports:
                    return self.h.datanode_ports.index(port)
        return None

    def in_mid_read(self, path, at, disturb, **more):
        """Stops the worker in the middle of its read, calls disturb(its DataNode) and lets it go
        on. Returns the answer, the place and the DataNode."""
        for _ in range(20):
            loc, request, where = self.start(path, at, **more)

            def middle(loc=loc, where=where):
                copy = os.path.join(where + "_tmp", os.path.basename(path))
                if os.path.exists(where):
                    return "too late"
                if not os.path.exists(copy) or os.path.getsize(copy) == 0:
                    return None
                with open(
                    f"/proc/{loc.process.pid}/task/{loc.process.pid}/children", encoding="ascii"
                ) as f:
                    worker = (f.read().split() or [None])[0]
                if worker is None:
                    return "too late"
                os.kill(int(worker), signal.SIGSTOP)
                wait_for(
                    lambda: open(f"/proc/{worker}/stat", encoding="ascii").read().split()[2]
                    in "TtZ",
                    10,
                    "the worker stops",
                    poll=0.001,
                )
                node = self.serving(worker)
                if node is None or os.path.getsize(copy) >= at[1] - 6 * BLOCK:
                    os.kill(int(worker), signal.SIGCONT)
                    return "too late"
                return int(worker), node

            found = wait_for(middle, 30, "the read begins", poll=0.001)
            if found == "too late":
                self.finish(loc, request)
                continue
            worker, node = found
            disturb(node)
            os.kill(worker, signal.SIGCONT)
            return self.finish(loc, request), where, node
        raise AssertionError("no read was long enough to interrupt")

    def interrupted(self, sig):
        data, path = os.urandom(96 * BLOCK), "/large/f"
        at = self.h.put(path, data, block=96 * BLOCK)
        answer, where, node = self.in_mid_read(
            path, at, lambda node: self.h.kill(node, sig), io_timeout_ms=TIMEOUT_MS
        )
        expect(answer.done and answer.size == len(data), str(answer))
        with open(os.path.join(where, "f"), "rb") as f:
            expect(f.read() == data, "the content differs")
        self.h.ask("remove", "/large")
        return node

    def replaced_in_mid_read(self):
        path = "/large/f"
        at = self.h.put(path, os.urandom(96 * BLOCK), block=96 * BLOCK)
        answer, where, _ = self.in_mid_read(path, at, lambda _: self.h.put(path, b"content"))
        expect(not answer.done and answer.reason == "changed", str(answer))
        expect(
            not os.path.lexists(where) and not os.path.lexists(where + "_tmp"), f"{where} was left"
        )
        self.h.ask("remove", "/large")

    def stopped(self):
        node = self.interrupted(signal.SIGSTOP)
        self.h.kill(node, signal.SIGCONT)

    def killed(self):
        node = self.interrupted(signal.SIGKILL)
        self.same(
            "/sizes/1", tuple(map(int, self.h.ask("status", "/sizes/1").split())), self.one_byte()
        )
        other = 1 - node
        self.h.kill(other)
        self.refused(
            "source",
            "no DataNode delivers block",
            "/sizes/1",
            tuple(map(int, self.h.ask("status", "/sizes/1").split())),
        )

    def one_byte(self):
        block, ports = self.h.blocks("/sizes/1")[0]
        with open(self.h.replica(block, ports[0]), "rb") as f:
            return f.read()


class Failover:
    """Reads from an HA pair of NameNodes; `servers`: both, the first one is active at the
    beginning."""

    def __init__(self, h, place):
        self.h, self.reads = h, Reads(h, place)
        self.servers = ",".join(f"127.0.0.1:{port}" for port in h.ports)
        self.data = os.urandom(64 * BLOCK)  # 64 blocks: the NameNode is asked seven times
        self.at = h.put("/large/f", self.data)

    def same(self, servers):
        self.reads.same("/large/f", self.at, self.data, servers=servers)

    def standby_first(self):
        self.same(self.servers)
        self.same(",".join(reversed(self.servers.split(","))))

    def in_mid_read(self, disturb):
        answer, where, _ = self.reads.in_mid_read(
            "/large/f", self.at, lambda _: disturb(), servers=self.servers
        )
        expect(answer.done and answer.size == len(self.data), str(answer))
        with open(os.path.join(where, "f"), "rb") as f:
            expect(f.read() == self.data, "the content differs")

    def switched(self):
        """The active one becomes the standby in the middle of a read."""
        self.in_mid_read(self.h.switch)

    def killed(self):
        """The active one is killed in the middle of a read; afterwards the other one alone is
        there."""
        self.in_mid_read(self.h.kill_active)
        self.same(self.servers)

    def none_active(self):
        """One is dead, the other one a standby: a read fails when the failovers that are configured
        are used up, and not before."""
        self.h.ask("standby")
        self.reads.refused(
            "source",
            "every server was tried as often as is configured",
            "/large/f",
            self.at,
            servers=self.servers,
            failover=(5, 100, 400),
        )
        loc, request, _ = self.reads.start(
            "/large/f", self.at, servers=self.servers, failover=(1000, 100, 400)
        )
        self.h.ask("active")
        answer = self.reads.finish(loc, request)
        expect(answer.done and answer.size == len(self.data), str(answer))
