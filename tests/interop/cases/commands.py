"""Hadoop's `yarn` commands and the URLs of its web services on our daemons and on Apache's: exit
codes and output of the commands, status, type and fields of the answers, beside applications that
run. What Apache's daemons answer is kept in tests/golden/commands: theirs must still be that; each
difference of ours must have its row in docs/compat.md, and is printed with that row's reason.
COMMANDS_CAPTURE=1 writes the golden file."""
import base64
import contextlib
import fnmatch
import http.client
import json
import os
import re
import socket
import subprocess
import urllib.parse
import xml.etree.ElementTree

from cluster import ClusterError
from interop import hadoop, peers

GOLDEN = os.path.join(hadoop.TOP, "tests", "golden", "commands", f"apache-{hadoop.REFERENCE}.json")
LISTS = "<!-- lists|<!-- end of the lists"  # in docs/compat.md: what is between is no difference
COMPAT = os.path.join(hadoop.TOP, "docs", "compat.md")
# Copies of the launch script, which our NodeManager never serves, would fill every answer of `yarn
# logs`.
SITE = {"yarn.nodemanager.log-container-debug-info.enabled": "false"}
CLI = "org.apache.hadoop.yarn.client.cli."
CLASSES = {
    "application": "ApplicationCLI",
    "applicationattempt": "ApplicationCLI",
    "container": "ApplicationCLI",
    "node": "NodeCLI",
    "queue": "QueueCLI",
    "cluster": "ClusterCLI",
    "nodeattributes": "NodeAttributesCLI",
    "logs": "LogsCLI",
    "rmadmin": "RMAdminCLI",
    "top": "TopCLI",
    "schedulerconf": "SchedConfCLI",
}
ABSENT = "application_1700000000000_0077"

# As typed after `yarn`. Words behind an @ are ids of this run.
COMMANDS = """
application -list
application -list -appStates ALL
application -list -appStates KILLED
application -list -appStates nonsense
application -list -appTypes PROBE
application -list -appTags one
application -status @RUNNING
application -status @MANAGED
application -status @ABSENT
application -status nonsense
application -appId @RUNNING -updatePriority 0
application -appId @RUNNING -changeQueue default
application -appId @RUNNING -updateLifetime 6000
application -status @RUNNING -showTimeouts
application -kill @ABSENT
application -kill @KILLED
applicationattempt -list @RUNNING
applicationattempt -list @ABSENT
applicationattempt -status @ATTEMPT
applicationattempt -status @MANAGED_ATTEMPT
applicationattempt -fail @ABSENT_ATTEMPT
container -list @ATTEMPT
container -list @MANAGED_ATTEMPT
container -status @CONTAINER
container -status @ABSENT_CONTAINER
container -signal @CONTAINER OUTPUT_THREAD_DUMP
node -list
node -list -all
node -list -states RUNNING
node -list -states nonsense
node -list -showDetails
node -status @NODE
node -status nobody:1
queue -status default
queue -status root.default
queue -status nowhere
queue -list root
cluster -lnl
cluster -dnl
cluster -lna
nodeattributes -list
logs -applicationId @RUNNING
logs -applicationId @MANAGED
logs -applicationId @RUNNING -containerId @CONTAINER
logs -applicationId @RUNNING -containerId @CONTAINER -log_files digits -size 4
logs -applicationId @RUNNING -containerId @CONTAINER -log_files digits -size -4
logs -applicationId @RUNNING -containerId @CONTAINER -log_files nosuch
logs -applicationId @RUNNING -containerId @CONTAINER -show_container_log_info
logs -applicationId @RUNNING -show_application_log_info
logs -applicationId @MANAGED -am 1
logs -applicationId @RUNNING -list_nodes
logs -applicationId @ABSENT
top
rmadmin -refreshQueues
rmadmin -refreshNodes
rmadmin -refreshNodesResources
rmadmin -refreshSuperUserGroupsConfiguration
rmadmin -refreshUserToGroupsMappings
rmadmin -refreshAdminAcls
rmadmin -refreshServiceAcl
rmadmin -refreshClusterMaxPriority
rmadmin -getGroups @USER
rmadmin -addToClusterNodeLabels one
rmadmin -removeFromClusterNodeLabels one
rmadmin -replaceLabelsOnNode @NODE=one
rmadmin -updateNodeResource @NODE 4096 4
rmadmin -getServiceState rm1
schedulerconf -getConf
""".strip().splitlines()

R, N = "/ws/v1/cluster", "/ws/v1/node"
# Words in place of a method: GET with what the client accepts.
ACCEPTS = {
    "XML": "application/xml",
    "BROWSER": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "ANY": "*/*",
}
URLS = f"""
rm GET /
rm GET /cluster
rm GET /cluster/apps
rm GET /cluster/nodes
rm GET /cluster/scheduler
rm GET /cluster/app/@RUNNING
rm GET /cluster/appattempt/@ATTEMPT
rm GET /cluster/container/@CONTAINER
rm GET /conf
rm GET /conf?name=yarn.resourcemanager.webapp.address
rm GET /conf?name=no.such.key
rm GET /conf?format=xml
rm GET /isActive
rm GET /jmx
rm GET /logs/
rm OPTIONS {R}/info
rm GET {R}
rm GET {R}/info
rm GET {R}/metrics
rm GET {R}/scheduler
rm GET {R}/scheduler/activities
rm GET {R}/scheduler/app-activities/@RUNNING
rm GET {R}/scheduler/bulk-activities
rm GET {R}/scheduler-conf
rm GET {R}/scheduler-conf/format
rm GET {R}/scheduler-conf/version
rm POST {R}/scheduler-conf/validate {{}}
rm PUT {R}/scheduler-conf {{}}
rm GET {R}/scheduler-overview
rm POST {R}/scheduler/logs
rm GET {R}/nodes
rm GET {R}/nodes?states=RUNNING
rm GET {R}/nodes?states=LOST
rm GET {R}/nodes?states=nonsense
rm GET {R}/nodes/@NODE
rm GET {R}/nodes/nobody:1
rm GET {R}/nodes/@NODE/resource
rm POST {R}/nodes/@NODE/resource {{"resource":{{"memory":4096,"vCores":4}},"overCommitTimeout":-1}}
rm POST {R}/nodes/nobody:1/resource {{"resource":{{"memory":4096,"vCores":4}},"overCommitTimeout":-1}}
rm POST {R}/nodes/@NODE/resource?user.name=eve {{"resource":{{"memory":4096,"vCores":4}},"overCommitTimeout":-1}}
rm GET {R}/nodes/@NODE/get-labels
rm POST {R}/nodes/@NODE/replace-labels?labels=one
rm GET {R}/apps
rm GET {R}/apps?states=RUNNING
rm GET {R}/apps?states=running,killed
rm GET {R}/apps?states=nonsense
rm GET {R}/apps?state=KILLED
rm GET {R}/apps?finalStatus=KILLED
rm GET {R}/apps?finalStatus=nonsense
rm GET {R}/apps?limit=0
rm GET {R}/apps?limit=x
rm GET {R}/apps?user=nobody
rm GET {R}/apps?queue=default
rm GET {R}/apps?queue=root.default
rm GET {R}/apps?queue=nowhere
rm GET {R}/apps?applicationTypes=PROBE
rm GET {R}/apps?applicationTags=one
rm GET {R}/apps?startedTimeBegin=x
rm GET {R}/apps?startedTimeBegin=-1
rm GET {R}/apps?deSelects=resourceRequests
rm GET {R}/apps/@RUNNING
rm GET {R}/apps/@MANAGED
rm GET {R}/apps/@KILLED
rm GET {R}/apps/@ABSENT
rm GET {R}/apps/nonsense
rm GET {R}/apps/@RUNNING/state
rm GET {R}/apps/@RUNNING/queue
rm GET {R}/apps/@RUNNING/priority
rm GET {R}/apps/@RUNNING/timeouts
rm GET {R}/apps/@RUNNING/timeouts/LIFETIME
rm GET {R}/apps/@RUNNING/appattempts
rm GET {R}/apps/@MANAGED/appattempts
rm GET {R}/apps/@ABSENT/appattempts
rm GET {R}/apps/@RUNNING/appattempts/@ATTEMPT
rm GET {R}/apps/@MANAGED/appattempts/@MANAGED_ATTEMPT
rm GET {R}/apps/@RUNNING/appattempts/@ABSENT_ATTEMPT
rm GET {R}/apps/@RUNNING/appattempts/nonsense
rm GET {R}/apps/@RUNNING/appattempts/@ATTEMPT/containers
rm GET {R}/apps/@RUNNING/appattempts/@ATTEMPT/containers/@CONTAINER
rm GET {R}/apps/@RUNNING/appattempts/@ATTEMPT/containers/@ABSENT_CONTAINER
rm GET {R}/apps/@RUNNING/appattempts/@ATTEMPT/containers/nonsense
rm GET {R}/appstatistics
rm GET {R}/userinfo
rm GET {R}/queues/default/access?user=@USER
rm GET {R}/get-node-labels
rm GET {R}/get-node-to-labels
rm GET {R}/label-mappings
rm GET {R}/get-rm-node-labels
rm POST {R}/replace-node-to-labels {{"nodeToLabels":[]}}
rm POST {R}/add-node-labels {{"nodeLabelInfo":[{{"name":"one"}}]}}
rm POST {R}/remove-node-labels?labels=one
rm GET {R}/reservation/list?queue=default
rm POST {R}/reservation/new-reservation
rm POST {R}/reservation/submit {{"queue":"default"}}
rm POST {R}/reservation/update {{"reservation-id":"reservation_1_0001"}}
rm POST {R}/reservation/delete {{"reservation-id":"reservation_1_0001"}}
rm POST {R}/containers/@CONTAINER/signal/OUTPUT_THREAD_DUMP
rm POST {R}/containers/@CONTAINER/signal/NONSENSE
rm POST {R}/containers/@ABSENT_CONTAINER/signal/OUTPUT_THREAD_DUMP
rm POST {R}/containers/nonsense/signal/OUTPUT_THREAD_DUMP
rm POST {R}/delegation-token {{"renewer":"rob"}}
rm POST {R}/delegation-token?user.name=ann {{"renewer":"rob"}}
rm POST {R}/delegation-token renewer
rm POST {R}/delegation-token
rm POST {R}/delegation-token/expiration
rm DELETE {R}/delegation-token
rm GET {R}/delegation-token
rm GET {R}/no-such-path
rm POST {R}/info
rm POST {R}/apps/new-application
rm PUT {R}/apps/@KILLED/state?user.name=@USER {{"state":"KILLED"}}
rm PUT {R}/apps/@RUNNING/state?user.name=@USER {{"state":"RUNNING"}}
rm DELETE {R}/apps/@RUNNING
rm GET /proxy/@RUNNING
rm GET /proxy/@RUNNING/
rm GET /proxy/@RUNNING/a/path?x=1&y=2
rm PUT /proxy/@RUNNING/put {{"a":1}}
rm GET /proxy/redirect/@RUNNING/
rm GET /proxy/@MANAGED/
rm GET /proxy/@KILLED/
rm GET /proxy/@ABSENT/
rm GET /proxy/nonsense/
nm GET /
nm GET /node
nm GET /node/node
nm GET /node/allApplications
nm GET /node/allContainers
nm GET /node/application/@RUNNING
nm GET /node/container/@CONTAINER
nm GET /node/containerlogs/@CONTAINER/@USER
nm GET /node/containerlogs/@CONTAINER/@USER/digits
nm GET /node/containerlogs/@CONTAINER/@USER/digits/?start=-4096
nm GET /conf
nm GET /isActive
nm GET /jmx
nm OPTIONS {N}/info
nm GET {N}
nm GET {N}/info
nm GET {N}/apps
nm GET {N}/apps?state=RUNNING
nm GET {N}/apps?state=nonsense
nm GET {N}/apps?user=
nm GET {N}/apps/@RUNNING
nm GET {N}/apps/@ABSENT
nm GET {N}/apps/nonsense
nm GET {N}/containers
nm GET {N}/containers/@CONTAINER
nm GET {N}/containers/@ABSENT_CONTAINER
nm GET {N}/containers/nonsense
nm GET {N}/containers/@CONTAINER/logs
nm GET {N}/containers/@CONTAINER/logs/digits
nm GET {N}/containers/@CONTAINER/logs/digits?format=octet-stream
nm GET {N}/containers/@CONTAINER/logs/digits?format=nonsense
nm GET {N}/containers/@CONTAINER/logs/digits?size=4
nm GET {N}/containers/@CONTAINER/logs/digits?size=-4
nm GET {N}/containers/@CONTAINER/logs/digits?size=0
nm GET {N}/containers/@CONTAINER/logs/nosuch
nm GET {N}/containerlogs/@CONTAINER/digits
nm GET {N}/containerlogs/@CONTAINER/nosuch
nm GET {N}/containerlogs/nonsense/digits
nm GET {N}/auxiliaryservices
nm GET {N}/resources/gpu
nm PUT {N}/auxiliaryservices {{"services":[]}}
nm XML {N}
nm XML {N}/info
nm XML {N}/apps
nm XML {N}/apps/@RUNNING
nm XML {N}/apps/@ABSENT
nm XML {N}/apps/nonsense
nm XML {N}/containers
nm XML {N}/containers/@CONTAINER
nm XML {N}/containers/@ABSENT_CONTAINER
nm XML {N}/containers/nonsense
nm XML {N}/containers/@CONTAINER/logs
nm XML {N}/auxiliaryservices
nm XML {N}/resources/gpu
nm BROWSER {N}/info
nm ANY {N}/info
rm XML {R}/info
rm BROWSER {R}/info
rm ANY {R}/info
nm GET /logLevel
nm GET /logLevel?log=org.apache.hadoop
nm GET /logLevel?log=org.apache.hadoop&level=INFO
rm GET /logLevel
rm GET /logLevel?log=org.apache.hadoop&level=INFO
""".strip().splitlines()


class Probe:
    """java/reference/CommandProbe.java with its two running applications. Leaving the block ends
    them."""

    def __init__(self, c):
        self.cluster, self.ids = c, {
            "USER": c.submitter.pw_name,
            "NODE": c.running_nodes()[0],
            "ABSENT": ABSENT,
        }
        self.ids["ABSENT_ATTEMPT"] = ABSENT.replace("application", "appattempt") + "_000001"
        self.ids["ABSENT_CONTAINER"] = ABSENT.replace("application", "container") + "_01_000005"

    def __enter__(self):
        c = self.cluster
        self.log = open(f"{c.root}/log/probe.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [*c.as_user(c.submitter), *peers.client_argv(c, "CommandProbe")],
            cwd=c.home,
            text=True,
            env={**c.client_env(c.submitter), "JAVA_HOME": peers.java_home(), "TERM": "dumb"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
        )
        for words in self.answers():
            if words[0] == "ready":
                return self
            self.ids[words[1]] = words[2]
        raise AssertionError

    def answers(self):
        while True:
            line = self.process.stdout.readline()
            if not line:
                self.log.seek(0)
                raise ClusterError(
                    f"CommandProbe ended with {self.process.wait()}:\n{self.log.read()[-3000:]}"
                )
            if line.startswith("probe:"):
                yield line.rstrip("\n")[len("probe:") :].split("\t")

    def fill(self, text):
        """With this run's ids instead of their names."""
        return re.sub(r"@([A-Z_]+)", lambda m: self.ids[m.group(1)], text)

    def run(self, command):
        words = command.split()
        group = [words[0]] if CLASSES[words[0]] == "ApplicationCLI" else []
        line = ["run", command, CLI + CLASSES[words[0]], *group, *(self.fill(w) for w in words[1:])]
        self.process.stdin.write("\t".join(line) + "\n")
        self.process.stdin.flush()
        _, name, code, text = next(self.answers())
        assert name == command, (name, command)
        return int(code), base64.b64decode(text).decode(errors="replace")

    def __exit__(self, *error):
        with contextlib.suppress(OSError, ValueError):
            self.process.stdin.write("end\n")
            self.process.stdin.flush()
            self.process.communicate(timeout=60)
        self.process.kill()
        self.process.wait()
        self.log.close()
        return False

    # ---- what differs from run to run ----

    def plain(self, text):
        for name in sorted(self.ids, key=lambda n: len(self.ids[n]), reverse=True):
            text = text.replace(self.ids[name], "@" + name)
        text = re.sub(
            r"(application|appattempt|container)(_e\d+)?_\d{13}_\d+[_\d]*", "OTHER", text
        )  # of earlier cases
        for host in (socket.gethostname(), "localhost", "127.0.0.1", "0.0.0.0"):
            text = text.replace(host, "HOST")
        text = re.sub(r"\w{3} \d\d/\w{3}/\d+ [\d:]+[A-Z]+", "DATE", text)  # of yarn node -status
        text = re.sub(r"\w{3} \w{3} +\d+ \d\d:\d\d:\d\d [+-]?\w+ \d{4}", "DATE", text)
        text = re.sub(
            r"\d{4}-\d\d-\d\dT[\d:.]+[+-]\d{4}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d+", "DATE", text
        )
        text = re.sub(r"\d+(\.\d+)?(E-?\d+)?", "#", text)
        lines = (
            re.sub(
                r"^(Queue\(s\) .*), # \w*$", r"\1", " ".join(line.split())
            )  # yarn top cuts the last at 80 columns
            for line in text.splitlines()
            if line.strip()
        )
        return [
            line
            for line in lines
            if not re.search(
                r"OTHER|^at \S+\(|^\.\.\. # more|^Caused by: |NoSuchElementException", line
            )
        ]  # the last: yarn top's end


def shape(value, path=""):
    """{"path: type"} of a JSON value; the elements of a list together."""
    if isinstance(value, dict):
        return set().union(
            {f"{path}: object"}, *(shape(v, f"{path}.{k}") for k, v in value.items())
        )
    if isinstance(value, list):
        return set().union({f"{path}: list"}, *(shape(v, f"{path}[]") for v in value))
    kind = {str: "text", bool: "boolean", int: "number", float: "number", type(None): "null"}[
        type(value)
    ]
    return {f"{path}: {kind}"}


PASSING = re.compile(r"\.(ContainerResource|RpcDetailedActivityForPort)\.(?!name:|modelerType:)")


def bean_kind(name):
    """Of Hadoop's beans what does not change from run to run; the domain of others."""
    found = re.match(r"Hadoop:service=\w+,name=([A-Za-z]+)", name)
    return found.group(1) if found else name.split(":")[0]


def shape_of_beans(value):
    """As shape(), by kinds of beans, of which PASSING have all their members at times only: as
    Hadoop's last snapshot of them was."""
    found = set().union(*(shape(b, f".{bean_kind(b['name'])}") for b in value["beans"]))
    return {line for line in found if not PASSING.match(line)}


def xml_shape(element, path=""):
    """{"path"} of an element and those in it."""
    path = f"{path}.{element.tag}"
    return set().union({path}, *(xml_shape(child, path) for child in element))


def ask(c, probe, line):
    """["STATUS TYPE", fields or lines…] of one request."""
    where, method, rest = line.split(" ", 2)
    path, _, body = rest.partition(" ")
    port = c.ports["web"] if where == "rm" else c.nodes[0].ports["web"]
    connection = http.client.HTTPConnection(c.address, port, timeout=60)
    try:
        connection.request(
            "GET" if method in ACCEPTS else method,
            probe.fill(path),
            body=body or None,
            headers={
                "Accept": ACCEPTS[method]
                if method in ACCEPTS
                else "application/json"
                if "/ws/" in path and "/logs/" not in path and "containerlogs/" not in path
                else "*/*",
                **({"Content-Type": "application/json"} if body else {}),
            },
        )
        answer = connection.getresponse()
        text, kind = (
            answer.read().decode(errors="replace"),
            (answer.getheader("Content-Type") or "none").split(";")[0],
        )
        result = [f"{answer.status} {kind.lower() if method != 'OPTIONS' else 'any'}"]
        if answer.getheader("Location"):
            result += probe.plain(
                "Location "
                + urllib.parse.urlsplit(answer.getheader("Location"))
                ._replace(scheme="", netloc="")
                .geturl()
            )
    finally:
        connection.close()
    if "xml" in kind and path.startswith("/ws/") and text:
        try:
            tree = xml.etree.ElementTree.fromstring(text)
        except xml.etree.ElementTree.ParseError:
            return result + probe.plain(text)
        error = tree.findtext("exception") if tree.tag == "RemoteException" else None
        return result + (probe.plain("error " + error) if error else sorted(xml_shape(tree)))
    if "json" in kind and text:
        try:
            value = json.loads(text)
        except ValueError:  # Apache's refusals are not all what their type says
            return result + probe.plain(text)
        error = value.get("RemoteException") if isinstance(value, dict) else None
        if path.startswith("/conf"):
            return result  # the keys are another list
        if path == "/jmx":
            return result + sorted(shape_of_beans(value))
        return result + (
            probe.plain("error " + error["exception"]) if error else sorted(shape(value))
        )
    if "logLevel" in path and answer.status == 200:
        lines = [line for line in text.splitlines() if line.startswith("<!-- OUTPUT -->")]
        return result + [re.sub("<[^>]*>", "", line).strip() for line in lines]
    if kind in ("text/plain", "application/octet-stream") and answer.status == 200:
        return result + probe.plain(text)
    return result


def in_order(command, lines):
    """`yarn top` may have drawn its screen twice, and sorts by use; Apache's list of applications
    is in the order of a hash table."""
    if command == "top":
        return sorted(set(lines))
    return sorted(lines) if command.startswith("application -list") else lines


def collect(c):
    found = {}
    with Probe(c) as probe:
        for line in COMMANDS:
            code, text = probe.run(line)
            found["yarn " + line] = [f"exit {code}", *in_order(line, probe.plain(text))]
        for line in URLS:
            found[line] = ask(c, probe, line)
    c.wait(lambda: not c.container_processes(), 60, "the containers of the probe end")
    return found


def rows(part=0):
    """A table of docs/compat.md: [request pattern, difference pattern, reason]. `part`: 0 is before
    the lists, -1 behind them."""
    with open(COMPAT, encoding="utf-8") as f:
        cells = [
            [cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in re.split(LISTS, f.read())[part].splitlines()
            if re.match(r"\| `[^|]*\| `", line)
        ]
    return [[row[0].strip("`"), row[1].strip("`"), row[2]] for row in cells if len(row) == 3]


def matches(pattern, text):
    """Shell patterns without brackets: they are written in fields of lists."""
    return fnmatch.fnmatchcase(text, pattern.replace("[", "[[]"))


def compare(report, c, found, wanted, table):
    used = set()
    for name, lines in wanted.items():
        ours = found.get(name, ["absent"])
        left = [f"- {line}" for line in lines if line not in ours] + [
            f"+ {line}" for line in ours if line not in lines
        ]
        reasons, unexplained = {}, []
        for difference in left:
            hits = [
                i
                for i, row in enumerate(table)
                if matches(row[0], name) and matches(row[1], difference)
            ]
            used.update(hits)
            if hits:
                reasons.setdefault(table[hits[0]][2], []).append(difference)
            else:
                unexplained.append(difference)
        report.check(
            f"{c.pairing}: {name}" + ("" if left else ": as Apache"),
            not unexplained,
            "differences without a row in docs/compat.md:\n        "
            + "\n        ".join(unexplained),
        )
        for reason, differences in reasons.items():
            print(f"      {len(differences)} differences, {reason}: {'; '.join(differences)[:200]}")
    for i, row in enumerate(table):
        report.check(
            f"docs/compat.md: `{row[0]}` `{row[1]}`",
            i in used,
            "this difference is gone: remove the row",
        )


def run(report, c):
    found = collect(c)
    is_apache = c.peer_rm != peers.SELVEDGE
    if is_apache and os.environ.get("COMMANDS_CAPTURE"):
        with open(GOLDEN, "w", encoding="utf-8") as f:
            json.dump(found, f, indent=1)
            f.write("\n")
    with open(GOLDEN, encoding="utf-8") as f:
        wanted = json.load(f)
    if not is_apache:
        compare(report, c, found, wanted, rows())
        return
    for name, lines in wanted.items():
        report.check(
            f"{c.pairing}: {name}",
            found.get(name) == lines,
            f"\n      now:    {found.get(name)}\n      golden: {lines}",
        )
