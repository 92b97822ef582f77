"""For bench-federation: selvedge-router and Apache's Router in turns, before two selvedge-rm that
share one state store in MariaDB: submissions (row of the home, then the member) and reports a
CPU-second of the Router, and its resident memory before the first call. Medians of ROUNDS=3 with
CALLS=2000, after WARM=3000 submissions that count nowhere."""
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import tempfile

from cluster import ClusterError, conf, host
from cluster.node import http_json
from interop import hadoop, peers
from interop.federation import DATABASE, PACKAGE, PIPELINE, store_keys
from lib.mariadb import MariaDB
from lib.rm_process import Rm

BUILD = hadoop.BUILD
ROUNDS = int(os.environ.get("ROUNDS", "3"))
CALLS = int(os.environ.get("CALLS", "2000"))
WARM = int(os.environ.get("WARM", "3000"))
PEER = f"Apache Hadoop {hadoop.REFERENCE}, Router"
MEMBER = {
    "yarn.federation.state-store.heartbeat.initial-delay": "1ms",
    "yarn.am.liveness-monitor.expiry-interval-ms": "900000",
    "hadoop.proxyuser.root.hosts": "127.0.0.1",
    "hadoop.proxyuser.root.groups": "*",
    "yarn.scheduler.capacity.maximum-applications": "1000000",
    "yarn.resourcemanager.max-completed-applications": "1000000",
    "selvedge.rm.record": "",
}


class Router:
    """A process; `argv` gets its configuration directory."""

    def __init__(self, root, name, site, argv):
        self.conf, self.port = f"{root}/{name}", host.free_port()
        self.web, admin = host.free_port(), host.free_port()
        os.mkdir(self.conf)
        router = f"{PACKAGE}router."
        conf.write_xml(
            f"{self.conf}/yarn-site.xml",
            {
                **site,
                "yarn.router.bind-host": "127.0.0.1",
                "yarn.router.clientrm.address": f"127.0.0.1:{self.port}",
                "yarn.router.rmadmin.address": f"127.0.0.1:{admin}",
                "yarn.router.webapp.address": f"127.0.0.1:{self.web}",
                PIPELINE.format("router.clientrm"): f"{router}clientrm.FederationClientInterceptor",
                PIPELINE.format("router.rmadmin"): f"{router}rmadmin.FederationRMAdminInterceptor",
                PIPELINE.format("router.webapp"): f"{router}webapp.FederationInterceptorREST",
            },
        )
        with open(f"{self.conf}/log4j.properties", "w", encoding="ascii") as f:
            f.write(peers.LOG4J.replace("INFO", "WARN", 1))
        self.log = open(f"{self.conf}/log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            argv(self.conf),
            env={**os.environ, "HADOOP_CONF_DIR": self.conf},
            stdout=self.log,
            stderr=self.log,
        )
        self.next = 1

    def said(self):
        with open(f"{self.conf}/log", encoding="utf-8", errors="replace") as f:
            return f.read()

    def wait(self, ready):
        def is_so():
            if self.process.poll() is not None:
                raise ClusterError(f"the Router has ended: {self.said()[-2000:]}")
            return ready(self)

        host.wait_for(is_so, 120, "the Router answers")

    def rss(self):
        """MiB."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return next(int(s.split()[1]) for s in f if s.startswith("VmRSS:")) / 1024

    def load(self, what, first, count):
        """Calls a CPU-second."""
        done = subprocess.run(
            [f"{BUILD}/tests/bench/router-load", str(self.port), str(self.process.pid)]
            + [what, str(first), str(count)],
            capture_output=True,
            text=True,
            timeout=300,
        )
        if done.returncode != 0:
            raise ClusterError(
                f"router-load {what}: {done.stdout}{done.stderr}{self.said()[-999:]}"
            )
        r = json.loads(done.stdout)
        return r["n"] / max(r["cpu"], 1e-6)

    def round(self, base, count):
        """Of applications that no round had before."""
        first = base + self.next
        self.next += count
        return {what: self.load(what, first, count) for what in ("submit", "report")}

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def members(site):
    """Two of ours."""
    return [
        Rm(
            {
                **site,
                **MEMBER,
                "yarn.resourcemanager.cluster-id": f"SC-{i}",
                "yarn.resourcemanager.epoch": str(1000 * i),
            }
        )
        for i in (1, 2)
    ]


@contextlib.contextmanager
def federation(site):
    """The directory of the Routers' configurations, when both members are active."""
    root, all_ = tempfile.mkdtemp(prefix="bench-federation-"), []
    try:
        all_ = members(site)
        os.mkdir(f"{root}/conf")
        conf.write_xml(f"{root}/conf/yarn-site.xml", site)

        def active():
            done = subprocess.run(
                [f"{BUILD}/selvedge", "federation", "members", "-o", "state"],
                env={**os.environ, "HADOOP_CONF_DIR": f"{root}/conf"},
                capture_output=True,
                text=True,
            )
            return done.stdout.count("SC_RUNNING") == 2

        host.wait_for(active, 60, "two active members")
        yield root
    finally:
        for rm in all_:
            rm.kill()
            rm.log.close()
            shutil.rmtree(rm.dir)
        shutil.rmtree(root)


def ours(root, site):
    r = Router(root, "ours", site, lambda where: [f"{BUILD}/selvedge-router", "--conf", where])
    r.wait(lambda x: "federation of 2 members" in x.said())
    return r


def apaches(root, site):
    def argv(where):
        options = ["-Xmx1g", "-XX:-UsePerfData"]
        found = hadoop.java(
            hadoop.REFERENCE, f"{PACKAGE}router.Router", conf=where, options=options
        )
        found[found.index("-cp") + 1] += f":{hadoop.jars('federation')}/*"
        return found

    r = Router(root, "apache", site, argv)

    def answers(x):
        try:
            return bool(http_json(f"http://127.0.0.1:{x.web}/ws/v1/cluster/metrics"))
        except (OSError, ValueError):
            return False

    r.wait(answers)
    return r


def smoke():
    """Ours alone, on a store in SQLite; figures of few calls."""
    with tempfile.TemporaryDirectory() as directory:
        site = {
            "yarn.federation.enabled": "true",
            "yarn.federation.state-store.class": "org.selvedge.SqliteStateStore",
            "selvedge.federation.state-store.sqlite.path": f"{directory}/store",
        }
        with federation(site) as root, contextlib.closing(_Stopped(ours(root, site))) as mine:
            return {"rss": mine.router.rss(), **mine.router.round(0, 20)}


class _Stopped:
    def __init__(self, router):
        self.router, self.close = router, router.stop


def measure():
    """Rows of the report."""
    with tempfile.TemporaryDirectory() as directory:
        server = MariaDB(f"{directory}/mariadb", ["--lower-case-table-names=0"])
        try:
            site = store_keys(server)
            make_tables(directory, site)
            with federation(site) as root:
                return compare(root, site)
        finally:
            server.close()


def make_tables(directory, site):
    os.mkdir(f"{directory}/conf")
    conf.write_xml(f"{directory}/conf/yarn-site.xml", site)
    subprocess.run(
        [f"{BUILD}/selvedge", "federation", "schema", "--apply"],
        env={**os.environ, "HADOOP_CONF_DIR": f"{directory}/conf"},
        check=True,
        stdout=subprocess.DEVNULL,
    )


def compare(root, site):
    with contextlib.ExitStack() as stack:
        routers = {}
        for number, (name, start) in enumerate((("ours", ours), ("peer", apaches))):
            r = start(root, site)
            stack.callback(r.stop)
            routers[name] = (r, 1_000_000 * number)
        idle = {name: r.rss() for name, (r, _base) in routers.items()}
        for r, base in routers.values():
            r.round(base, WARM)
        rounds = [
            {name: r.round(base, CALLS) for name, (r, base) in routers.items()}
            for _ in range(ROUNDS)
        ]
    rows = [row("router_rss_idle", "MiB", idle["ours"], idle["peer"], "<=0.05")]
    for what, wanted in (("submit", ">=10"), ("report", "")):
        mine, peer = (statistics.median(r[who][what] for r in rounds) for who in ("ours", "peer"))
        rows.append(row(f"router_{what}_calls_per_CPU_second", "1/s", mine, peer, wanted))
    return rows


def row(name, unit, mine, peer, wanted):
    return {
        "name": name,
        "unit": unit,
        "ours": round(mine, 3),
        "peer": round(peer, 3),
        "peer_name": PEER,
        "ratio": round(mine / peer, 4),
        "wanted": wanted,
    }
