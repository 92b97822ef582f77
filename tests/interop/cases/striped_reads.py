"""container-localizer's reads of erasure-coded files from a real HDFS with five DataNodes: sizes,
many block groups, corrupt units, and as many DataNodes lost as there are parity units. For
test-hdfs."""
import os

from cluster.host import wait_for
from interop.cases.hdfs_reads import Reads, expect
from interop.hdfs import BLOCK, Hdfs
from lib.localizer_process import Workplace, left_over

CELL = 1 << 20
DATANODES = 5
POLICIES = (("RS-3-2-1024k", 3, 2), ("XOR-2-1-1024k", 2, 1))
SIZES = (0, 1, CELL - 1, CELL, CELL + 1, 2 * CELL, 3 * CELL, 3 * CELL + 1, 5 * CELL - 7)


class Striped:
    def __init__(self, h, place):
        self.h, self.reads, self.files = h, Reads(h, place), []

    def put(self, policy, name, size, block=BLOCK):
        data, path = os.urandom(size), f"/{policy}/{name}"
        self.files.append((path, self.h.put(path, data, block=block), data))

    def same(self, policy):
        for path, at, data in self.files:
            if path.startswith(f"/{policy}/"):
                self.reads.same(path, at, data)

    def sizes(self):
        """With blocks of one cell and of two: a group is one stripe, or two."""
        for policy, data, _ in POLICIES:
            self.h.ask("ec", f"/{policy}", policy)
            for size in SIZES:
                self.put(policy, size, size)
            self.put(policy, "groups", 7 * data * CELL + CELL // 2 + 3, block=2 * CELL)
            self.put(policy, "band", 12 * data * CELL + 5, block=16 * CELL)
            self.same(policy)

    def unit(self, path, number):
        """The file of a unit of a file's first group, on whichever DataNode it is."""
        name = self.h.blocks(path)[0][0]
        wanted = f"blk_{int(name.removeprefix('blk_')) + number}"
        for i in range(DATANODES):
            for where, _, names in os.walk(f"{self.h.root}/data{i}"):
                if wanted in names:
                    return os.path.join(where, wanted)
        raise FileNotFoundError(wanted)

    def corrupt(self):
        """A unit whose bytes do not match its checksums is left out, and reported: the NameNode
        names its place no more."""
        policy, size = POLICIES[0][0], 5 * CELL
        self.put(policy, "corrupt", size)
        path, at, data = self.files.pop()
        with open(self.unit(path, 1), "r+b") as f:
            f.seek(12345)
            byte = f.read(1)
            f.seek(12345)
            f.write(bytes([byte[0] ^ 1]))
        wait_for(lambda: len(self.h.blocks(path)[0][1]) == 5, 60, "the DataNodes tell their units")
        self.reads.same(path, at, data)
        left = self.h.blocks(path)[0][1]
        expect(len(left) == 4, f"after the read the NameNode names {left}")

    def lost(self):
        """One DataNode, then a second one: what the policy bears is read, one more is refused."""
        for killed, (bearing, failing) in enumerate(
            ((("RS-3-2-1024k", "XOR-2-1-1024k"), None), (("RS-3-2-1024k",), "XOR-2-1-1024k"))
        ):
            self.h.kill(killed)
            for policy in bearing:
                self.same(policy)
            if failing:
                self.some_refused(failing)

    def some_refused(self, policy):
        """Of a policy with one parity unit: files that both dead DataNodes had units of."""
        refused = 0
        for path, at, data in self.files:
            if not path.startswith(f"/{policy}/"):
                continue
            answer, where = self.reads.get(path, at)
            if answer.done:
                with open(os.path.join(where, os.path.basename(path)), "rb") as f:
                    expect(f.read() == data, f"{path} has another content")
            else:
                refused += 1
                expect("units that are needed are there" in answer.text, str(answer))
        expect(refused > 0, "no file had units on both dead DataNodes")


def run(report, version):
    with Hdfs(version, datanodes=DATANODES) as h:
        place = Workplace()
        try:
            s = Striped(h, place)
            for case in (s.sizes, s.corrupt, s.lost):
                report.case(f"{version}: striped files, {case.__name__}", case)
            report.check(
                f"{version}: striped files, no unfinished entry is left",
                not [n for n in left_over(place.public) if "_tmp" in n],
            )
        finally:
            place.close()
