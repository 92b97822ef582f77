"""Hadoop's `yarn` commands that change something, on our daemons and on Apache's: exit code and
output of each, in this order, with the applications of java/reference/CommandProbe.java. As
cases/commands.py, with a golden file and a table of docs/compat.md of its own. The last group of a
pairing but for decommission: its queues stay. CHANGES_CAPTURE=1 writes the golden file."""
import json
import os

from cluster import ClusterError, conf
from interop import hadoop, peers
from interop.cases import commands

GOLDEN = os.path.join(hadoop.TOP, "tests", "golden", "commands", f"changes-{hadoop.REFERENCE}.json")
P = "yarn.scheduler.capacity.root."
QUEUES = {P + "queues": "default,second", P + "default.capacity": 50, P + "second.capacity": 50}

# As typed after `yarn`. Words behind an @ are ids of this run; @HA are options of a client that
# takes the ResourceManager for one of a pair. A line behind a colon is a step of the test.
COMMANDS = """
:queues
rmadmin -refreshQueues
queue -status second
:broken queues
rmadmin -refreshQueues
:queues
rmadmin -refreshQueues extra
application -movetoqueue @RUNNING -queue second
application -movetoqueue @RUNNING -queue nowhere
application -movetoqueue @RUNNING
application -movetoqueue @ABSENT -queue second
application -movetoqueue @KILLED -queue second
application -movetoqueue nonsense -queue second
application -appId @RUNNING -changeQueue root.default
application -appId @RUNNING -changeQueue nowhere
application -appId @KILLED -changeQueue second
application -changeQueue second
application -appId @RUNNING -updatePriority 7
application -appId @RUNNING -updatePriority -1
application -appId @RUNNING -updatePriority x
application -appId @ABSENT -updatePriority 0
application -appId @KILLED -updatePriority 0
application -appId @RUNNING -updateLifetime 6000
application -appId @RUNNING -updateLifetime 0
application -appId @RUNNING -updateLifetime -5
application -appId @RUNNING -updateLifetime x
application -appId @ABSENT -updateLifetime 6000
application -appId @KILLED -updateLifetime 6000
application -status @RUNNING
container -signal @CONTAINER nonsense
container -signal @ABSENT_CONTAINER GRACEFUL_SHUTDOWN
container -signal nonsense
applicationattempt -fail nonsense
applicationattempt -fail @ATTEMPT
:RUNNING is over
applicationattempt -fail @ATTEMPT
application -status @RUNNING
applicationattempt -status @ATTEMPT
container -status @CONTAINER
application -kill @MANAGED
application -status @MANAGED
application -kill @MANAGED @ABSENT
application -kill nonsense
application -kill
rmadmin
rmadmin -help
rmadmin -help refreshNodes
rmadmin -nonsense
rmadmin -refreshNodes -g
rmadmin -refreshNodes -g 60
rmadmin -refreshNodes -g 60 -client
rmadmin -refreshNodes -g 60 -server
rmadmin -refreshNodes -g -server
rmadmin -refreshNodes -g x -client
rmadmin -refreshNodes -g -1 -client
rmadmin -refreshNodes -client
rmadmin -refreshNodesResources extra
rmadmin -refreshClusterMaxPriority
rmadmin -refreshClusterMaxPriority extra
rmadmin -getGroups
rmadmin -getGroups nobody.of.this.name
rmadmin -updateNodeResource @NODE 4096 4
rmadmin -updateNodeResource @NODE 4096 4 60
rmadmin -updateNodeResource @NODE 4096 4 -1
rmadmin -updateNodeResource @NODE 8192 32
rmadmin -updateNodeResource @NODE x 4
rmadmin -updateNodeResource @NODE -1 4
rmadmin -updateNodeResource @NODE
rmadmin -updateNodeResource nobody:1 4096 4
rmadmin -updateNodeResource @NODE memory-mb=8192,vcores=32
rmadmin -updateNodeResource @NODE nonsense=1
rmadmin -addToClusterNodeLabels
rmadmin -replaceLabelsOnNode -failOnUnknownNodes @NODE=one
rmadmin -transitionToActive rm1
rmadmin -transitionToStandby rm1
rmadmin -failover rm1 rm2
rmadmin -getServiceState
rmadmin -getAllServiceState
rmadmin -checkHealth rm1
rmadmin @HA -getServiceState rm1
rmadmin @HA -getServiceState rm3
rmadmin @HA -checkHealth rm1
rmadmin @HA -transitionToActive rm1
rmadmin @HA -transitionToStandby rm1
""".strip().splitlines()


def step(c, probe, name):
    path = f"{c.conf_dir}/capacity-scheduler.xml"
    if name == "queues":
        conf.write_xml(path, {**conf.capacity_scheduler(), **QUEUES})
    elif name == "broken queues":
        conf.write_xml(path, {**conf.capacity_scheduler(), **QUEUES, P + "second.capacity": 30})
    else:
        peers.Application(c, probe.ids[name.split()[0]]).wait_ended()


def collect(c):
    found = {}
    with commands.Probe(c) as probe:
        ha = "yarn.resourcemanager."
        options = " ".join(
            f"-D {ha}{key}"
            for key in (
                "ha.enabled=true",
                "ha.rm-ids=rm1,rm2",
                "ha.automatic-failover.enabled=false",
                f"admin.address.rm1={c.address}:{c.ports['admin']}",
            )
        )
        for i, line in enumerate(COMMANDS):
            if line.startswith(":"):
                try:
                    step(c, probe, line[1:])
                except ClusterError as error:
                    raise ClusterError(f"{error} after {list(found.items())[-3:]}") from None
                continue
            code, text = probe.run(line.replace("@HA", options))
            found["yarn " + line + " again" * COMMANDS[:i].count(line)] = [
                f"exit {code}",
                *probe.plain(text),
            ]
    c.wait(lambda: not c.container_processes(), 60, "the containers of the probe end")
    return found


def run(report, c):
    found, is_apache = collect(c), c.peer_rm != peers.SELVEDGE
    if is_apache and os.environ.get("CHANGES_CAPTURE"):
        with open(GOLDEN, "w", encoding="utf-8") as f:
            json.dump(found, f, indent=1)
            f.write("\n")
    with open(GOLDEN, encoding="utf-8") as f:
        wanted = json.load(f)
    if found.keys() != wanted.keys():
        raise ClusterError(f"{GOLDEN} has other commands: {found.keys() ^ wanted.keys()}")
    if not is_apache:
        commands.compare(report, c, found, wanted, commands.rows(-1))
        return
    for name, lines in wanted.items():
        report.check(
            f"{c.pairing}: {name}",
            found[name] == lines,
            f"\n      now:    {found[name]}\n      golden: {lines}",
        )
