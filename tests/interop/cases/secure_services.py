"""Long-running services of a secure cluster (interop/secure.py, Settings.services):
selvedge-services takes tickets, and acts for its callers at Apache's ResourceManager and NameNode; the master gets by
with the tokens that it is given."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import urllib.request

from cluster import ClusterError, conf
from cluster.cluster import Daemon
from cluster.host import free_port
from interop import hadoop, peers, services
from interop.secure import KEYTABS, REALM
from interop.service import CLI, processes

# At the end of a service Apache's ResourceManager removes its records from a ZooKeeper that is not
# here, and the application is FINISHED when it has given up.
REGISTRY = "hadoop.registry.zk."
SITE = {
    REGISTRY + "connection.timeout.ms": 1000,
    REGISTRY + "retry.times": 1,
    REGISTRY + "retry.interval.ms": 100,
    REGISTRY + "retry.ceiling.ms": 100,
}
DEFINITION = {
    "name": "sleepers",
    "version": "1",
    "components": [
        {
            "name": "sleep",
            "number_of_containers": 2,
            "launch_command": "exec sleep 7777",
            "resource": {"cpus": 1, "memory": "64"},
            "configuration": {
                "files": [
                    {
                        "type": "TEMPLATE",
                        "dest_file": "who",
                        "properties": {"content": "${COMPONENT_INSTANCE_NAME}\n"},
                    }
                ]
            },
        }
    ],
}


class Api:
    """selvedge-services beside the ResourceManager, with its ticket; `url`: of the services."""

    def __init__(self, s, url, daemon):
        self.s, self.url, self.daemon = s, url, daemon

    def ask(self, method, path, person, body=None):
        """(status, object or text), as curl gets them with the person's ticket, or with none."""
        argv = ["curl", "-s", "-w", "\n%{http_code}", "--max-time", "90", "-X", method]
        env = {"PATH": "/usr/bin:/bin", "KRB5CCNAME": "/nonexistent"}
        if person:
            argv += ["--negotiate", "-u", ":"]
            env["KRB5CCNAME"] = person.cache
        if body is not None:
            argv += ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
        done = subprocess.run([*argv, self.url + path], env=env, capture_output=True, text=True)
        if done.returncode:
            raise ClusterError(f"curl {path}: {done.returncode}: {done.stderr}{self.log()}")
        text, _, status = done.stdout.rpartition("\n")
        with contextlib.suppress(ValueError):
            text = json.loads(text)
        return int(status), text

    def expect(self, status, *request):
        got, answer = self.ask(*request)
        if got != status:
            raise ClusterError(f"{request[:2]}: {got}, not {status}: {answer}{self.log()}")
        return answer

    def log(self):
        with open(self.daemon.log, encoding="utf-8", errors="replace") as f:
            return "\n" + f.read()[-3000:]

    @property
    def launcher(self):
        """The FrameworkLauncher of the same server."""
        return Api(self.s, self.url.replace("/app/v1/services", "/v1/Frameworks"), self.daemon)


@contextlib.contextmanager
def api(s, more=None):
    """The server, as the account of the ResourceManager, whose principal it has; `more`: keys."""
    c, port, name = s.c, free_port(), s.network.name
    programs, where = f"{c.root}/programs-{port}", f"{c.root}/services-conf"
    os.mkdir(programs, 0o755)  # a program that has just ended may still be busy
    for program in (
        services.PROGRAM,
        services.MASTER,
    ):  # the daemon's account may not see the build
        shutil.copy(f"{hadoop.BUILD}/{program}", programs)
    own = {
        "yarn.service.api-server.address": f"{name}:{port}",
        "yarn.service.am-resource.memory": 256,
        "yarn.service.readiness-check-interval.seconds": 1,
        "selvedge.service.master.program": f"{programs}/{services.MASTER}",
        "selvedge.resourcemanager.services.socket": f"{c.root}/tmp/services",
        "selvedge.services.kerberos.principal": s.rm,
        "selvedge.services.kerberos.helper": f"{s.node.libexec}/selvedge-gss",
        "hadoop.http.authentication.type": "kerberos",
        "hadoop.http.authentication.kerberos.principal": f"HTTP/{name}@{REALM}",
        "hadoop.http.authentication.kerberos.keytab": s.kdc.keytab(
            f"{KEYTABS}/services.service.keytab", s.service("HTTP"), uid=c.daemon.pw_uid
        ),
        **(more or {}),
    }
    shutil.rmtree(where, ignore_errors=True)
    services.write_conf(c, where, own)
    conf.write_xml(f"{where}/hdfs-site.xml", s.hdfs_site())
    daemon = Daemon(
        c, services.PROGRAM, [f"{programs}/{services.PROGRAM}"], c.daemon_env(where, "services")
    )
    with services.running(c, daemon, port, name):
        yield Api(s, f"http://{name}:{port}/app/v1/services", daemon)


def stable(a, person, count):
    """The containers, once the service is STABLE with so many READY instances."""
    last = {}

    def found():
        status, answer = a.ask("GET", "/sleepers", person)
        last["answer"] = (status, answer)
        if status != 200 or answer.get("state") != "STABLE":
            return None
        rows = [row for row in answer["components"][0]["containers"] if row["state"] == "READY"]
        return {row["id"]: row for row in rows} if len(rows) == count else None

    try:
        return a.s.c.wait(found, 150, f"STABLE with {count}")
    except ClusterError as error:
        raise ClusterError(f"{error}: {last}{a.log()}{logs(a.s)}") from None


def logs(s):
    """The ends of masters' logs."""
    text = ""
    for directory in s.node.log_dirs:
        for root, _, names in os.walk(directory):
            for name in names:
                if name in ("stdout", "stderr"):
                    with open(f"{root}/{name}", encoding="utf-8", errors="replace") as f:
                        text += f"\n{root}/{name}:\n{f.read()[-2000:]}"
    return text[-8000:]


def application(s):
    apps = s.c.rm_get("/ws/v1/cluster/apps")["apps"]["app"]
    return max((app for app in apps if app["name"] == "sleepers"), key=lambda app: app["id"])


def ended(s):
    return application(s)["state"] in services.ENDED


def tokens(s):
    """Delegation tokens that the NameNode keeps."""
    query = "qry=Hadoop:service=NameNode,name=FSNamesystemState"
    url = f"http://{s.hdfs.name}:{s.hdfs.web_port}/jmx?{query}"
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)["beans"][0]["CurrentTokensCount"]


def callers(s):
    """Who has no ticket is nobody, whatever he says; who has one is himself."""
    with api(s) as a:
        status, answer = a.ask("GET", "/version", None)
        if status != 401:
            raise ClusterError(f"without a ticket: {status} {answer}")
        a.expect(401, "GET", f"/version?user.name={s.alice.account.pw_name}", None)
        a.expect(200, "GET", "/version", s.alice)
        a.expect(404, "GET", "/sleepers", s.alice)
        before = tokens(s)
        for _ in range(3):
            a.expect(404, "GET", "/sleepers", s.alice)
        hadoops = {"configuration": {"properties": {"selvedge.service.master": "hadoop"}}}
        answer = a.expect(400, "POST", "", s.alice, {**DEFINITION, **hadoops})
        if "selvedge.service.master=selvedge" not in str(answer):
            raise ClusterError(f"Hadoop's master: {answer}")
        a.ask("DELETE", "/sleepers", s.alice)
        if tokens(s) != before:
            raise ClusterError(f"{tokens(s)} tokens of HDFS, {before} before: some are left")
        # the server may act for two users alone
        status, answer = a.ask("GET", "/sleepers", s.dora)
        if status < 400 or "is not allowed to impersonate" not in str(answer):
            raise ClusterError(f"for dora: {status} {answer}{a.log()}")


def life(s):
    """From launch to destruction, by one user; another one sees nothing of it."""
    alice = s.alice
    with api(s) as a:
        a.expect(202, "POST", "", alice, DEFINITION)
        first = stable(a, alice, 2)
        app = application(s)
        if app["user"] != alice.account.pw_name:
            raise ClusterError(f"{app['id']} is {app['user']}'s")
        for container in first:
            for pid in processes(container):
                if os.stat(f"/proc/{pid}").st_uid != alice.account.pw_uid:
                    raise ClusterError(f"{container}: process {pid} is not alice's")
        a.expect(404, "GET", "/sleepers", s.bob)
        a.expect(404, "PUT", "/sleepers", s.bob, {"state": "STOPPED"})
        flexed = {"number_of_containers": 3}
        a.expect(200, "PUT", "/sleepers/components/sleep", alice, flexed)
        second = stable(a, alice, 3)
        if not set(first) <= set(second):
            raise ClusterError(f"{sorted(first)} are not all among {sorted(second)}")
        master_killed(s, a, set(second))
        a.expect(200, "PUT", "/sleepers", alice, {"state": "STOPPED"})
        s.c.wait(lambda: ended(s), 60, "the service ends")
        a.expect(200, "PUT", "/sleepers", alice, {"state": "STARTED"})
        stable(a, alice, 3)
        a.expect(200, "DELETE", "/sleepers", alice)
        s.c.wait(lambda: ended(s), 60, "the service ends")
        a.expect(404, "GET", "/sleepers", alice)


def command_line(s):
    """`yarn app` with its user's ticket, which Hadoop's client shows the server."""
    c, where, path = s.c, f"{s.c.root}/services-client", f"{s.c.root}/tmp/sleepers.json"
    with api(s) as a:
        shutil.rmtree(where, ignore_errors=True)
        address = a.url.split("/")[2]
        services.write_conf(c, where, {"yarn.resourcemanager.webapp.address": address})
        conf.write_xml(f"{where}/hdfs-site.xml", s.hdfs_site())
        with open(path, "w", encoding="ascii") as f:
            json.dump(DEFINITION, f)

        def yarn(*words):
            argv = hadoop.java(
                c.peer_client, CLI, *words, conf=where, options=peers.options(c, "client")
            )
            with s.acting(s.alice):
                done = peers.run_as_submitter(c, argv, where)
            if done.returncode:
                raise ClusterError(f"yarn {words}: {done.stdout[-3000:]}{a.log()}{logs(s)}")
            return done.stdout

        yarn("app", "-launch", "sleepers", path)
        stable(a, s.alice, 2)
        if '"state":"STABLE"' not in yarn("app", "-status", "sleepers").replace(" ", ""):
            raise ClusterError("yarn app -status does not say STABLE")
        yarn("app", "-stop", "sleepers")
        s.c.wait(lambda: ended(s), 60, "the service ends")
        yarn("app", "-destroy", "sleepers")
        a.expect(404, "GET", "/sleepers", s.alice)
        by_ours(s, where, path)
        a.expect(404, "GET", "/sleepers", s.alice)


def by_ours(s, where, path):
    """`selvedge service`, with its user's ticket and without."""

    def selvedge(*words, person=s.alice, code=0):
        env = {**s.c.client_env(s.alice.account), "HADOOP_CONF_DIR": where}
        env["KRB5CCNAME"] = person.cache if person else "/nonexistent"
        argv = s.c.selvedge_argv("service", *words, user=s.alice.account)
        done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=200)
        if done.returncode != code:
            raise ClusterError(f"{words}: {done.returncode} {done.stdout} {done.stderr}{logs(s)}")
        return done.stdout + done.stderr

    if "kinit" not in selvedge("status", "sleepers", person=None, code=1):
        raise ClusterError("selvedge service does not name kinit")
    selvedge("launch", "--wait=2m", path)
    selvedge("flex", "--wait=2m", "sleepers", "sleep=3")
    selvedge("destroy", "sleepers")


def master_killed(s, a, containers):
    """Its next attempt reads the journal with the same tokens."""
    attempt = peers.Application(s.c, application(s)["id"]).attempts()[-1]
    for pid in processes(attempt["containerId"]):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def again():
        attempts = peers.Application(s.c, application(s)["id"]).attempts()
        return len(attempts) > 1

    s.c.wait(again, 60, "another attempt")
    if set(stable(a, s.alice, 3)) != containers:
        raise ClusterError(f"after the master's kill: not {sorted(containers)}")


CASES = [callers, life, command_line]
