"""A real HDFS on loopback: one NameNode (java/HdfsCluster.java, which also prepares files) and two
DataNodes, each a process of its own that a test may stop or kill.

    with hdfs.Hdfs("3.4.2") as h:
        h.put("/d/f", b"content", mode="644")"""
import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cluster import conf  # noqa: E402
from cluster.host import free_port, wait_for  # noqa: E402
from interop import hadoop  # noqa: E402

DATANODE_CLASS = "org.apache.hadoop.hdfs.server.datanode.DataNode"
BLOCK = 1 << 20
LOG4J = """log4j.rootLogger=INFO,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
"""


class Hdfs:
    """`site`: more keys for hdfs-site.xml. `java_options`: in place of those of short tests.
    `network`: a Network (tests/cluster/network.py), whose hosts reach these daemons."""

    def __init__(
        self,
        version,
        site=None,
        datanodes=2,
        java_options=(*hadoop.SHORT_LIVED, "-Xmx256m"),
        network=None,
    ):
        self.version, self.java_options = version, java_options
        self.address, self.name = (
            (network.address, network.name) if network else ("127.0.0.1", "localhost")
        )
        # Classes and jars before the clock of the test runs.
        hadoop.classes(version)
        self.root = tempfile.mkdtemp(prefix="selvedge-hdfs-", dir="/tmp")
        os.chmod(self.root, 0o755)
        self.port = free_port()
        self.site = {
            "fs.defaultFS": f"hdfs://{self.address}:{self.port}",
            "hadoop.tmp.dir": f"{self.root}/tmp",
            "hadoop.security.key.provider.path": f"jceks://file{self.root}/keys",
            "dfs.encryption.key.provider.uri": f"jceks://file{self.root}/keys",
            "dfs.namenode.name.dir": f"file://{self.root}/name",
            "dfs.namenode.http-address": f"{self.address}:0",
            "dfs.namenode.delegation.token.always-use": "true",  # issued without Kerberos, too
            # a DataNode serves nobody without the NameNode's token for the block
            "dfs.block.access.token.enable": "true",
            "dfs.namenode.fs-limits.min-block-size": 512,
            "dfs.namenode.datanode.registration.ip-hostname-check": "false",
            "dfs.namenode.safemode.threshold-pct": "0",
            "dfs.namenode.safemode.extension": 0,
            # else a DataNode of twice the average load, of a few threads here, gets no block
            "dfs.namenode.redundancy.considerLoad": "false",
            "dfs.datanode.http.address": f"{self.address}:0",
            # in redirects of WebHDFS, whatever the machine is called
            "dfs.datanode.hostname": self.name,
            "dfs.datanode.ipc.address": f"{self.address}:0",
            "dfs.datanode.max.locked.memory": 0,
            "dfs.datanode.scan.period.hours": -1,  # what is corrupt is seen by readers alone
            "dfs.heartbeat.interval": 1,
            "dfs.blocksize": BLOCK,
            "dfs.replication": 2,
            "dfs.permissions.enabled": "true",
            **(site or {}),
        }
        self.datanodes, self.datanode_ports, self.logs = [], [], []
        self.namenode = None
        self.n_datanodes = datanodes

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _conf(self, name, more):
        """A configuration directory; daemons stop without the two directories of web pages."""
        where = f"{self.root}/{name}"
        for page in ("hdfs", "datanode"):
            os.makedirs(f"{where}/webapps/{page}/WEB-INF")
            with open(f"{where}/webapps/{page}/WEB-INF/web.xml", "w", encoding="ascii") as f:
                f.write("<web-app/>")
        site = {**self.site, **more}
        conf.write_xml(
            f"{where}/core-site.xml", {k: v for k, v in site.items() if not k.startswith("dfs.")}
        )
        conf.write_xml(
            f"{where}/hdfs-site.xml", {k: v for k, v in site.items() if k.startswith("dfs.")}
        )
        with open(f"{where}/log4j.properties", "w", encoding="ascii") as f:
            f.write(LOG4J)
        return where

    def _java(self, name, main, conf_dir, *args, **pipes):
        argv = hadoop.java(
            self.version,
            main,
            *args,
            conf=conf_dir,
            options=[*self.java_options, "-XX:-UsePerfData", f"-Djava.io.tmpdir={self.root}"],
        )
        log = open(f"{self.root}/{name}.log", "ab")  # noqa: SIM115 - the child's
        self.logs.append(log.name)
        with log:
            return subprocess.Popen(
                argv,
                stderr=log,
                text=True,
                start_new_session=True,
                cwd=self.root,
                env={**os.environ, "HADOOP_CONF_DIR": conf_dir, "HADOOP_LOG_DIR": self.root},
                **pipes,
            )

    def _start(self):
        self.conf_dir = self._conf("namenode-conf", {})
        self.namenode = self._java(
            "namenode", "HdfsCluster", self.conf_dir, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._start_datanodes()
        self._namenode_ready()
        self.web_port = int(self.ask("port").split()[1])
        self.wait_datanodes(self.n_datanodes)

    def _start_datanodes(self):
        for i in range(self.n_datanodes):
            self.datanode_ports.append(free_port())
            self._conf(
                f"datanode{i}-conf",
                {
                    "dfs.datanode.data.dir": f"file://{self.root}/data{i}",
                    "dfs.datanode.address": f"{self.address}:{self.datanode_ports[i]}",
                },
            )
            self.datanodes.append(None)
            self.start_datanode(i)

    def _namenode_ready(self):
        line = self.answer(120)
        if line != "ready":
            raise RuntimeError(f"NameNode: {line!r}: {self.tail()}")

    def tail(self):
        text = ""
        for path in self.logs:
            with open(path, encoding="utf-8", errors="replace") as f:
                text += f"{path}:\n" + "".join(f.readlines()[-20:])
        return text

    def start_datanode(self, i):
        self.datanodes[i] = self._java(
            f"datanode{i}",
            DATANODE_CLASS,
            f"{self.root}/datanode{i}-conf",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    def wait_datanodes(self, count, seconds=120):
        def registered():
            if any(d.poll() is not None for d in self.datanodes if d):
                raise RuntimeError(f"a DataNode has ended: {self.tail()}")
            return int(self.ask("live")) >= count

        wait_for(registered, seconds, f"{count} DataNodes")

    def answer(self, seconds=60):
        """The NameNode's process answers a line a command."""
        if not select.select([self.namenode.stdout], [], [], seconds)[0]:
            raise RuntimeError(f"the NameNode's process does not answer: {self.tail()}")
        return self.namenode.stdout.readline().rstrip("\n")

    def ask(self, *words, seconds=300):
        self.namenode.stdin.write(" ".join(map(str, words)) + "\n")
        self.namenode.stdin.flush()
        answer = self.answer(seconds)
        if not answer.startswith("ok"):
            raise RuntimeError(f"{words}: {answer!r}")
        return answer[3:]

    def program(self, user, main, *args, site="-"):
        """What a Java class prints that runs in the NameNode's process, as a user; `site`: a
        configuration file. Arguments have no blanks. RuntimeError: it fails."""
        with tempfile.NamedTemporaryFile(dir=self.root) as f:
            status = self.ask("program", user, site, f.name, main, *args)
            if status != "0":
                raise RuntimeError(
                    f"{main}: {status}: {f.read().decode(errors='replace')[-2000:]} {self.tail()}"
                )
            return f.read()

    def put(self, path, data, block=BLOCK, replicas=2, owner="alice", mode="644"):
        """(modification time, length)"""
        with tempfile.NamedTemporaryFile(dir=self.root) as f:
            f.write(data)
            f.flush()
            return tuple(
                map(int, self.ask("put", f.name, path, block, replicas, owner, mode).split())
            )

    def parts(self, path):
        """What a job has written: the bytes of its parts in order."""
        with tempfile.NamedTemporaryFile(dir=self.root) as f:
            self.ask("parts", path, f.name)
            return f.read()

    def blocks(self, path):
        """[(block name, [port of a DataNode])]"""
        found = []
        for word in self.ask("blocks", path).split():
            name, nodes = word.split("@")
            found.append((name, [int(n.rsplit(":", 1)[1]) for n in nodes.split(",") if n]))
        return found

    def replica(self, block, port, meta=False):
        """The file of a replica on a DataNode's disk."""
        for where, _, names in os.walk(f"{self.root}/data{self.datanode_ports.index(port)}"):
            for name in names:
                if name == block or (meta and name.startswith(block + "_")):
                    if meta == name.endswith(".meta"):
                        return os.path.join(where, name)
        raise FileNotFoundError(block)

    def kill_namenode(self):
        self._end(self.namenode)

    def start_namenode_again(self):
        """With its directories, on its port."""
        self.namenode = self._java(
            "namenode",
            "HdfsCluster",
            self.conf_dir,
            "formatted",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._namenode_ready()
        self.web_port = int(self.ask("port").split()[1])

    def kill(self, i, sig=signal.SIGKILL):
        self.datanodes[i].send_signal(sig)
        if sig == signal.SIGKILL:
            self.datanodes[i].wait()

    def url(self, path):
        return f"hdfs://{self.address}:{self.port}{path}"

    @staticmethod
    def _end(process):
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()

    def __exit__(self, *_error):
        for process in [p for p in [self.namenode, *self.datanodes] if p]:
            self._end(process)
        shutil.rmtree(self.root, ignore_errors=True)


# ---- With Kerberos, on loopback ----

PROTECTIONS = ("authentication", "integrity", "privacy")
SECURE = {"hadoop.security.authentication": "kerberos"}
AES = {"dfs.encrypt.data.transfer.cipher.suites": "AES/CTR/NoPadding"}


def secure_site(kdc):
    """Of all daemons of a secure cluster, which offer every protection. The NameNode's process acts
    for alice."""
    nn, dn, http = (f"{name}/localhost@{kdc.realm}" for name in ("nn", "dn", "HTTP"))
    for principal in (nn, dn, http):
        kdc.add(principal)
    keytab = kdc.keytab("hdfs.keytab", nn, dn, http)
    offered = ",".join(PROTECTIONS)
    return {
        **SECURE,
        **AES,
        "hadoop.security.authorization": "true",
        "hadoop.rpc.protection": offered,
        "hadoop.proxyuser.nn.hosts": "*",
        "hadoop.proxyuser.nn.groups": "*",
        "hadoop.user.group.static.mapping.overrides": "alice=users;nn=hadoop",
        "dfs.namenode.kerberos.principal": nn,
        "dfs.namenode.keytab.file": keytab,
        "dfs.datanode.kerberos.principal": dn,
        "dfs.datanode.keytab.file": keytab,
        "dfs.web.authentication.kerberos.principal": http,
        "dfs.web.authentication.kerberos.keytab": keytab,
        "dfs.data.transfer.protection": offered,
        "ignore.secure.ports.for.testing": "true",  # no root, no HTTPS
    }


def secure_client(rpc, transfer):
    """For a client's files, with protections."""
    return {
        **SECURE,
        "hadoop.rpc.protection": rpc,
        **({"dfs.data.transfer.protection": transfer} if transfer else {}),
    }


def secure_options(kdc):
    """Of the daemons' JVMs."""
    return (
        *hadoop.SHORT_LIVED,
        "-Xmx256m",
        f"-Djava.security.krb5.conf={kdc.conf}",
        # 2.10 reads the realm through a class of the JDK's own.
        "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    )


def write_client(where, site):
    """A directory of a client's configuration."""
    os.mkdir(where)
    for name, dfs in (("core-site.xml", False), ("hdfs-site.xml", True)):
        conf.write_xml(
            f"{where}/{name}", {k: v for k, v in site.items() if k.startswith("dfs.") == dfs}
        )


class HaPair(Hdfs):
    """Two NameNodes of the nameservice "pair", with their edits in a directory of both. `namenode`
    is the active one; switch() and kill_active() make the other one active."""

    def __init__(self, version):
        super().__init__(version)
        self.ports, self.standby = [self.port, free_port()], None
        self.site |= {
            "fs.defaultFS": "hdfs://pair",
            "dfs.nameservices": "pair",
            "dfs.ha.namenodes.pair": "nn0,nn1",
            "dfs.client.failover.proxy.provider.pair": "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider",
            "dfs.namenode.shared.edits.dir": f"file://{self.root}/edits",
            "dfs.ha.fencing.methods": "shell(true)",
            "dfs.ha.tail-edits.period": 1,
        }
        # Without keys: with them a NameNode that becomes active once more ends by the stop watch of
        # its ReencryptionUpdater, which runs already.
        for key in (
            "dfs.namenode.name.dir",
            "dfs.namenode.http-address",
            "hadoop.security.key.provider.path",
            "dfs.encryption.key.provider.uri",
        ):
            del self.site[key]
        for i in (0, 1):
            self.site |= {
                f"dfs.namenode.rpc-address.pair.nn{i}": f"127.0.0.1:{self.ports[i]}",
                f"dfs.namenode.http-address.pair.nn{i}": f"127.0.0.1:{free_port()}",
                f"dfs.namenode.name.dir.pair.nn{i}": f"file://{self.root}/name{i}",
            }

    def _start(self):
        started = []
        for i in (0, 1):
            conf_dir = self._conf(f"namenode{i}-conf", {"dfs.ha.namenode.id": f"nn{i}"})
            self.namenode = self._java(
                f"namenode{i}",
                "HdfsCluster",
                conf_dir,
                *["formatted"][:i],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            started.append(self.namenode)
            self._namenode_ready()
            if i == 0:
                self.standby = self.namenode  # removed at the end whatever happens
                shutil.copytree(
                    f"{self.root}/name0",
                    f"{self.root}/name1",
                    ignore=shutil.ignore_patterns("in_use.lock"),
                )
        self.namenode, self.standby = started
        self.ask("active")
        self._start_datanodes()
        self.wait_datanodes(self.n_datanodes)

    def switch(self):
        """The active one becomes the standby."""
        self.ask("standby")
        self.namenode, self.standby = self.standby, self.namenode
        self.ask("active")

    def kill_active(self):
        """SIGKILL for the active one; there is no standby afterwards."""
        self._end(self.namenode)
        self.namenode, self.standby = self.standby, None
        self.ask("active")

    def url(self, path):
        return f"hdfs://pair{path}"

    def __exit__(self, *_error):
        if self.standby and self.standby is not self.namenode:
            self._end(self.standby)
        super().__exit__()
