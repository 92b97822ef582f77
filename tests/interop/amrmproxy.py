"""A cluster of one node whose NodeManager is ours, and has an AMRMProxy that its ApplicationMasters
are told to use.

    with amrmproxy.proxied("apache-3.4.2") as p:
        peers.distributed_shell(p.c, ...)"""
import contextlib
import os

from cluster import conf, host
from interop import peers

SITE = "yarn.nodemanager.amrmproxy."


class Proxied:
    def __init__(self):
        self.port = host.free_port()
        self.c = None

    def prepare(self, c):
        self.c = c
        c.nodes[0].site = {
            f"{SITE}enabled": "true",
            f"{SITE}address": f"127.0.0.1:{self.port}",
        }

    def masters_conf(self):
        """For clients and masters: yarn.resourcemanager.scheduler.address is the proxy's."""
        c, directory = self.c, f"{self.c.hadoop}/masters-conf"  # containers see it
        os.makedirs(directory)
        c.write_conf(directory, {})
        classes = [directory if path == c.conf_dir else path for path in c.container_classpath]
        site = {
            **conf.cluster_site(c.root, {**c.ports, "scheduler": self.port}, c.address),
            "yarn.application.classpath": ",".join(classes),
        }
        conf.write_xml(f"{directory}/yarn-site.xml", site)
        with open(f"{directory}/log4j.properties", "w", encoding="ascii") as f:
            f.write(peers.LOG4J)
        return directory

    def log(self):
        with open(self.c.nodes[0].process.log, encoding="utf-8", errors="replace") as f:
            return f.read()


@contextlib.contextmanager
def proxied(rm):
    p = Proxied()
    with peers.cluster("amrmproxy", rm, peers.SELVEDGE, prepare=p.prepare) as c:
        c.conf_dir = p.masters_conf()
        yield p
