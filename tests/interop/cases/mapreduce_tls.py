"""MapReduce over a shuffle with TLS and client certificates, on nodes of ours and of Apache's with
the same ssl-server.xml."""
import os
import socket

from cluster import ClusterError
from interop.cases import mapreduce
from lib.shuffle_tls import PASSWORD, Keys

NAME = "tls"
PAIRING = ("selvedge", ["selvedge", mapreduce.APACHE])
SITE = {
    "mapreduce.shuffle.ssl.enabled": "true",
    "hadoop.ssl.require.client.cert": "true",
    "hadoop.ssl.enabled.protocols": "TLSv1.2,TLSv1.3",
}


def site(h):
    return {**mapreduce.site(h), **SITE}


def prepare(c, h):
    """Nodes have the server's key; jobs, which are the clients, one that every container may
    read."""
    mapreduce.prepare(c, h, SITE)
    keys = Keys(f"{c.root}/tls", c.daemon.pw_gid, [node.address for node in c.nodes])
    keys.pkcs12("client")
    keys.java_trust("root")
    for name in ("client.p12", "root.trust"):
        os.rename(keys.path(name), f"{c.conf_dir}/{name}")
        os.chmod(f"{c.conf_dir}/{name}", 0o644)
    trust = {
        "truststore_location": f"{c.conf_dir}/root.trust",
        "truststore_password": PASSWORD,
        "truststore_type": "PKCS12",
    }
    server = {
        **trust,
        "keystore_location": keys.path("server.p12"),
        "keystore_password": PASSWORD,
        "keystore_type": "PKCS12",
    }
    client = {
        **trust,
        "keystore_location": f"{c.conf_dir}/client.p12",
        "keystore_password": PASSWORD,
        "keystore_type": "PKCS12",
    }
    for directory in (c.conf_dir, *(n.conf_dir for n in c.nodes)):
        keys.write("client", f"{directory}/ssl-client.xml", client)
    for node in c.nodes:
        keys.write("server", f"{node.conf_dir}/ssl-server.xml", server)


def word_count(c, h):
    """Its reducers fetch with TLS from both kinds of nodes; none of the shuffles takes plain
    HTTP."""
    mapreduce.word_count(c, h)
    plain = [node.address for node in c.nodes if speaks_plain_http(node.address, node.shuffle_port)]
    if plain:
        raise ClusterError(f"the shuffles of {plain} speak plain HTTP")


def speaks_plain_http(address, port):
    with socket.create_connection((address, port), timeout=60) as s:
        s.sendall(b"GET /mapOutput HTTP/1.1\r\n\r\n")
        try:
            return b"HTTP/1" in s.recv(4096)
        except ConnectionResetError:
            return False


CASES = {"wordcount with TLS and client certificates": word_count}
