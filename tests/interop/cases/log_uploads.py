"""log-uploader against a real HDFS, by its native protocols and WebHDFS: what it writes is read by
Hadoop, by `yarn logs` and by `selvedge logs`; what Hadoop writes by ours; and a file system in
trouble in each way. For test-hdfs."""
import contextlib
import hashlib
import os
import re
import subprocess

from cluster import conf
from cluster.host import wait_for
from interop import hadoop
from interop.hdfs import BLOCK, HaPair, Hdfs
from lib.localizer_process import BUILD
from lib.uploader_process import APP, PLACE, Logs, Uploader, container, dump

LOGS = "/app-logs"
DIRECTORY = os.path.dirname(PLACE)


def expect(condition, detail=""):
    if not condition:
        raise AssertionError(detail)


class Uploads:
    """log-uploader's files, read by Hadoop; Hadoop's, read by ours. Both print the same lines."""

    def __init__(self, h):
        self.h, self.logs = h, Logs()
        h.ask("mkdir", LOGS, "1777")
        self.data = [os.urandom(3 * BLOCK + 12345), b"stderr\n" * 1000, b""]
        for disk, (name, data) in enumerate(zip(("stdout", "std err", "empty"), self.data)):
            self.logs.put(1, name, data, disk=disk % 2)
            self.logs.put(2, name, data[:1000])

    def upload(self, containers=(1, 2, 3), **more):
        return Uploader(
            self.logs,
            containers,
            local=False,
            **{
                "remote": LOGS,
                "servers": f"{self.h.address}:{self.h.port}",
                "timeout_ms": 60000,
                **more,
            },
        )

    def java(self, *args):
        return self.h.program("alice", "AggregatedLogs", *args)

    def web(self):
        """Where WebHDFS is, in place of the native servers."""
        return {"servers": "", "web": f"http://{self.h.address}:{self.h.web_port}"}

    def read_by_hadoop(self):
        """Sizes of several blocks, both codecs, and through WebHDFS; in one JVM."""
        places = []
        for i, more in enumerate(({}, {"codec": 1}, {"codec": 1, **self.web()})):
            answer = self.upload(file=f"node1_{i}", **more).answer()
            expect(answer.outcome == "done" and not answer.text, f"{more}: {answer}")
            places.append(f"{LOGS}/{DIRECTORY}/node1_{i}")
        lines = self.java("read", *(self.h.url(p) for p in places)).decode().splitlines()
        wanted = ["owner alice", "acl VIEW_APP alice", "acl MODIFY_APP  "]
        for number, cut in ((1, None), (2, 1000)):
            wanted.append(f"container {container(number)}")
            order = (
                ("empty", "stdout", "std err") if number == 1 else ("empty", "std err", "stdout")
            )
            for name in order:
                data = self.data[("stdout", "std err", "empty").index(name)][:cut]
                wanted.append(f"file {len(data)} {hashlib.sha256(data).hexdigest()} {name}")
        expect(lines == 3 * [*wanted, "end"], "\n".join(lines))
        for part in range(1, len(PLACE.split("/"))):
            path = f"{LOGS}/" + "/".join(PLACE.split("/")[:part])
            expect(self.h.ask("mode", path) == "770 alice", self.h.ask("mode", path))
        for path in places:
            expect(self.h.ask("mode", path) == "640 alice", self.h.ask("mode", path))

    def read_by_selvedge(self):
        """All three files, of several blocks, by both protocols; no ResourceManager answers."""

        def logs(*args, scheme=f"hdfs://{self.h.address}:{self.h.port}"):
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
                    f"yarn.nodemanager.remote-app-log-dir={scheme}{LOGS}",
                    "--owner",
                    "alice",
                    APP,
                    *args,
                ],
                capture_output=True,
            )
            expect(done.returncode == 0, done.stderr.decode(errors="replace"))
            return done.stdout

        expect(logs(container(1), "-l", "stdout") == 3 * self.data[0], "another content")
        expect(
            logs(container(2), "-l", "std err") == 3 * self.data[1][:1000],
            "another content of a name with a blank",
        )
        expect(
            logs(
                container(1), "-l", "stdout", scheme=f"webhdfs://{self.h.address}:{self.h.web_port}"
            )
            == 3 * self.data[0],
            "over WebHDFS",
        )
        head = f"--- {container(1)} on node1:0, stdout\n".encode()
        expect(logs(container(1)).startswith(head + self.data[0]), "the line above it")

    def written_by_hadoop(self):
        for codec in ("none", "gz"):
            path = f"{self.logs.root}/by-hadoop-{codec}"
            self.java(
                "write", "file://" + path, codec, self.logs.disks[0], container(1), container(2)
            )
            for number in (1, 2):
                found = [
                    (n, size, digest) for c, n, size, digest in dump(path) if c == container(number)
                ]
                names = {1: ("stdout", "empty"), 2: ("empty", "std err", "stdout")}[number]
                wanted = [
                    self.data[("stdout", "std err", "empty").index(n)][
                        : None if number == 1 else 1000
                    ]
                    for n in names
                ]
                expect(
                    sorted(found)
                    == sorted(
                        (n.encode(), len(d), hashlib.sha256(d).hexdigest())
                        for n, d in zip(names, wanted)
                    ),
                    str(found),
                )

    def refused(self):
        answer = self.upload(user="bob", group="no-such-group-of-bob").answer()
        expect(
            answer.outcome == "refused" and "no-such-group-of-bob" not in os.listdir("/"),
            str(answer),
        )
        answer = Uploader(
            self.logs,
            [1],
            local=False,
            remote="/nowhere",
            servers=f"{self.h.address}:{self.h.port}",
        ).answer()
        expect(
            answer.outcome == "refused" and "does not exist: make it with mode 1777" in answer.text,
            str(answer),
        )
        self.h.ask("mkdir", "/closed", "755")
        answer = Uploader(
            self.logs, [1], local=False, remote="/closed", servers=f"{self.h.address}:{self.h.port}"
        ).answer()
        expect(answer.outcome == "refused" and "Permission denied" in answer.text, str(answer))
        self.foreign()

    def foreign(self):
        """Another user neither reads a file nor writes beside it."""
        for command, path in (
            ("-cat", f"{LOGS}/{DIRECTORY}/node1_0"),
            ("-touchz", f"{LOGS}/{DIRECTORY}/planted"),
            ("-rm", f"{LOGS}/{DIRECTORY}/node1_0"),
        ):
            try:
                self.h.program("bob", "org.apache.hadoop.fs.FsShell", command, path)
            except RuntimeError as error:
                expect("Permission denied: user=bob" in str(error), str(error))
            else:
                raise AssertionError(f"bob: {command} {path} succeeds")

    def blocks(self, path):
        try:
            return self.h.blocks(path)
        except RuntimeError:
            return []

    def datanode_killed(self):
        """In mid-write; the other one takes the whole file anew, with one replica."""
        self.logs.put(4, "large", b"\0" * (64 * BLOCK))
        u = self.upload([4], file="node1_9")
        tmp = f"{LOGS}/{DIRECTORY}/node1_9.tmp"
        wait_for(lambda: len(self.blocks(tmp)) >= 5, 30, "the upload begins", poll=0.001)
        self.h.kill(0)
        answer = u.answer(120)
        expect(answer.outcome == "done" and answer.bytes == 64 * BLOCK, str(answer))
        self.h.start_datanode(0)
        self.h.wait_datanodes(2)

    # ---- A file system in trouble ----

    def safe_mode(self):
        """Tried again later, by both protocols; nothing is left under the file's name."""
        self.h.ask("safemode", "enter")
        try:
            for more in ({}, self.web()):
                answer = self.upload(file="node1_4", **more).answer()
                expect(
                    answer.outcome == "failed" and "safe mode" in answer.text.lower(), str(answer)
                )
        finally:
            self.h.ask("safemode", "leave")
        expect(
            "node1_4" not in self.h.ask("list", f"{LOGS}/{DIRECTORY}").split(), "a file is there"
        )
        for more in ({}, self.web()):
            expect(self.upload(file="node1_4", **more).answer().outcome == "done")

    def quota(self):
        """Of bytes and of names: refused, with HDFS's words."""
        for path, names, size, words in (
            ("/few-bytes", -1, BLOCK, "DiskSpace quota"),
            ("/few-names", 4, -1, "NameSpace quota"),
        ):
            self.h.ask("mkdir", path, "1777")
            self.h.ask("quota", path, names, size)
            for more in ({}, self.web()):
                answer = self.upload(remote=path, **more).answer()
                expect(
                    answer.outcome == "refused" and words in answer.text, f"{path} {more}: {answer}"
                )
            self.h.ask("quota", path, -1, -1)
            expect(self.upload(remote=path).answer().outcome == "done", "with the quota gone")

    def namenode_away(self):
        """Tried again later; done when it is back and its DataNodes have its keys."""
        self.h.kill_namenode()
        answer = self.upload(file="node1_6").answer(120)
        expect(answer.outcome == "failed" and "Connection refused" in answer.text, str(answer))
        self.h.start_namenode_again()
        wait_for(
            lambda: self.upload(file="node1_6").answer(120).outcome == "done",
            120,
            "an upload to the NameNode that is back",
        )

    # ---- Rolled logs, many containers ----

    def yarn_logs(self, remote, *args, **more):
        """`yarn logs` of this version, without a ResourceManager."""
        site = f"{self.h.root}/client-site.xml"
        conf.write_xml(
            site,
            {
                "yarn.log-aggregation-enable": "true",
                "yarn.nodemanager.remote-app-log-dir": remote,
                "yarn.resourcemanager.address": "127.0.0.1:1",
                "yarn.client.failover-max-attempts": 0,
                "yarn.resourcemanager.connect.max-wait.ms": 200,
                "ipc.client.connect.max.retries": 0,
                "yarn.resourcemanager.connect.retry-interval.ms": 100,
                **more,
            },
        )
        return self.h.program(
            "alice",
            "org.apache.hadoop.yarn.client.cli.LogsCLI",
            "-applicationId",
            APP,
            "-appOwner",
            "alice",
            *args,
            site=site,
        ).decode(errors="replace")

    def rolled(self):
        """Three files of one node: `yarn logs` prints each log once; the older layout for Hadoop
        2."""
        remote, older = "/rolled-logs", self.h.version.startswith("2.")
        layout = {"older": True, "suffix": "logs"} if older else {}
        self.h.ask("mkdir", remote, "1777")
        for time in (1700000000001, 1700000000002):
            self.logs.put(5, "log.1", f"rolled at {time}\n".encode())
            answer = self.upload(
                [5],
                remote=remote,
                app_runs=True,
                rolled_include=r"^log\.",
                time=str(time),
                **layout,
            ).answer()
            expect(answer.outcome == "done" and answer.files == 1, str(answer))
        self.logs.put(5, "stdout", b"at the end\n")
        answer = self.upload(
            [5], remote=remote, rolled_include=r"^log\.", time="1700000000003", **layout
        ).answer()
        expect(answer.outcome == "done" and answer.files == 1, str(answer))
        printed = self.yarn_logs(remote)
        found = re.findall(r"^LogType:(\S+)$|^(rolled at \d+|at the end)$", printed, re.M)
        expect(
            sorted(a or b for a, b in found)
            == [
                "at the end",
                "log.1",
                "log.1",
                "rolled at 1700000000001",
                "rolled at 1700000000002",
                "stdout",
            ],
            printed,
        )
        if hadoop.BRIEF:
            return
        one = self.yarn_logs(
            remote, "-containerId", container(5), *(() if older else ("-log_files", "stdout"))
        )
        expect("at the end" in one and (older or "rolled at" not in one), one)

    def many_containers(self):
        """10,000 of them in one file: listed and read by Hadoop and by `selvedge logs`."""
        logs = Logs()
        try:
            for n in range(1, 10001):
                logs.put(n, "stdout", b"of %d\n" % n, disk=n % 2)
            answer = (
                Uploader(
                    logs,
                    [],
                    local=False,
                    remote="/many-logs",
                    servers=f"{self.h.address}:{self.h.port}",
                ).answer(300)
                if self.h.ask("mkdir", "/many-logs", "1777")
                else None
            )
            expect(answer.outcome == "done" and answer.files == 10000, str(answer))
            lines = self.java("read", self.h.url(f"/many-logs/{PLACE}")).decode().splitlines()
            expect(
                [x for x in lines if x.startswith("container ")]
                == [f"container {container(n)}" for n in range(1, 10001)]
                and sum(x.startswith("file ") for x in lines) == 10000,
                f"{len(lines)} lines",
            )
            expect(
                self.yarn_logs(
                    "/many-logs", "-containerId", container(9999), "-log_files", "stdout"
                ).count("of 9999\n")
                == 1
            )
        finally:
            logs.close()


class FullDisks(Hdfs):
    """One DataNode whose disk has 48 MiB, half of which it keeps free: a DataNode that fills its
    disk takes it for a broken one, and ends. By default it takes no block on a disk with less than
    a gigabyte."""

    def __init__(self, version):
        super().__init__(
            version,
            datanodes=1,
            site={
                "dfs.replication": 1,
                "dfs.datanode.du.reserved": 24 << 20,
                "dfs.datanode.round-robin-volume-choosing-policy.additional-available-space": 0,
                "dfs.namenode.redundancy.considerLoad": "false",
            },
        )

    def _start_datanodes(self):
        os.makedirs(f"{self.root}/data0")
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", f"{self.root}/data0"], check=True
        )
        super()._start_datanodes()

    def resize(self, size):
        subprocess.run(["mount", "-o", f"remount,size={size}", f"{self.root}/data0"], check=True)

    def __exit__(self, *error):
        with contextlib.suppress(ValueError):
            for d in self.datanodes:
                if d:
                    self._end(d)
        subprocess.run(["umount", "-l", f"{self.root}/data0"], check=False)
        super().__exit__(*error)


def disk_full(version):
    """The only DataNode's disk fills in mid-write: tried again later, nothing is left, and done
    when there is room."""
    with FullDisks(version) as h:
        u = Uploads(h)
        try:
            u.logs.put(4, "large", b"\0" * (64 * BLOCK))
            uploader, tmp = u.upload([4]), f"{LOGS}/{DIRECTORY}/node1_8041.tmp"
            wait_for(lambda: len(u.blocks(tmp)) >= 5, 30, "the upload begins", poll=0.001)
            answer = uploader.answer(120)
            expect(answer.outcome == "failed", str(answer))
            expect(not h.ask("list", f"{LOGS}/{DIRECTORY}"), h.ask("list", f"{LOGS}/{DIRECTORY}"))
            h.resize("1g")
            wait_for(
                lambda: u.upload([4]).answer(120).outcome == "done", 120, "an upload that fits"
            )
        finally:
            u.logs.close()


class FailoverUploads:
    """Uploads to an HA pair, in the middle of which the other NameNode becomes active."""

    def __init__(self, h):
        self.h, self.u = h, Uploads(h)
        self.servers = ",".join(f"127.0.0.1:{port}" for port in h.ports)
        self.u.logs.put(4, "large", os.urandom(32 * BLOCK))

    def in_mid_write(self, name, disturb):
        u = self.u.upload([4], servers=self.servers, file=name, rate=8 * BLOCK)
        tmp = f"{LOGS}/{DIRECTORY}/{name}.tmp"
        wait_for(lambda: len(self.u.blocks(tmp)) >= 3, 60, "the upload begins", poll=0.01)
        disturb()
        answer = u.answer(240)
        expect(answer.outcome == "done" and answer.bytes == 32 * BLOCK, str(answer))
        path = f"{self.u.logs.root}/read"
        self.h.ask("get", f"{LOGS}/{DIRECTORY}/{name}", path)
        with open(self.u.logs.path(4, "large"), "rb") as f:
            digest = hashlib.sha256(f.read()).hexdigest()
        expect(dump(path) == [(container(4), b"large", 32 * BLOCK, digest)], str(dump(path)))

    def switched(self):
        self.in_mid_write("node1_1", self.h.switch)

    def killed(self):
        self.in_mid_write("node1_2", self.h.kill_active)


def run(report, h):
    """Of one HDFS: all cases with the reference, what readers of other versions make of our files
    with them."""
    u = Uploads(h)
    cases = [u.rolled]
    if h.version == hadoop.REFERENCE:
        cases = [
            u.read_by_hadoop,
            u.read_by_selvedge,
            u.written_by_hadoop,
            u.refused,
            u.safe_mode,
            u.quota,
            u.rolled,
            u.datanode_killed,
        ]
        cases += [] if hadoop.BRIEF else [u.many_containers, u.namenode_away]
    try:
        for case in cases:
            report.case(f"{h.version}: logs {case.__name__.replace('_', ' ')}", case)
    finally:
        u.logs.close()


def failover(report, version):
    with HaPair(version) as h:
        f = FailoverUploads(h)
        try:
            for case in (f.switched, f.killed):
                report.case(
                    f"{version}: logs, two NameNodes, {case.__name__.replace('_', ' ')}", case
                )
        finally:
            f.u.logs.close()
