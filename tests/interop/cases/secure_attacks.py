"""Attacks on our NodeManager in a secure cluster from the side of the services that it calls: a
ResourceManager that holds a valid key of another name, a server that takes no tickets, one that
offers less protection than the node demands; and a node with another node's key. Each is told in
words, none gets more than a first message, and the node registers as soon as the right service is
there."""
from cluster import ClusterError
from interop import secure
from interop.secure import RM, TRACKER
from lib.simple_server import ANSWERS, SimpleServer

NM = "yarn.nodemanager."
REFUSES = "do not accept each other"
ELSEWHERE = f"elsewhere.{secure.DOMAIN}"


def identity(s, kind):
    """(principal, keytab) of a service on a host that is not here."""
    principal, path = s.service(kind, ELSEWHERE), f"{secure.KEYTABS}/{kind}.{ELSEWHERE}.keytab"
    s.kdc.add(principal)
    return principal, s.kdc.keytab(path, principal, uid=s.c.daemon.pw_uid)


def unregistered(s):
    if s.registered():
        raise ClusterError(f"{s.node.id} has registered")


def impostor(s):
    """The ResourceManager's key is valid, and its name is another one."""
    principal, keytab = identity(s, "rm")
    s.restart_rm({RM + "principal": principal, RM + "keytab": keytab})
    try:
        s.restart()
        s.says(REFUSES, f"rm/{ELSEWHERE}", s.rm)
        unregistered(s)
    finally:
        s.restart_rm()
    s.registers()


def no_tickets(s):
    """Servers that take none, in three ways."""
    for what, words in (
        ("offers SIMPLE", "does not take Kerberos tickets"),
        ("offers TOKEN", "does not take Kerberos tickets"),
        ("wants nothing", "wants no ticket"),
    ):
        with SimpleServer(s.network.address, ANSWERS[what]) as server:
            s.restart({TRACKER: f"{s.network.name}:{server.port}"})
            s.says(REFUSES, words)
            unregistered(s)
            s.node.process.stop()
        if not server.asked or server.later:
            raise ClusterError(f"a server that {what}: {server.asked} times, {server.later!r}")
    s.restart()
    s.registers()


def lowered_protection(s):
    """The node demands privacy, the service offers authentication."""
    s.restart({"hadoop.rpc.protection": "privacy"})
    s.says(REFUSES, "the server offers protection", "hadoop.rpc.protection here")
    unregistered(s)
    s.restart()
    s.registers()


def another_nodes_key(s):
    """The ResourceManager, with service authorization, takes this host's node alone."""
    principal, keytab = identity(s, "nm")
    s.restart({NM + "principal": principal, NM + "keytab": keytab})
    s.says(REFUSES, f"only accessible by {s.nm}")
    unregistered(s)
    s.restart()
    s.registers()


CASES = [impostor, no_tickets, lowered_protection, another_nodes_key]
