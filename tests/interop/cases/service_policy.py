"""hadoop-policy.xml of a NodeManager: Hadoop's ResourceManager, a client of port 8041 in Java, is
refused by its address with AuthorizationException, which ends the attempt with these words.
Apache's NodeManager reads the file at its start alone; ours reads it again at a reload."""
import re
import signal

from cluster import ClusterError
from interop import peers
from interop.cases import shell

SITE = {"hadoop.security.authorization": "true"}
WORDS = (
    r"AuthorizationException: Host 127\.0\.0\.1 is not authorized for protocol interface "
    r"org\.apache\.hadoop\.yarn\.api\.ContainerManagementProtocolPB"
)


def is_ours(c):
    return c.peer_nms[0] == "selvedge"


def write(c, hosts):
    with open(f"{c.nodes[0].conf_dir}/hadoop-policy.xml", "w", encoding="ascii") as f:
        f.write(
            "<configuration><property>"
            "<name>security.containermanagement.protocol.hosts</name>"
            f"<value>{hosts}</value></property></configuration>\n"
        )


def read_again(c, hosts):
    log = c.nodes[0].process.log

    def count():
        with open(log, encoding="utf-8", errors="replace") as f:
            return f.read().count("configuration: read again")

    before = count()
    write(c, hosts)
    c.nodes[0].process.process.send_signal(signal.SIGHUP)
    c.wait(lambda: count() > before, 60, "the file is read again")


def prepare(c):
    write(c, "*" if is_ours(c) else "10.255.255.1")


def refused(c):
    if is_ours(c):
        read_again(c, "10.255.255.1")
    application = peers.distributed_shell(c, "-shell_command", "date", "-num_containers", "1")
    report = application.wait_ended()
    if report["state"] != "FAILED" or not re.search(WORDS, report["diagnostics"]):
        raise ClusterError(f"{application.id}: {report['state']}: {report['diagnostics'][-2000:]}")


def admitted(c):
    read_again(c, "127.0.0.0/8")
    shell.date(c, 1)


def run(report, c):
    report.case(f"{c.pairing}: a host that hadoop-policy.xml leaves out", refused, c)
    if is_ours(c):
        report.case(f"{c.pairing}: a host that it has", admitted, c)
