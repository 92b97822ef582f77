"""A cluster whose web is HTTPS alone (yarn.http.policy): Apache's ResourceManager leads to our
node, and Hadoop's `yarn logs` reads a running container's log from it."""
import re
import urllib.request

from cluster import ClusterError, host
from interop import peers
from lib.shuffle_tls import PASSWORD, Keys

SITE = {"yarn.http.policy": "HTTPS_ONLY"}
LOGS = "org.apache.hadoop.yarn.client.cli.LogsCLI"


def prepare(c):
    keys = Keys(f"{c.root}/tls", c.daemon.pw_gid, [c.address, *(n.address for n in c.nodes)])
    trust = {
        "truststore_location": keys.java_trust("root"),
        "truststore_password": PASSWORD,
        "truststore_type": "PKCS12",
    }
    server = {
        **trust,
        "keystore_location": keys.path("server.p12"),
        "keystore_password": PASSWORD,
        "keystore_keypassword": PASSWORD,
        "keystore_type": "PKCS12",
    }
    c.tls = keys.context()
    c.site["yarn.resourcemanager.webapp.https.address"] = f"{c.address}:{c.ports['web']}"
    for node in c.nodes:
        node.site["yarn.nodemanager.webapp.https.address"] = f"{node.address}:{node.ports['web']}"
    for directory in (c.conf_dir, *(n.conf_dir for n in c.nodes)):
        keys.write("client", f"{directory}/ssl-client.xml", trust)
        keys.write("server", f"{directory}/ssl-server.xml", server)


def page(c, url):
    with urllib.request.urlopen(url, timeout=host.PATIENCE, context=c.tls) as answer:
        return answer.read().decode()


def links(c):
    """From the ResourceManager's REST and page to the node's."""
    port = c.nodes[0].ports["web"]
    address = c.rm_get("/ws/v1/cluster/nodes")["nodes"]["node"][0]["nodeHTTPAddress"]
    if not address.endswith(f":{port}"):
        raise ClusterError(f"the node registered {address}, not its port {port}")
    # the page has links without a scheme: that of the page
    shown = page(c, f"{c.rm_url}/cluster/nodes")
    found = re.findall(rf"[\w:]*//[\w.-]+:{port}", shown)
    if not found or any(link.startswith("http:") for link in found):
        raise ClusterError(f"the page of nodes links to {found}: {shown[-3000:]}")
    link = "https:" + found[0].removeprefix("https:")
    if "Selvedge" not in page(c, f"{link}/node"):
        raise ClusterError(f"{link}/node is not our page")


def logs_of_running(c):
    shell = "{ echo said by $CONTAINER_ID; sleep 1000; }"
    with peers.RunningShell(c, "-shell_command", shell, "-num_containers", "1") as running:
        application = running.application
        c.wait(
            lambda: any("said by" in text for text in application.outputs().values()),
            120,
            "the container's output",
        )
        done = peers.client(c, LOGS, "-applicationId", application.id, "-log_files", "stdout")
        if done.returncode or not re.search(r"^said by container_", done.stdout, re.M):
            raise ClusterError(f"yarn logs: {done.returncode}: {done.stdout[-3000:]}")
        link = application.report()["amContainerLogs"]
        if not link.startswith("https://") or "Logs" not in page(c, link):
            raise ClusterError(f"amContainerLogs is {link}")


def run(report, c):
    report.case(f"{c.pairing}: links over HTTPS", links, c)
    report.case(f"{c.pairing}: yarn logs over HTTPS", logs_of_running, c)
