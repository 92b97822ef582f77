"""What Apache's ResourceManager shows of an application's logs on our node and on Apache's
NodeManager, side by side: the same application, the same trouble of HDFS. What each case finds is a
row of docs/operate/logs.md. For test-log-states."""
import contextlib
import glob
import html
import os
import re
import urllib.request

from cluster import conf
from cluster.cluster import PLACE
from interop import hadoop, peers
from interop.cases.log_uploads import FullDisks
from interop.hdfs import BLOCK, HaPair, Hdfs

APACHE = f"apache-{hadoop.REFERENCE}"
ROOT = "/states"
FINAL = ("SUCCEEDED", "FAILED", "TIME_OUT")
# What Apache's NodeManager gives, seen with 3.4.2. Where it cannot begin a file it fails on the way
# to its report: the ResourceManager has NOT_START, after ten minutes TIME_OUT.
OF_APACHE = {
    "fine": "SUCCEEDED",
    "quota": "FAILED",
    "forbidden": "NOT_START",
    "safe mode": "NOT_START",
    "NameNode away": "NOT_START",
    "DataNode killed": "SUCCEEDED",
    "failing over": "SUCCEEDED",
    "disk full": "SUCCEEDED",
}
LARGE = "head -c 24000000 /dev/zero"
CONTAINERS = 8  # do not fit on one node of NODE_MB, nor beside an ApplicationMaster
NODE_MB = 448
BYTES_PER_SECOND = (
    16 << 20
)  # of our node: a large log is still being written when Apache's is begun
STATUS_CLASS = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"


def expect(condition, detail=""):
    if not condition:
        raise AssertionError(detail)


def is_final(found):
    return all(status in FINAL for status, _ in found.values())


def of_application(found):
    """What an application's status is made of that of two nodes."""
    statuses = {status for status, _ in found.values()}
    if statuses <= set(FINAL):
        return next(s for s in ("FAILED", "TIME_OUT", "SUCCEEDED") if s in statuses)
    return "RUNNING_WITH_FAILURE" if "RUNNING_WITH_FAILURE" in statuses else "RUNNING"


def nothing():
    pass


class States:
    """On a cluster of two nodes, the first one ours."""

    def __init__(self, c, h):
        self.c, self.h, self.gates, self.app = c, h, 0, None
        self.user = c.submitter.pw_name
        h.ask("mkdir", f"/user/{self.user}", "700")
        h.ask("own", f"/user/{self.user}", self.user)
        h.ask("mkdir", ROOT, "1777")

    def by_node(self, app):
        """{"selvedge" or "apache": (status, text beside it)} of the ResourceManager's page, which
        has no rows of nodes that have succeeded any more once all have ended."""
        with urllib.request.urlopen(
            f"{self.c.rm_url}/cluster/logaggregationstatus/{app}", timeout=60
        ) as answer:
            page = html.unescape(answer.read().decode())
        found = {}
        for name, node in zip(("selvedge", "apache"), self.c.nodes):
            row = re.search(rf":{node.ports['rpc']}\b(.*?)</tr>", page, re.S)
            cells = (
                [
                    re.sub(r"<[^>]*>", " ", x).strip()
                    for x in re.findall(r"<td[^>]*>(.*?)(?=<td|$)", row.group(1), re.S)
                ]
                if row
                else []
            )
            if cells:
                found[name] = (cells[0], " ".join(cells[1:]))
        if self.rest(app) in FINAL:
            found = {name: found.get(name, ("SUCCEEDED", "")) for name in ("selvedge", "apache")}
        return found

    def rest(self, app):
        return peers.Application(self.c, app).report().get("logAggregationStatus")

    def local(self, node, app):
        return [p for d in node.log_dirs for p in glob.glob(f"{d}/{app}/container_*/*")]

    def submit(self, disturb, command="echo over", after=None):
        """An application with containers on both nodes; disturb() while it runs, after(its id) when
        it has ended. Its id."""
        self.gates += 1
        gate = f"{self.c.home}/go{self.gates}"
        waits = f"until test -e {gate}; do sleep 0.2; done"
        with peers.RunningShell(
            self.c, "-shell_command", f"{waits}; {command}", "-num_containers", str(CONTAINERS)
        ) as running:
            app = running.application.id
            self.c.wait(
                lambda: all(self.local(node, app) for node in self.c.nodes),
                120,
                "both nodes run containers of it",
            )
            disturb()
            with open(gate, "wb"):
                os.chmod(gate, 0o644)
            self.c.wait(
                lambda: running.application.report().get("state") == "FINISHED", 120, f"{app} ends"
            )
            if after:
                after(app)
            running.finish()
        self.app = app
        return app

    def wait(self, app, end, what):
        """by_node() as soon as end() is true of it."""
        last = {}

        def reached():
            last.clear()
            last.update(self.by_node(app))
            return len(last) == 2 and end(last)

        try:
            self.c.wait(reached, 120, what)
        except peers.ClusterError as error:
            raise AssertionError(f"{error}: {last}\n{self.of_daemons(app)}") from None
        return last

    def of_daemons(self, app):
        """Lines of the daemons' logs about uploads of an application."""
        lines = []
        for daemon in (self.c.rm, *(n.process for n in self.c.nodes)):
            with open(daemon.log, encoding="utf-8", errors="replace") as f:
                lines += [
                    daemon.log + "\n",
                    *[x for x in f if app in x and re.search("upload|log|Log|FINISHED|ended", x)][
                        -25:
                    ],
                ]
        return "".join(lines)

    def tell(self, case, app, found):
        left = [len(self.local(node, app)) for node in self.c.nodes]
        shown = {name: (status, text.splitlines()[:1]) for name, (status, text) in found.items()}
        print(f"  {case}: {shown}; logs left on the nodes: {left}", flush=True)
        self.told_to_clients(app, of_application(found))
        expect(found["apache"][0] == OF_APACHE[case], f"Apache's node gives {found['apache']}")

    def told_to_clients(self, app, wanted):
        """REST and `yarn app -status` say the same."""
        told = peers.client(self.c, STATUS_CLASS, "application", "-status", app)
        found = re.search(r"Log Aggregation Status : (\S+)$", told.stdout, re.M)
        expect(
            self.rest(app) == wanted and found and found.group(1) == wanted,
            f"{self.rest(app)} {found} instead of {wanted}: {told.stdout[-2000:]}",
        )

    def both_succeed(self, app, case):
        found = self.wait(app, is_final, "the end of both uploads")
        self.tell(case, app, found)
        expect(found["selvedge"][0] == "SUCCEEDED", str(found))

    # ---- The cases, in the order in which they leave a file system for the next one ----

    def fine(self):
        app = self.submit(nothing)
        self.both_succeed(app, "fine")
        self.c.wait(
            lambda: not any(self.local(n, app) for n in self.c.nodes),
            60,
            "no logs are left on the nodes",
        )
        self.both_files(app)
        self.foreign(app)

    def yarn_logs(self, app, *args):
        return self.h.program(
            self.user,
            "org.apache.hadoop.yarn.client.cli.LogsCLI",
            "-applicationId",
            app,
            *args,
            site=f"{self.c.conf_dir}/yarn-site.xml",
        ).decode(errors="replace")

    def both_files(self, app):
        """Our file and Apache's, which lie in one directory, are printed together, by `yarn logs`
        and `selvedge logs`."""
        whole = self.yarn_logs(app)
        found = set(re.findall(r"^Container: (\S+) on (\S+)_(\d+)", whole, re.M))
        expect(
            len(found) == CONTAINERS + 1
            and {port for _, _, port in found} == {str(n.ports["rpc"]) for n in self.c.nodes}
            and len(re.findall("^over$", whole, re.M)) == CONTAINERS,
            whole,
        )
        containers = {container for container, _, _ in found}
        ours = self.c.selvedge("logs", app)
        expect(
            ours.returncode == 0 and len(re.findall("^over$", ours.stdout, re.M)) == CONTAINERS,
            str(ours),
        )
        master = self.yarn_logs(app, "-am", "1")
        expect(
            {x[-6:] for x in re.findall(r"^Container: (\S+) on ", master, re.M)} == {"000001"},
            master,
        )
        first = self.yarn_logs(app, "-size", "2", "-log_files", "stdout")
        expect(
            len(re.findall("^ov$", first, re.M)) == CONTAINERS
            and not re.search("^over$", first, re.M),
            first,
        )
        listed = self.yarn_logs(app, "-show_application_log_info")
        expect(all(container in listed for container in containers), listed)

    def foreign(self, app):
        """Another user reads nothing of it."""
        done = self.c.selvedge("logs", app, user=self.c.users[1])
        expect(
            done.returncode == 1
            and "over" not in done.stdout
            and "Permission denied" in done.stderr,
            str(done),
        )

    def quota(self):
        """FAILED on both; our node keeps the logs."""
        app = self.submit(lambda: self.h.ask("quota", ROOT, -1, BLOCK))
        found = self.wait(app, is_final, "the end of both uploads")
        self.h.ask("quota", ROOT, -1, -1)
        self.tell("quota", app, found)
        expect(
            found["selvedge"][0] == "FAILED" and "DiskSpace quota" in found["selvedge"][1],
            str(found),
        )
        expect(self.local(self.c.nodes[0], app), "our node has deleted the logs")

    def forbidden(self):
        """The user's directory is somebody else's: FAILED, where Apache's node says nothing at
        all."""
        path = f"{ROOT}/{self.user}"
        self.h.ask("mkdir", path, "700")
        self.h.ask("own", path, "root")
        app = self.submit(nothing)
        found = self.wait(app, lambda found: found["selvedge"][0] in FINAL, "the end of our upload")
        self.h.ask("own", path, self.user)
        self.tell("forbidden", app, found)
        expect(
            found["selvedge"][0] == "FAILED"
            and "it belongs to root" in found["selvedge"][1]
            and self.local(self.c.nodes[0], app),
            str(found),
        )

    def repeated(self, case, disturb, words, restore, **more):
        """Apache's node gives up and deletes its logs; ours says RUNNING_WITH_FAILURE, tries again,
        and SUCCEEDED when HDFS is writable."""
        app = self.submit(disturb, **more)
        self.c.wait(lambda: not self.local(self.c.nodes[1], app), 240, "Apache's node gives up")
        found = self.wait(
            app, lambda found: found["selvedge"][0] == "RUNNING_WITH_FAILURE", "our node repeats"
        )
        if OF_APACHE[case] in FINAL:
            found = self.wait(
                app, lambda found: found["apache"][0] in FINAL, "Apache's node reports"
            )
        self.tell(case, app, found)
        expect(words in found["selvedge"][1].lower(), str(found))
        expect(self.local(self.c.nodes[0], app), "our node has deleted the logs")
        restore()
        self.wait(
            app, lambda found: found["selvedge"][0] == "SUCCEEDED", "our node uploads the logs"
        )
        self.c.wait(lambda: not self.local(self.c.nodes[0], app), 60, "our node deletes the logs")

    def safe_mode(self):
        self.repeated(
            "safe mode",
            lambda: self.h.ask("safemode", "enter"),
            "safe mode",
            lambda: self.h.ask("safemode", "leave"),
        )

    def namenode_away(self):
        self.repeated(
            "NameNode away", self.h.kill_namenode, "connection refused", self.h.start_namenode_again
        )

    def datanode_killed(self):
        """While both nodes write."""

        def kill(app):
            at = f"{ROOT}/{self.user}/bucket-logs-tfile/{app[-4:]}/{app}"

            def written():
                """Two blocks at least of each node's file; ours, which is slower, is not
                complete."""
                files = self.h.ask("list", at).split()
                begun = [n for n in files if n.endswith(".tmp")]
                return (
                    len(files) == 2
                    and begun
                    and all(len(self.h.blocks(f"{at}/{n}")) >= 2 for n in begun)
                )

            self.c.wait(written, 60, f"both nodes write below {at}")
            self.h.kill(0)

        app = self.submit(nothing, command=LARGE, after=kill)
        self.both_succeed(app, "DataNode killed")
        self.h.start_datanode(0)
        self.h.wait_datanodes(2)

    def disk_full(self):
        """Of the only DataNode; then it has room."""
        self.repeated("disk full", self.fill, "replication", self.make_room)

    def make_room(self):
        """What Apache's node calls a success is a file without a block."""
        at = f"{ROOT}/{self.user}/bucket-logs-tfile/{self.app[-4:]}/{self.app}"
        files = {
            name: len(self.h.blocks(f"{at}/{name}")) for name in self.h.ask("list", at).split()
        }
        print(f"  blocks of the files: {files}", flush=True)
        expect(not any(files.values()), str(files))
        self.h.resize("1g")

    def fill(self):
        """Until the NameNode has no place for a block any more."""
        with contextlib.suppress(RuntimeError):
            for i in range(1000):
                self.h.put(f"/fill/{i}", bytes(BLOCK), replicas=1)
        expect(self.h.ask("list", "/fill"), "the disk was full before")

    def failing_over(self):
        """No NameNode is active when the application ends; then the other one is."""

        def activate(_app):
            self.h.namenode, self.h.standby = self.h.standby, self.h.namenode
            self.h.ask("active")

        self.both_succeed(
            self.submit(lambda: self.h.ask("standby"), after=activate), "failing over"
        )


OF_CLIENTS = (
    "dfs.ha",
    "dfs.nameservices",
    "dfs.client.",
    "dfs.namenode.rpc-address",
    "dfs.blocksize",
    "dfs.replication",
)


def prepare(c, h):
    """Both nodes run containers. What hdfs-default.xml has as well is read from hdfs-site.xml
    alone."""
    for directory in (c.conf_dir, *(node.conf_dir for node in c.nodes)):
        conf.write_xml(
            f"{directory}/hdfs-site.xml",
            {k: v for k, v in h.site.items() if k.startswith(OF_CLIENTS)},
        )
    for node in c.nodes:
        node.site["yarn.nodemanager.resource.memory-mb"] = NODE_MB


class PlainStates(States):
    def __init__(self, c, h):
        super().__init__(c, h)
        self.cases = [
            self.fine,
            self.quota,
            self.forbidden,
            self.safe_mode,
            self.datanode_killed,
            self.namenode_away,
        ]


class FailoverStates(States):
    def __init__(self, c, h):
        super().__init__(c, h)
        self.cases = [self.failing_over]


class FullDiskStates(States):
    def __init__(self, c, h):
        super().__init__(c, h)
        self.cases = [self.disk_full]


# Each kind of HDFS with a cluster of its own.
KINDS = {
    "plain": (Hdfs, PlainStates),
    "failover": (HaPair, FailoverStates),
    "full-disk": (FullDisks, FullDiskStates),
}


def run(report, kind, names):
    """The cases of these names, all without."""
    new_hdfs, states = KINDS[kind]
    with new_hdfs(hadoop.REFERENCE) as h:
        site = {
            "fs.defaultFS": h.site["fs.defaultFS"],
            "yarn.nodemanager.remote-app-log-dir": ROOT,
            "yarn.log-aggregation-enable": "true",
            "selvedge.nodemanager.log-aggregation.bytes-per-second": BYTES_PER_SECOND,
            "yarn.node-attribute.fs-store.root-dir": f"file://{PLACE}/rm/attributes",
        }  # not on HDFS
        with peers.cluster(
            "states", rm=APACHE, nm=["selvedge", APACHE], site=site, prepare=lambda c: prepare(c, h)
        ) as c:
            for case in states(c, h).cases:
                if not names or case.__name__ in names:
                    report.case(case.__name__.replace("_", " "), case)
            c.close()
