"""Socket-activated mode, auxiliary services, aggregated logs and D-Bus on a node with SELinux
enforcing. Cases of test-selinux."""
import contextlib
import glob
import os
import pwd
import shutil
import socket
import subprocess
import urllib.request

from cases.selinux_jobs import SAMPLE, STAGING, WORK, Machine, denials, labelled
from cluster import host
from lib.shuffle_process import Job as MapReduceJob, index_of, token, url_hash
from selinuxlib import FILE, PORTS, PRIVATE, STATE, TOP, context, expect, label, main_pid, read
from selinuxlib import site, tool, write

BUS = "/org/selvedge/NodeManager1"


def journal():
    return tool("journalctl", "-b", "--no-pager", "-u", "selvedge-nodemanager")


def by_socket():
    """Socket-activated mode (056): systemd starts the helper for each connection, it has no setuid
    bit, and the daemon has no privileges."""
    mark = denials.mark()
    helper, drop_in = (
        "/usr/libexec/selvedge/container-executor",
        "/etc/systemd/system/selvedge-nodemanager.service.d",
    )
    os.mkdir(drop_in)
    os.symlink("/usr/share/selvedge/nodemanager-socket.conf", f"{drop_in}/socket.conf")
    tool("systemctl", "daemon-reload")
    tool("systemctl", "start", "selvedge-executor.socket")
    expect(
        "the socket",
        label("/run/selvedge-executor/socket"),
        "system_u:object_r:selvedge_executor_sock_t:s0",
    )
    os.chmod(helper, 0o750)
    write("/etc/default/selvedge-nodemanager", "JAVA_HOME=/opt/jdk\n")
    Machine.node.restart(
        "strict",
        s_executor_socket="/run/selvedge-executor/socket",
        y_sleep__delay__before__sigkill_ms=20000,
        y_aux__services="sample",
        **SAMPLE,
    )
    expect("why Java does not run", "compiles code into memory" in journal(), True)
    c = Machine.node.start(
        f"cat priv\n{WORK}\ntouch $1/up; trap 'echo term >>$1/signals; exit 143' TERM; while :; do "
        "sleep 600 & wait; done",
        resources=[(PRIVATE, FILE, "priv", f"{STAGING}/private/file")],
    )
    labelled(c.name, c.app_text, "job")
    c.stop()
    expect("first there was", c.log("signals"), "term")
    c.finish()
    write(f"{drop_in}/word.conf", "[Service]\nMemoryDenyWriteExecute=no\n")  # what the daemon says
    tool("systemctl", "daemon-reload")
    tool("systemctl", "restart", "selvedge-nodemanager")
    Machine.node.driver.registered(120)
    host.wait_for(lambda: "service sample is ready" in journal(), 120, "Java runs")
    tool("systemctl", "stop", "selvedge-nodemanager", "selvedge-executor.socket")
    shutil.rmtree(drop_in)
    tool("systemctl", "daemon-reload")
    os.chmod(helper, 0o4750)
    site("host")
    denials.none(mark)


def services_api():
    """The services API in a type of its own: it answers on its port, and selvedge-rm finds it."""
    mark, path = denials.mark(), "/app/v1/services/version?user.name=job"
    tool("systemd-sysusers")
    site(a_webapp_api__service_enable="true")
    tool("systemctl", "start", "selvedge-services")
    tool("systemctl", "restart", "selvedge-rm")
    expect(
        "selvedge-services",
        context(main_pid("selvedge-services")),
        "system_u:system_r:selvedge_services_t:s0",
    )
    expect(
        "its socket",
        label("/run/selvedge-services/socket"),
        "system_u:object_r:selvedge_services_run_t:s0",
    )

    def answers(port):
        with contextlib.suppress(OSError):
            url = f"http://127.0.0.1:{port}{path}"
            return urllib.request.urlopen(url, timeout=60).status == 200
        return False

    for port in (9191, PORTS["web"]):
        host.wait_for(lambda port=port: answers(port), 120, f"the services API on {port}")
    tool("systemctl", "stop", "selvedge-services")
    site()
    tool("systemctl", "restart", "selvedge-rm")
    denials.none(mark)


def fetched(job, port, name):
    """The body of a reducer's request for its part of a map output."""
    uri = f"/mapOutput?job={job.id}&reduce=0&map={name}"
    answer = urllib.request.urlopen(
        urllib.request.Request(
            f"http://127.0.0.1:{port}{uri}",
            headers={
                "UrlHash": url_hash(job.secret, port, uri),
                "name": "mapreduce",
                "version": "1.0.0",
            },
        ),
        timeout=60,
    )
    return answer.read()


def running():
    """The commands in the types of auxiliary services."""
    found = {}
    for pid in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if context(pid).split(":")[2] in ("selvedge_shuffle_t", "selvedge_service_t"):
                found.setdefault(context(pid).split(":")[2], set()).add(
                    os.path.basename(read(f"/proc/{pid}/cmdline").split("\0")[0])
                )
    return found


def services():
    """Auxiliary services: the shuffle in a type of its own sends a map output that a job has made;
    a service of the site, and services in Java, one whose class is missing and one that keeps a
    file and listens, in the type of services.
    """
    mark, ready = denials.mark(), journal().count(
        "service sample is ready"
    )  # by_socket has started it, too
    program = "/opt/aux-service.py"
    shutil.copy(f"{TOP}/docs/examples/aux-service.py", program)
    os.chmod(program, 0o755)
    os.setxattr(program, "security.selinux", b"system_u:object_r:selvedge_service_exec_t:s0\0")
    write("/etc/default/selvedge-nodemanager", "JAVA_HOME=/opt/jdk\n")
    name = "aux__services"
    Machine.node.restart(
        "strict",
        **SAMPLE,
        **{
            f"y_{name}": "mapreduce_shuffle,example,java,sample",
            f"s_{name}_example_command": program,
            f"y_{name}_java_class": "No.Such",
        },
    )
    wanted = {"selvedge_shuffle_t": {"selvedge-shuffle"}, "selvedge_service_t": {"python3", "java"}}
    host.wait_for(
        lambda: all(programs <= running().get(kind, set()) for kind, programs in wanted.items()),
        120,
        "services in their types",
    )
    host.wait_for(
        lambda: "ClassNotFoundException: No.Such" in journal(), 120, "Java looks for its class"
    )
    host.wait_for(
        lambda: journal().count("service sample is ready") > ready,
        120,
        "the service in Java is ready",
    )
    with socket.create_connection(("127.0.0.1", 18563), timeout=60) as s:
        expect("the service in Java", s.recv(100), b"from Java")
    for file in ("example/events", "sample/sample"):
        expect(
            file,
            label(f"{STATE}/aux-services/{file}"),
            "system_u:object_r:selvedge_service_state_t:s0",
        )
    denials.none(mark)
    job = MapReduceJob(Machine.node.app + 1, "job", pwd.getpwnam("job").pw_uid, b"k" * 20)
    one = job.map(0)
    script = f"""d=${{LOCAL_DIRS%%,*}}/output/{one}; mkdir -p $d; printf result >$d/file.out
        echo {index_of([(0, 6, 6)]).hex()} | python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))' >$d/file.out.index
        chmod 640 $d/*; touch $1/up"""
    c = Machine.node.start(
        script, data=f"aux:mapreduce_shuffle:{token(job.secret, b'job').decode('latin-1')}"
    )  # without a blank
    expect("exit code", c.ends(), 0)
    expect("a map output", fetched(job, 13562, one).endswith(b"result"), True)
    c.finish()
    denials.none(mark)


def aggregation():
    """log-uploader writes into a directory of the machine: two applications of a user share his
    directories there, which have his categories, as the archives have."""
    mark = denials.mark()
    logs = "/srv/logs"
    os.makedirs(logs)
    os.chmod(logs, 0o1777)
    os.setxattr(logs, "security.selinux", b"system_u:object_r:selvedge_aggregated_t:s0\0")
    Machine.node.restart(
        "strict", a_log__aggregation__enable="true", y_remote__app__log__dir=f"file:{logs}"
    )
    for text in ("first", "second"):
        c = Machine.node.start(f"{WORK}; echo {text}; touch $1/up; exec sleep 600")
        user = ",".join(labelled(c.name, c.app_text, "job").split(",")[:2])
        c.stop()
        c.finish()
        found = []

        def uploaded(app=c.app_text):
            found[:] = [
                f
                for f in glob.glob(f"{logs}/job/**/{app}/*", recursive=True)
                if not f.endswith(".tmp")
            ]
            return found

        host.wait_for(uploaded, 120, f"the logs of the {text} application are uploaded")
        places = {label(path) for path in (found[0], os.path.dirname(found[0]), f"{logs}/job")}
        expect("labels", places, {f"system_u:object_r:selvedge_aggregated_t:{user}"})
    denials.none(mark)


def bus():
    """D-Bus: root and, by polkit, an administrator freeze a container; a user may do nothing, and
    without polkit root alone may."""
    mark = denials.mark()
    c = Machine.node.start("touch $1/up; exec sleep 600")
    path = f"{BUS}/container/{c.name}".replace("_", "_5f")
    tool("useradd", "--user-group", "--no-create-home", "--groups", "selvedge-admin", "admin")

    def busctl(user, *words):
        return subprocess.run(
            ["setpriv", "--reuid", user, "--regid", user, "--init-groups", "busctl", *words],
            capture_output=True,
            text=True,
            timeout=120,
        )

    for user in ("root", "admin"):
        expect(
            user, path in busctl(user, "tree", "--list", "org.selvedge.NodeManager1").stdout, True
        )

    def may(user, method, wanted):
        done = busctl(
            user,
            "call",
            "org.selvedge.NodeManager1",
            path,
            "org.selvedge.NodeManager1.Container",
            method,
        )
        expect(
            f"{user}, {method}: {done.stderr}",
            (done.returncode == 0, "Access denied" in done.stderr),
            (wanted, not wanted),
        )

    for user in ("root", "admin"):
        may(user, "Freeze", True)
        may(user, "Thaw", True)
    may("other", "Freeze", False)
    tool("systemctl", "mask", "--runtime", "--now", "polkit")
    may("admin", "Freeze", False)
    may("root", "Thaw", True)
    tool("systemctl", "unmask", "--runtime", "polkit")
    c.stop()
    c.finish()
    denials.none(mark)
