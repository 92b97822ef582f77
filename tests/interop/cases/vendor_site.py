"""What emr_site.py and cdp_site.py have in common: a node with a yarn-site.xml of a vendor's shape
at Apache's ResourceManager. `--check-config` names each key that has no effect, and no other; a job
runs and its logs are aggregated; the health script takes the node away and brings it back."""
import os
import re
import subprocess

from cluster import ClusterError, host
from interop import peers
from interop.cases import health_script, node_facts, shell

NM, LCE = "yarn.nodemanager.", "yarn.nodemanager.linux-container-executor."
SITE = {
    **health_script.SITE,
    NM + "aux-services": "mapreduce_shuffle",
    NM + "aux-services.mapreduce_shuffle.class": "org.apache.hadoop.mapred.ShuffleHandler",
    NM + "log-aggregation.compression-type": "gz",
    NM + "recovery.enabled": "true",
    NM + "recovery.supervised": "true",
    NM + "container-manager.thread-count": "64",
    NM + "localizer.client.thread-count": "20",
    NM + "localizer.fetch.thread-count": "20",
    "yarn.log-aggregation-enable": "true",
    "yarn.log-aggregation.retain-seconds": "172800",
    "yarn.http.policy": "HTTP_ONLY",
}
# Of SITE and of the fixture, without effect here.
SILENT = {
    NM + "container-manager.thread-count",
    NM + "localizer.client.thread-count",
    NM + "localizer.address",
    LCE + "group",
    "yarn.log-aggregation.retain-seconds",
}


def prepare(c):
    health_script.prepare(c)
    logs = f"{c.root}/tmp/logs"
    os.mkdir(logs)
    os.chmod(logs, 0o1777)
    c.site[NM + "remote-app-log-dir"] = f"file://{logs}"


def check_config(c, silent):
    node = c.nodes[0]
    done = subprocess.run(
        [*c.as_user(c.daemon), f"{node.prefix}/sbin/selvedge-nodemanager", "--check-config"],
        env=c.daemon_env(node.conf_dir, "check"),
        cwd="/",
        capture_output=True,
        text=True,
        timeout=host.PATIENCE,
        check=False,
    )
    lines = [
        line
        for line in done.stdout.splitlines()
        if line.startswith(("not done", "without meaning", "unknown"))
    ]
    found = set(re.findall(r"([\w.-]+) \(yarn-site.xml:\d+\)", "\n".join(lines)))
    if done.returncode != 0 or found != SILENT | silent:
        raise ClusterError(
            f"{done.returncode}, {found ^ (SILENT | silent)}: {done.stdout}{done.stderr}"
        )


def job(c):
    application = peers.distributed_shell(c, "-shell_command", "date", "-num_containers", "2")
    shell.expect(application, shell.SUCCEEDED)

    def logs():
        try:
            told = node_facts.run_cli(c, "LogsCLI", "-applicationId", application.id)
        except ClusterError:
            return False
        return len(re.findall(shell.CLOCK + r" .*\d{4}$", told, re.M)) >= 2

    c.wait(logs, 120, f"the aggregated logs of {application.id}")


def unhealthy(c):
    health_script.say(c, "ERROR disk 3 is broken\n")
    health_script.becomes(c, "ERROR disk 3 is broken\n")
    health_script.say(c, "fine\n")
    health_script.becomes(c, "")


def run(report, c, silent, *cases):
    for name, case in (
        ("--check-config names the keys without effect", lambda c: check_config(c, silent)),
        *cases,
        ("a job, and its aggregated logs", job),
        ("UNHEALTHY by its script, and back", unhealthy),
    ):
        report.case(f"{c.pairing}: {name}", case, c)
