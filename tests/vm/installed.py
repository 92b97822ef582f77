"""An installed node of the VM tests: Debian packages of two versions, a configuration for a node
and a ResourceManager on one machine, and jobs of `selvedge run` as the account `job`."""
import json
import os
import shutil
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests"))
from cluster import Report, conf, host  # noqa: E402

SLICE = "/sys/fs/cgroup/system.slice"
UNIT = f"{SLICE}/selvedge-containers.service"
ROOT = f"{UNIT}/containers"
CONF = "/etc/hadoop/conf"


class Failed(Exception):
    pass


def tool(*argv, **more):
    done = subprocess.run(argv, capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise Failed(f"{' '.join(argv)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def read(path):
    with open(path, encoding="ascii") as f:
        return f.read().strip()


def expect(what, found, wanted):
    if found != wanted:
        raise Failed(f"{what}: {found!r}, wanted {wanted!r}")


def as_job(*argv):
    return [
        "setpriv",
        "--reuid",
        "job",
        "--regid",
        "job",
        "--clear-groups",
        "env",
        f"HADOOP_CONF_DIR={CONF}",
        "USER=job",
        "HOME=/tmp",
        "/usr/bin/selvedge",
        *argv,
    ]


PACKAGES = (
    "selvedge-container-executor",
    "selvedge-nodemanager",
    "selvedge-client",
    "selvedge-rm",
    "selvedge-gss",
)


def unpack(version):
    tool(
        "dpkg",
        "--install",
        *(f"{TOP}/packages/{version}/{p}_{version}_amd64.deb" for p in PACKAGES),
    )


def purge(mounts=()):
    """Nothing is left of the packages but what others have made, and nothing on these mounts; what
    configure() has made goes, too."""
    subprocess.run(["systemctl", "stop", "selvedge-rm", "selvedge-containers"], capture_output=True)
    shutil.rmtree("/var/lib/selvedge/staging")
    tool("dpkg", "--purge", *reversed(PACKAGES))
    for path in mounts:
        expect(f"left on {path}", os.listdir(path), [])
        tool("umount", path)
        os.rmdir(path)
    left = [
        p
        for p in (
            "/etc/selvedge",
            "/usr/libexec/selvedge",
            "/var/lib/selvedge",
            "/var/log/selvedge",
            "/run/selvedge",
            "/usr/share/selvedge",
        )
        if os.path.exists(p)
    ]
    expect(
        "left",
        [os.path.join(d, f) for p in left for d, _, files in os.walk(p) for f in files] + left,
        [],
    )
    units = tool("systemctl", "list-unit-files", "--no-legend", "selvedge-*").splitlines()
    expect(
        "units", [u for u in units if not u.startswith("selvedge-test.service ")], []
    )  # the VM's own
    shutil.rmtree(CONF)
    tool("userdel", "job")


def configure(memory=1024, **more):
    """The account `job` and the configuration of both daemons; `more`: further keys of
    yarn-site.xml."""
    tool("useradd", "--user-group", "--no-create-home", "job")
    os.mkdir("/var/lib/selvedge/staging")
    os.chmod("/var/lib/selvedge/staging", 0o1777)
    os.makedirs(CONF)
    ports = {k: host.free_port() for k in ("client", "scheduler", "tracker", "admin", "web")}
    conf.write_xml(f"{CONF}/core-site.xml", conf.core_site("/var/lib/selvedge"))
    conf.write_xml(f"{CONF}/capacity-scheduler.xml", conf.capacity_scheduler())
    node = "yarn.nodemanager."
    conf.write_xml(
        f"{CONF}/yarn-site.xml",
        {
            **conf.cluster_site("/var/lib/selvedge", ports),
            "selvedge.rm.unprotected-nodes": "",
            "selvedge.node-secret.file": "/etc/selvedge/node-secret",  # the package's
            node + "hostname": "127.0.0.1",
            node + "bind-host": "127.0.0.1",
            node + "local-dirs": "/var/lib/selvedge/local",
            node + "log-dirs": "/var/log/selvedge/containers",
            node + "recovery.dir": "/var/lib/selvedge/recovery",
            node + "recovery.supervised": "true",  # systemd starts it again: containers live on
            node + "resource.memory-mb": memory,
            "yarn.scheduler.minimum-allocation-mb": 32,
            node + "address": f"127.0.0.1:{host.free_port()}",
            node + "resource.cpu-vcores": 32,
            node + "linux-container-executor.group": "yarn",
            node + "linux-container-executor.nonsecure-mode.limit-users": "false",
            **more,
        },
    )
    with open(
        "/etc/selvedge/container-executor.cfg", "a", encoding="ascii"
    ) as f:  # as doctor demands
        f.write(f"selvedge.connect-filter.refused-ports={ports['tracker']},{ports['admin']}\n")
    tool("systemctl", "daemon-reload")


def leaves():
    return [e.path for e in os.scandir(ROOT) if e.name.startswith("container_")]


def main_pid():
    return int(tool("systemctl", "show", "-P", "MainPID", "selvedge-nodemanager"))


def job(command, *options):
    """A running job: its process and the cgroup of its only container besides the
    ApplicationMaster, None if that has ended; an earlier job's may still be ending."""
    earlier = set(leaves())
    process = subprocess.Popen(
        as_job("--json", "run", *options, "--", command),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
    )
    if process.stderr.readline().strip() != "up":
        raise Failed(f"no container came up: {process.communicate()}")
    new = (p for p in leaves() if p not in earlier and int(p.rsplit("_", 1)[1]) > 1)
    return process, next(new, None)


def rows(process):
    output, errors = process.communicate(timeout=120)
    if not output.strip():
        raise Failed(f"no table: {errors}")
    return json.loads(output)["containers"]


def properties(unit, *names):
    shown = tool("systemctl", "show", "-p", ",".join(names), unit).splitlines()
    return [dict(line.split("=", 1) for line in shown)[n] for n in names]


def active(*units):
    return all(tool("systemctl", "show", "-P", "ActiveState", u).strip() == "active" for u in units)


def alive(group, before):
    expect("the container's processes", read(f"{group}/cgroup.procs"), before)


def ends(process, group, before):
    """The container that `job("mkfifo go; echo up; read < go; exit 0")` has started is there, ends,
    and is told once."""
    alive(group, before)
    go = os.open(f"/proc/{before.split()[-1]}/cwd/go", os.O_WRONLY | os.O_NONBLOCK)
    os.write(go, b"\n")
    os.close(go)
    row = rows(process)[0]
    expect("exit code and tries", (row["exitCode"], row["tries"]), (0, 1))


def waiting_job():
    process, group = job("mkfifo go; echo up; read < go; exit 0", "-m", "64m")
    return process, group, read(f"{group}/cgroup.procs")


def states():
    """Of the packages, as dpkg has them."""
    return [tool("dpkg-query", "-W", "-f", "${db:Status-Status}", p) for p in PACKAGES]


def up_jobs(count):
    """A job of so many running containers, which wait: its process, and each cgroup's processes,
    the ApplicationMaster's included."""
    process = subprocess.Popen(
        as_job(
            "--json",
            "run",
            "-n",
            str(count),
            "-m",
            "32m",
            "--",
            "mkfifo go; echo up; read x < go; exit 4",
        ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
    )
    for _ in range(count):
        if process.stderr.readline().strip().rsplit(" ", 1)[-1] != "up":
            raise Failed(f"no container came up: {process.communicate()}")
    return process, {g: read(f"{g}/cgroup.procs") for g in leaves()}


def opens_gates(before):
    """The containers of up_jobs() are those of then, and end."""
    expect("the containers' processes", {g: read(f"{g}/cgroup.procs") for g in before}, before)
    for group, pids in before.items():
        if not group.endswith("_000001"):
            go = os.open(f"/proc/{pids.split()[-1]}/cwd/go", os.O_WRONLY | os.O_NONBLOCK)
            os.write(go, b"\n")
            os.close(go)


def run_cases(*cases):
    """(name, function, arguments) each, one after the other until one fails; arguments of the
    program pick functions."""
    report = Report()
    for name, case, args in cases:
        if sys.argv[1:] and case.__name__ not in sys.argv[1:]:
            continue  # some functions of the program, by hand
        if report.case(name, case, *args):
            continue
        for command in (
            ["journalctl", "-b", "--no-pager", "-n", "60", "-u", "selvedge-*"],
            [
                "systemctl",
                "status",
                "--no-pager",
                "selvedge-nodemanager",
                "selvedge-containers",
                "selvedge-executor.socket",
                "selvedge-executor@*",
            ],
        ):
            print(subprocess.run(command, capture_output=True, text=True).stdout, flush=True)
        if not os.environ.get("SELVEDGE_TEST_ON"):  # to see all failures at once
            break  # the next case needs this one's result
    report.finish()
