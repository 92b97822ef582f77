"""Files in encryption zones of a real HDFS with a real KMS: written by Hadoop and read by
container-localizer and `selvedge logs`, written by log-uploader and read by Hadoop. For
test-hdfs."""
import contextlib
import hashlib
import os
import subprocess

from interop.cases import file_systems
from interop.cases.hdfs_reads import Reads, expect
from interop.hdfs import BLOCK
from interop.kms import DENIED
from lib.localizer_process import BUILD, PUBLIC, Workplace
from lib.uploader_process import APP, PLACE, Logs, Uploader, container

SIZES = (0, 1, 15, 16, 17, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK)
SEEDS = 3  # of random operations
MARK = b"this text is in no file of a DataNode. "
KEY_SHELL = "org.apache.hadoop.crypto.key.KeyShell"
CRYPTO_ADMIN = "org.apache.hadoop.hdfs.tools.CryptoAdmin"


class Zones:
    def __init__(self, h, kms, place):
        self.h, self.kms, self.reads, self.logs = h, kms, Reads(h, place), Logs()

    def created(self):
        """`hadoop key create` and `hdfs crypto -createZone`, with keys of 128 and 256 bits."""
        for path, bits, mode in (("/zone", 128, "755"), ("/zone-256", 256, "1777")):
            self.h.ask("mkdir", path, mode)
            name = f"key-{bits}"
            self.h.program("root", KEY_SHELL, "create", name, "-size", bits)
            self.h.program("root", CRYPTO_ADMIN, "-createZone", "-keyName", name, "-path", path)
        listed = self.h.program("root", CRYPTO_ADMIN, "-listZones").decode()
        expect("/zone " in listed and "key-256" in listed, listed)

    def written_by_hadoop(self):
        """Files of all sizes, of many blocks, and a directory of them."""
        for path in ("/zone", "/zone-256"):
            for size in SIZES:
                data = os.urandom(size)
                name = f"{path}/sizes/{size}"
                self.reads.same(name, self.h.put(name, data), data)
        data = os.urandom(25 * BLOCK // 8 + 1)
        self.reads.same(
            "/zone/many", self.h.put("/zone/many", data, block=BLOCK // 8), data, login="bob"
        )
        at = tuple(map(int, self.h.ask("status", "/zone/sizes").split()))
        answer, where = self.reads.get("/zone/sizes", at)
        expect(answer.done and answer.size == sum(SIZES), str(answer))
        expect(len(os.listdir(f"{where}/sizes")) == len(SIZES), "children")
        self.reads.refused(
            "not-public",
            "is not publicly accessible",
            "/zone/many",
            tuple(map(int, self.h.ask("status", "/zone/many").split())),
            visibility=PUBLIC,
        )

    def striped(self):
        self.h.ask("ec", "/zone/striped", "XOR-2-1-1024k")
        for size in (1, 3 * BLOCK + 7):
            data = os.urandom(size)
            name = f"/zone/striped/{size}"
            self.reads.same(name, self.h.put(name, data), data)

    def random_operations(self):
        """Reads at offsets and writes by ours in a zone, beside a local directory."""
        file_systems.same_answers(self.h, "/zone/compare", SEEDS)

    def upload(self, data, **more):
        """Uploads a log of these bytes into the zone of 256 bits; the answer."""
        self.logs.put(1, "stdout", data)
        return Uploader(
            self.logs,
            [1],
            local=False,
            remote="/zone-256",
            servers=f"{self.h.address}:{self.h.port}",
            timeout_ms=60000,
            **more,
        ).answer(120)

    def on_disks(self):
        """What the DataNodes have."""
        for i in range(self.h.n_datanodes):
            for where, _, names in os.walk(f"{self.h.root}/data{i}"):
                for name in names:
                    with contextlib.suppress(FileNotFoundError):  # another file's, just deleted
                        with open(os.path.join(where, name), "rb") as f:
                            yield f.read()

    def written_by_ours(self):
        """Logs of 5 MiB and one block: read by Hadoop, by `selvedge logs` in ranges and by
        container-localizer, and nowhere in the clear."""
        data = MARK * (5 * BLOCK // len(MARK)) + os.urandom(BLOCK)
        answer = self.upload(data)
        expect(answer.outcome == "done" and not answer.text, str(answer))
        path, local = f"/zone-256/{PLACE}", f"{self.logs.root}/copy"
        lines = self.h.program("alice", "AggregatedLogs", "read", self.h.url(path)).decode()
        digest = hashlib.sha256(data).hexdigest()
        expect(f"file {len(data)} {digest} stdout" in lines.splitlines(), lines)
        self.h.ask("get", path, local)
        with open(local, "rb") as f:
            copy = f.read()
        expect(MARK in copy, "Hadoop's copy is in the clear")
        self.reads.same(path, tuple(map(int, self.h.ask("status", path).split())), copy)
        expect(not any(MARK in content for content in self.on_disks()), "a DataNode has the text")
        expect(self.printed() == data, "`selvedge logs` prints another content")

    def printed(self):
        done = subprocess.run(
            [
                os.path.join(BUILD, "selvedge"),
                "logs",
                "--conf",
                self.h.conf_dir,
                "--wait",
                "1ms",
                "-D",
                "yarn.log-aggregation-enable=true",
                "-D",
                "yarn.resourcemanager.address=127.0.0.1:1",
                "-D",
                f"yarn.nodemanager.remote-app-log-dir={self.h.url('/zone-256')}",
                "--owner",
                "alice",
                APP,
                container(1),
                "-l",
                "stdout",
            ],
            capture_output=True,
        )
        expect(done.returncode == 0, done.stderr.decode(errors="replace"))
        return done.stdout

    def denied(self):
        """By the KMS, whatever HDFS allows; a token of the job says who asks."""
        data = os.urandom(1000)
        at, name = self.h.put("/zone/denied", data), "/zone/denied"
        self.reads.refused("source", f"{DENIED}", name, at, login=DENIED)
        credentials = f"{self.h.root}/zone-credentials"
        self.h.ask("token", "alice", credentials)
        with open(credentials, "rb") as f:
            credentials = f.read()
        expect(b"kms-dt" in credentials, "Hadoop's client gets a token of the KMS")
        self.reads.same(name, at, data, login=DENIED, credentials=credentials)
        self.logs.put(1, "stdout", b"x")
        answer = Uploader(
            self.logs,
            [1],
            local=False,
            remote="/zone-256",
            servers=f"{self.h.address}:{self.h.port}",
            timeout_ms=60000,
            user=DENIED,
        ).answer(60)
        expect(answer.outcome == "refused" and DENIED in answer.text, str(answer))

    def away(self):
        """The KMS is dead: refused, naming it; and back."""
        data = os.urandom(1000)
        at, name = self.h.put("/zone/away", data), "/zone/away"
        self.kms.kill()
        try:
            self.reads.refused("source", f":{self.kms.port}: ", name, at)
            answer = self.upload(b"x", file="node1_7")
            expect(answer.outcome == "failed" and f":{self.kms.port}" in answer.text, str(answer))
        finally:
            self.kms.start()
        self.reads.same(name, at, data)
        expect(self.upload(b"x", file="node1_7").outcome == "done", "an upload with the KMS back")


def run(report, h, kms):
    place = Workplace()
    z = Zones(h, kms, place)
    try:
        for case in (
            z.created,
            z.written_by_hadoop,
            z.striped,
            z.random_operations,
            z.written_by_ours,
            z.denied,
            z.away,
        ):
            report.case(f"{h.version}: encryption zones, {case.__name__.replace('_', ' ')}", case)
    finally:
        z.logs.close()
        place.close()
