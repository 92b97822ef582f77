"""A secure cluster on loopback, as an operator has one: a KDC of MIT's, HDFS and ResourceManager of
Apache's with Kerberos, NodeManagers on hosts of their own (network namespaces), users with
tickets. The configuration is core-site.xml, hdfs-site.xml and yarn-site.xml by names, krb5.conf and
keytabs where distributions have them, in the cluster's own /etc.

    network = Network(1)
    with secure.cluster(network, secure.Settings(protection="privacy")) as s:
        with s.acting(s.alice):
            peers.distributed_shell(s.c, "-shell_command", "id")

Apache's NodeManager runs containers as its own account here, since Maven has no native
container-executor: a user whose files it can own is `dora`, whose principal becomes that account.
"""
import concurrent.futures
import contextlib
import dataclasses
import os
import re
import shutil
import tempfile
import urllib.request

from cluster import ClusterError, conf
from interop import hadoop, peers, spark
from interop.cases import mapreduce, web_tls
from interop.kms import SecureKms
from interop.secure_hdfs import RoutedHdfs, SecureHdfs
from lib.kdc import Kdc

REALM, OTHER_REALM, DOMAIN = "SECURE.TEST", "OTHER.TEST", "selvedge.test"
KEYTABS = "/etc/security/keytabs"
NODE_MB = 2048
LOOP_CPU_MS = 20  # the daemon logs each handler of its loop that computes for longer
LOGS, SHARED = "/aggregated", "/shared"
RM = "yarn.resourcemanager."
TRACKER = RM + "resource-tracker.address"
NAMES = {
    RM + "address": "client",
    RM + "scheduler.address": "scheduler",
    TRACKER: "tracker",
    RM + "admin.address": "admin",
    RM + "webapp.address": "web",
}
# Hadoop 2 asks a class of the JDK's own for the realm.
REALM_OF_HADOOP_2 = "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED"


@dataclasses.dataclass
class Settings:
    """`rm`: peers.SELVEDGE for our ResourceManager, else Apache's; `protection`:
    hadoop.rpc.protection; `transfer`: dfs.data.transfer.protection, "" for none;
    `cipher`: of dfs.encrypt.data.transfer, "" for no such encryption, "default" for Hadoop's own;
    `nodes`: how many NodeManagers; `lifetimes`: {"nm": "20s"} of the tickets of services and users;
    `realms`: a second realm is trusted, with the user `carol`; `libhadoop`: Apache's NodeManager will run, whose logs and
    shuffle need it with Kerberos; `datanodes`: of HDFS; `router`: HDFS is behind a Router;
    `https`: the web is HTTPS alone, and the node's takes tickets; `spark`: its jars are there;
    `services`: the ResourceManager's account may act for two users; `kms`: HDFS has a key
    server; `hdfs`: more keys for HDFS's own daemons; `site`: more keys for yarn-site.xml."""

    node: str = peers.SELVEDGE
    rm: str = ""
    version: str = hadoop.REFERENCE
    protection: str = "authentication"
    transfer: str = ""
    cipher: str = ""
    nodes: int = 1
    lifetimes: dict = dataclasses.field(default_factory=dict)
    realms: bool = False
    libhadoop: bool = False
    datanodes: int = 1
    router: bool = False
    https: bool = False
    spark: bool = False
    services: bool = False
    kms: bool = False
    hdfs: dict = dataclasses.field(default_factory=dict)
    site: dict = dataclasses.field(default_factory=dict)

    @property
    def needs_libhadoop(self):
        return self.libhadoop or bool(peers.version_of(self.node))

    @property
    def name(self):
        words = [f"{self.rm or 'apache-' + self.version}+{self.node}", self.protection]
        words += [f"transfer {self.transfer}"] if self.transfer else []
        words += [f"encrypted, {self.cipher}"] if self.cipher else []
        words += [f"{self.nodes} nodes"] if self.nodes > 1 else []
        words += [f"{self.datanodes} DataNodes"] if self.datanodes > 1 else []
        words += [
            word for word in ("router", "https", "spark", "services", "kms") if getattr(self, word)
        ]
        return ", ".join(words)


class Person:
    """A principal, the account that it becomes, and its tickets in a file of that account. Who has
    an account `acts_for` is a service whose clients, run by `account`, act for that one."""

    def __init__(self, kdc, where, name, account, *options, acts_for=None):
        self.kdc, self.account, self.acts_for = kdc, account, acts_for
        self.principal, self.cache = f"{name}@{kdc.realm}", f"{where}/{name}.ccache"
        kdc.add(self.principal, *options)
        self.keytab = kdc.keytab(f"{name}.keytab", self.principal)
        self.login()

    def login(self):
        self.kdc.run("kinit", "-k", "-t", self.keytab, "-c", self.cache, self.principal)
        os.chown(self.cache, self.account.pw_uid, self.account.pw_gid)

    @property
    def user(self):
        """The account of containers."""
        return self.acts_for or self.account

    @property
    def variables(self):
        """Of clients' environment."""
        found = {"KRB5CCNAME": self.cache}
        if self.acts_for:
            found["HADOOP_PROXY_USER"] = self.acts_for.pw_name
        return found

    @property
    def home(self):
        return f"/user/{self.user.pw_name}"

    @property
    def rule(self):
        """Of hadoop.security.auth_to_local."""
        match = self.principal.replace(".", r"\.")
        return f"RULE:[1:$1@$0]({match})s/.*/{self.account.pw_name}/"


class Secure:
    """The parts of a running cluster: `c` (a Cluster), `kdc`, `other` (the second realm's),
    `hdfs`, `node`, and its users."""

    def __init__(self, settings, network):
        self.settings, self.network = settings, network
        self.kdc = self.other = self.hdfs = self.kms = None
        self.mark = self.rm_mark = 0  # where the log of the last start begins

    def prepare(self, c, stack):
        """Before the daemons of YARN start; `stack` ends what is started here."""
        self.c, self.node, version = c, c.nodes[0], self.settings.version
        self.realm_options = [REALM_OF_HADOOP_2] if version.startswith("2.") else []
        c.java_options = list(self.realm_options)
        if self.settings.needs_libhadoop:
            hadoop.native_library(f"{c.root}/native")
            c.java_options.append(f"-Djava.library.path={c.root}/native")
        self._start_kdc(stack)
        self._make_principals()
        if self.settings.kms:
            self.kms = stack.enter_context(SecureKms(self))
        self.hdfs = (RoutedHdfs if self.settings.router else SecureHdfs)(self, self.network)
        stack.callback(self.hdfs.__exit__)
        # beside the ResourceManager, which asks HDFS for nothing at its start
        starter = stack.enter_context(concurrent.futures.ThreadPoolExecutor(1))
        self._hdfs_runs = starter.submit(self.hdfs.__enter__)
        self._write_site()

    # --- Kerberos ---------------------------------------------------------------------------

    def _start_kdc(self, stack):
        self.root = tempfile.mkdtemp(prefix="selvedge-secure-")
        stack.callback(shutil.rmtree, self.root)
        os.chmod(self.root, 0o711)
        address = self.network.address
        self.kdc = Kdc(f"{self.root}/kdc", REALM, address, domain=DOMAIN)
        stack.callback(self.kdc.stop)
        if self.settings.realms:
            self.other = Kdc(f"{self.root}/other-kdc", OTHER_REALM, address)
            stack.callback(self.other.stop)
            self.kdc.trust(self.other)
        # Services take a ticket until it has ended by more than the clocks may differ, 300 s.
        skew = "clockskew = 2" if self.settings.lifetimes else ""
        self.kdc.write_conf("/etc/krb5.conf", skew)  # the cluster's own /etc

    def service(self, kind, host=None):
        """The principal of a service on the host hub, or on another one."""
        return f"{kind}/{host or self.network.name}@{REALM}"

    def keytab_of(self, kind):
        return f"{KEYTABS}/{kind}.service.keytab"

    def _life(self, kind):
        life = self.settings.lifetimes.get(kind)
        return ["-maxlife", life] if life else []

    def _make_principals(self):
        os.makedirs(KEYTABS, 0o755, exist_ok=True)
        daemon = self.c.daemon
        every = [self.service("nm", node.address) for node in self.c.nodes]
        self.nm, self.rm = every[0], self.service("rm")
        for kind, principals, uid in (
            ("nm", every, daemon.pw_uid),
            ("rm", [self.rm], daemon.pw_uid),
            ("nn", [self.service("nn")], 0),
            ("dn", [self.service("dn")], 0),
            ("HTTP", [self.service("HTTP")], 0),
        ):
            for principal in principals:
                self.kdc.add(principal, *self._life(kind))
            self.kdc.keytab(self.keytab_of(kind), *principals, uid=uid)
        first, second = self.c.users[:2]
        self.alice = self._person("alice", first)
        self.bob = self._person("bob", second)
        self.dora = self._person("dora", daemon)
        self.people = [self.alice, self.bob, self.dora]
        self.gateway = Person(self.kdc, self.root, "gateway", first, acts_for=second)
        if self.other:
            self.carol = Person(self.other, self.root, "carol", second)
            self.people.append(self.carol)

    def _person(self, name, account):
        return Person(self.kdc, self.root, name, account, *self._life(name))

    def auth_to_local(self):
        yarn, realm = self.c.daemon.pw_name, REALM.replace(".", r"\.")
        return " ".join(
            [
                rf"RULE:[2:$1/$2@$0]([rn]m/.*@{realm})s/.*/{yarn}/",
                rf"RULE:[2:$1/$2@$0]([nd]n/.*@{realm})s/.*/hdfs/",
                *[person.rule for person in self.people],
                "DEFAULT",
            ]
        )

    # --- configuration ----------------------------------------------------------------------

    def security(self):
        """For core-site.xml of everybody."""
        accounts = {person.account.pw_name for person in self.people}
        groups = ["dr.who=", "hdfs=hdfs", *[f"{name}=users" for name in sorted(accounts)]]
        groups.append("gateway=services")
        proxy = f"hadoop.proxyuser.{self.c.daemon.pw_name}"
        users = f"{self.alice.account.pw_name},{self.bob.account.pw_name}"
        more = {f"{proxy}.hosts": "*", f"{proxy}.users": users} if self.settings.services else {}
        return {
            **more,
            **(self.kms.site() if self.kms else {}),
            "hadoop.security.authentication": "kerberos",
            "hadoop.security.authorization": "true",
            "hadoop.rpc.protection": self.settings.protection,
            "hadoop.security.auth_to_local": self.auth_to_local(),
            "hadoop.user.group.static.mapping.overrides": ";".join(groups),
            "hadoop.proxyuser.gateway.hosts": "*",
            "hadoop.proxyuser.gateway.users": self.bob.account.pw_name,
        }

    def hdfs_site(self):
        """For hdfs-site.xml of everybody."""
        site = {
            "dfs.namenode.kerberos.principal": f"nn/_HOST@{REALM}",
            "dfs.block.access.token.enable": "true",
        }
        if self.settings.transfer:
            site["dfs.data.transfer.protection"] = self.settings.transfer
        if self.settings.cipher:
            site["dfs.encrypt.data.transfer"] = "true"
            if self.settings.cipher != "default":
                site["dfs.encrypt.data.transfer.cipher.suites"] = self.settings.cipher
        return site

    def hdfs_services(self):
        """For hdfs-site.xml of HDFS's own daemons."""
        return {
            "dfs.namenode.keytab.file": self.keytab_of("nn"),
            "dfs.datanode.kerberos.principal": f"dn/_HOST@{REALM}",
            "dfs.datanode.keytab.file": self.keytab_of("dn"),
            "dfs.web.authentication.kerberos.principal": f"HTTP/_HOST@{REALM}",
            "dfs.web.authentication.kerberos.keytab": self.keytab_of("HTTP"),
            # its ports are the test's, and not below 1024
            "ignore.secure.ports.for.testing": "true",
            **self.settings.hdfs,
        }

    def _yarn_site(self):
        c, name = self.c, self.network.name
        site = {
            **self.security(),
            **mapreduce.site(self.hdfs),
            RM + "hostname": name,
            **{key: f"{name}:{c.ports[port]}" for key, port in NAMES.items()},
            RM + "principal": f"rm/_HOST@{REALM}",
            RM + "keytab": self.keytab_of("rm"),
            "yarn.nodemanager.principal": f"nm/_HOST@{REALM}",
            "yarn.nodemanager.keytab": self.keytab_of("nm"),
            "yarn.log-aggregation-enable": "true",
            "yarn.nodemanager.remote-app-log-dir": LOGS,
            "yarn.nodemanager.log-aggregation.compression-type": "gz",
            # of our ResourceManager
            "selvedge.rm.unprotected-nodes": "",
            "selvedge.rm.kerberos.helper": f"{self.node.libexec}/selvedge-gss",
        }
        if self.settings.version.startswith("2."):  # containers' JVMs, too
            site["yarn.nodemanager.admin-env"] = f"JAVA_TOOL_OPTIONS={REALM_OF_HADOOP_2}"
            site["selvedge.nodemanager.log-aggregation.older-layout"] = "true"
        return site

    def _https_site(self):
        """HTTPS for everybody, SPNEGO for our node."""
        c, node = self.c, self.node
        c.site |= web_tls.SITE
        web_tls.prepare(c)
        web = self.service("HTTP", node.address)
        self.kdc.add(web)
        node.site |= {
            "hadoop.http.authentication.type": "kerberos",
            "yarn.acl.enable": "true",
            "yarn.admin.acl": "root",  # by default everybody sees everything
            "yarn.nodemanager.webapp.spnego-principal": f"HTTP/_HOST@{REALM}",
            "yarn.nodemanager.webapp.spnego-keytab-file": self.kdc.keytab(
                f"{KEYTABS}/spnego.service.keytab", web, uid=c.daemon.pw_uid
            ),
        }

    def _write_site(self):
        c = self.c
        c.site = {**c.site, **self._yarn_site(), **self.settings.site}
        if self.settings.https:
            self._https_site()
        for directory in [c.conf_dir, *[node.conf_dir for node in c.nodes]]:
            conf.write_xml(f"{directory}/hdfs-site.xml", self.hdfs_site())
        mapreduce.prepare(c, self.hdfs, node_mb=NODE_MB)
        if self.settings.spark:
            spark.install(c)
            self.spark_job = spark.compile_job(c, "SparkLines")
        for node in c.nodes:
            node.site["selvedge.nodemanager.kerberos.helper"] = f"{node.libexec}/selvedge-gss"

    # --- use --------------------------------------------------------------------------------

    def ready(self):
        """HDFS runs, with the directories that an operator makes; PUBLIC and PRIVATE files."""
        self._hdfs_runs.result()
        h = self.hdfs
        for path, mode in (
            (LOGS, "1777"),
            ("/tmp", "1777"),
            (SHARED, "755"),
            ("/user", "755"),
            ("/user/history", "1777"),
            ("/user/history/done_intermediate", "1777"),
        ):
            h.ask("mkdir", path, mode)
        for person in self.people:
            h.own(person.home, person)
        self.put(f"{SHARED}/public.txt", "hdfs", "644")
        for person in self.people:
            self.put(f"{person.home}/private.txt", person.account.pw_name, "600")

    def readable_keytab(self, person):
        """A copy of the person's keytab, of that account."""
        return self.kdc.keytab(
            f"{self.root}/{person.account.pw_name}.keytab",
            person.principal,
            uid=person.account.pw_uid,
        )

    def put(self, path, owner, mode):
        self.hdfs.put(path, self.content(path), replicas=1, owner=owner, mode=mode)

    @staticmethod
    def content(path):
        """Three blocks and a bit, that tell whose they are."""
        line = f"what is in {path}\n".encode()
        return line * ((3 << 20) // len(line) + 7)

    @contextlib.contextmanager
    def acting(self, person):
        """Clients that are started meanwhile are that user's, with his ticket."""
        c, before = self.c, (self.c.submitter, self.c.client_variables)
        c.submitter, c.client_variables = person.account, person.variables
        try:
            yield
        finally:
            c.submitter, c.client_variables = before

    @property
    def owner(self):
        """The user whose files the node's containers can own."""
        return self.dora if peers.version_of(self.c.peer_nms[0]) else self.alice

    # --- the node ---------------------------------------------------------------------------

    def restart(self, site=None, prepare=None, variables=None):
        """Our NodeManager anew, at another port, so that the ResourceManager's list tells whether
        this one has registered. `site`: keys in place of the cluster's, for this start;
        `prepare`: is called while it is down; `variables`: more of its environment."""
        c, node = self.c, self.node
        if node.process.running():  # else a fault has ended it
            node.process.stop()
        node.ports["rpc"] += 100
        if prepare:
            prepare()
        before, c.site = c.site, {**c.site, **(site or {})}
        try:
            self.mark = os.path.getsize(node.process.log)
            more = {"SELVEDGE_LOOP_CPU_MS": str(LOOP_CPU_MS), **(variables or {})}
            peers.start_node(c, node, more)
        finally:
            c.site = before

    def restart_rm(self, site=None, variables=None):
        """With keys in place of the cluster's, until it is started again; `variables`: more of its
        environment."""
        c = self.c
        c.rm.kill()
        self.rm_mark = os.path.getsize(c.rm.log)
        before, c.site = c.site, {**c.site, **(site or {})}
        try:
            peers.start_rm(c, variables)
        finally:
            c.site = before

    def log(self):
        """What our NodeManager has logged since restart()."""
        with open(self.node.process.log, encoding="utf-8", errors="replace") as f:
            f.seek(self.mark)
            return f.read()

    def rm_log(self):
        """What the ResourceManager has logged since restart_rm()."""
        with open(self.c.rm.log, encoding="utf-8", errors="replace") as f:
            f.seek(self.rm_mark)
            return f.read()

    def says(self, *words, seconds=90):
        """It logs all of the words, and does not end."""

        def missing():
            self.node.process.must_run()
            text = self.log()
            return [word for word in words if word not in text]

        try:
            self.c.wait(lambda: not missing(), seconds, f"the NodeManager logs {words}")
        except ClusterError as error:
            raise ClusterError(f"{error}; without {missing()}:\n{self.log()[-3000:]}") from None

    def registered(self):
        return self.node.id in self.c.running_nodes()

    def serves(self):
        """Whether its web port answers; how long that took, in seconds, is measured by callers."""
        try:
            return bool(self.node.get("/ws/v1/node/info"))
        except OSError:
            return False

    def ticket(self):
        """Seconds that the node's ticket has left."""
        with urllib.request.urlopen(f"{self.node.url}/metrics", timeout=60) as answer:
            text = answer.read().decode()
        return int(re.search(r"^selvedge_kerberos_ticket_seconds (\d+)$", text, re.M)[1])

    def registers(self, seconds=120):
        peers.wait_nodes(self.c, seconds)


@contextlib.contextmanager
def cluster(network, settings):
    """A running secure cluster; a Secure. The jars must be there: the machine's network is out of
    reach."""
    s = Secure(settings, network)
    with contextlib.ExitStack() as stack:
        with peers.cluster(
            "secure",
            rm=settings.rm or f"apache-{settings.version}",
            nm=settings.node,
            prepare=lambda c: s.prepare(c, stack),
            network=network,
            nodes=settings.nodes,
            installed=settings.nodes,
        ) as c:
            s.ready()
            yield s
            c.close()
