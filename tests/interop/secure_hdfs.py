"""HDFS of a secure cluster (secure.py): Apache's NameNode and DataNodes with Kerberos, and a Router
in front of them."""
import subprocess

from cluster.host import free_port, wait_for
from interop import hadoop
from interop.hdfs import Hdfs

FEDERATION = "org.apache.hadoop.hdfs.server.federation."
ROUTER_CLASS = FEDERATION + "router.DFSRouter"
STATE_STORE = FEDERATION + "store.driver.impl.StateStoreFileImpl"


class SecureHdfs(Hdfs):
    """A NameNode and DataNodes that know each other, and everybody else, by Kerberos."""

    def __init__(self, s, network):
        super().__init__(
            s.settings.version,
            site={**s.security(), **s.hdfs_site(), **s.hdfs_services()},
            datanodes=s.settings.datanodes,
            java_options=(*hadoop.SHORT_LIVED, "-Xmx256m", *s.realm_options),
            network=network,
        )
        self.site |= {
            "fs.defaultFS": f"hdfs://{self.name}:{self.port}",
            "dfs.namenode.http-address": f"{self.name}:0",
            "dfs.replication": 1,
        }

    def url(self, path):
        return f"hdfs://{self.name}:{self.port}{path}"

    def own(self, path, person, mode="700"):
        """A directory of that user's."""
        self.ask("mkdir", path, mode)
        self.ask("own", path, person.account.pw_name)


class RoutedHdfs(SecureHdfs):
    """Behind a Router of HDFS (RBF) with one nameservice, which issues delegation tokens of its own
    (java/reference/MemorySecretManager.java). It shares the NameNode's principal."""

    def __init__(self, s, network):
        self.router_port, self.router = free_port(), None
        super().__init__(s, network)
        # the Router acts for its callers
        self.site |= {"hadoop.proxyuser.hdfs.hosts": "*", "hadoop.proxyuser.hdfs.groups": "*"}
        self.routing = {
            "dfs.federation.router.keytab.file": s.keytab_of("nn"),
            "dfs.federation.router.kerberos.principal": f"nn/_HOST@{s.kdc.realm}",
        }

    def url(self, path):
        return f"hdfs://{self.name}:{self.router_port}{path}"

    def _start(self):
        super()._start()
        router, name = "dfs.federation.router.", self.name
        where = self._conf(
            "router-conf",
            {
                **self.routing,
                "fs.defaultFS": f"hdfs://{name}:{self.router_port}",
                "dfs.nameservices": "ns0",
                "dfs.namenode.rpc-address.ns0": f"{name}:{self.port}",
                "dfs.namenode.http-address.ns0": f"{name}:{self.web_port}",
                router + "rpc-address": f"{name}:{self.router_port}",
                router + "default.nameserviceId": "ns0",
                router + "monitor.namenode": "ns0",
                router + "monitor.localnamenode.enable": "false",
                router + "heartbeat.interval": 500,
                router + "cache.ttl": 1000,
                router + "safemode.enable": "false",
                router + "admin.enable": "false",
                router + "http.enable": "false",
                router + "store.driver.class": STATE_STORE,
                router + "store.driver.file.directory": f"{self.root}/router-state",
                router + "secret.manager.class": "MemorySecretManager",
            },
        )
        self.router = self._java(
            "router", ROUTER_CLASS, where, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        wait_for(lambda: self.router.poll() is not None or self._serves(), 120, "the Router serves")
        if self.router.poll() is not None:
            raise RuntimeError(f"the Router has ended: {self.tail()}")

    def _serves(self):
        """Its port is there before it knows whether it can start."""
        with open(f"{self.root}/router.log", encoding="utf-8", errors="replace") as f:
            return f"IPC Server listener on {self.router_port}: starting" in f.read()

    def __exit__(self, *error):
        if self.router:
            self._end(self.router)
        super().__exit__(*error)
