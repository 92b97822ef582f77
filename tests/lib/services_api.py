"""selvedge-services as a process of a test's cluster, and calls of the services API."""
import http.client
import json
import os
import subprocess
import urllib.parse

from cluster import host


def site(cluster):
    """Keys for the cluster's yarn-site.xml, before its daemons start: definitions on this machine,
    in a directory for each user below one that all may write, as on a cluster's file system."""
    place = cluster.root
    for directory in ("services", "services/services"):
        os.mkdir(f"{place}/{directory}")
        os.chmod(f"{place}/{directory}", 0o1777)
    return {
        "yarn.webapp.api-service.enable": "true",
        "yarn.service.base.path": f"file://{place}/services",
        "selvedge.resourcemanager.services.socket": f"{place}/services-socket",
        "selvedge.services.relay-user": cluster.daemon.pw_name,
    }


class Api:
    def __init__(self, cluster):
        self.cluster = cluster
        self.port = host.free_port()
        self.log = f"{cluster.root}/log/services"
        self.process = None

    def start(self):
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [
                    f"{self.cluster.prefix}/sbin/selvedge-services",
                    "-D",
                    f"yarn.service.api-server.address={self.cluster.address}:{self.port}",
                ],
                env=self.cluster.daemon_env(self.cluster.conf_dir, "services"),
                stderr=log,
            )
        self.cluster.wait(self.answers, host.PATIENCE, "the services API answers")

    def answers(self):
        try:
            return self.ask("GET", "/version", user=self.cluster.users[0].pw_name)[0] == 200
        except OSError:
            return False

    def stop(self):
        self.process.terminate()
        return self.process.wait(host.PATIENCE)

    def kill(self):
        """kill -9"""
        self.process.kill()
        self.process.wait()

    def ask(self, method, path, body=None, user=None, port=None, headers=None):
        """Status and JSON, at the server's port, or at another one."""
        connection = http.client.HTTPConnection(
            self.cluster.address, port or self.port, timeout=host.PATIENCE
        )
        query = f"?user.name={urllib.parse.quote(user)}" if user else ""
        try:
            connection.request(
                method,
                f"/app/v1/services{path}{query}",
                body=None if body is None else json.dumps(body),
                headers=headers or {"Content-Type": "application/json"},
            )
            answer = connection.getresponse()
            text = answer.read().decode()
            return answer.status, json.loads(text) if text.startswith(("{", "[")) else text
        finally:
            connection.close()
