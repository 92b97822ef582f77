"""The policy with the module, the installed node, and the life of a job on it. Cases of
test-selinux."""
import glob
import os
import pwd
import shutil
import stat
import subprocess
import tarfile
import urllib.request

from cluster import conf, host
from selinuxlib import (
    APPLICATION,
    ARCHIVE,
    CFG,
    CONF,
    FILE,
    LOCAL,
    LOGS,
    NODE_WEB,
    PRIVATE,
    PUBLIC,
    ROOT,
    STATE,
    TOP,
    Denials,
    Job,
    configure,
    context,
    copy_tree,
    expect,
    json_of,
    label,
    levels,
    main_pid,
    read,
    site,
    tool,
    write,
)

ENFORCE = "/sys/fs/selinux/enforce"
USERS = ("job", "other")
STAGING = "/var/lib/selvedge/staging"
JAVA = "/opt/jdk/bin/java"
SAMPLE = {
    "y_aux__services_sample_class": "SampleService",
    "y_aux__services_sample_classpath": "/opt/jdk/classes",
    "s_aux__services_hadoop__classpath": "/opt/none",
    "s_aux__services_sample_start__timeout__ms": 60000,
}  # tests/vm/java
denials = Denials()


class Machine:
    """What the cases share: the node, from the case on that starts it."""

    node = None


# The actions of any job, in bash; $1 is the directory for its results.
WORK = r"""cat /proc/self/attr/current; echo; echo x >f; cat f; python3 -c 'import socket; print(socket.gethostname())'
mkdir d; ln -s f l; rm -r d l; echo y >/dev/shm/z${1//\//_}; ls / /dev /proc /usr/bin >/dev/null; id; ps ax >/dev/null
cp /usr/bin/true t; ./t; cp f /tmp/t${1//\//_}; mkfifo fifo; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("sock")'
mkdir -p deep/er; touch deep/er/x; chmod 0 deep/er"""


def policy():
    write("/proc/sys/kernel/printk_ratelimit", "0")  # every denial counts
    copy_tree(f"{TOP}/selinux/default", "/etc/selinux/default")
    tool("load_policy")
    write("/sys/fs/selinux/context", "system_u:system_r:selvedge_container_t:s0:c1,c2,c600,c601")
    expect("enforcing", read(ENFORCE), "1")


def install():
    shutil.copyfile(f"{TOP}/packaging/sysusers.conf", "/usr/lib/sysusers.d/selvedge.conf")
    tool("restorecon", "-F", "/usr/lib/sysusers.d/selvedge.conf")
    tool("systemd-sysusers")
    tool(
        f"{TOP}/packaging/install-files",
        env={
            **os.environ,
            "PREFIX": "/usr",
            "SYSCONFDIR": "/etc",
            "DESTDIR": "",
            "LIBEXECDIR": "/usr/libexec/selvedge",
            "BUILD": os.environ["BUILD"],
        },
    )
    for name in ("selvedge.pp", "selvedge-ports.cil"):
        expect(name, os.path.exists(f"/usr/share/selinux/packages/{name}"), True)
    yarn = pwd.getpwnam("yarn")
    for path in (
        "/var/lib/selvedge",
        LOCAL,
        STATE,
        "/var/lib/selvedge/rm",
        "/var/log/selvedge",
        LOGS,
    ):
        os.makedirs(path, 0o755, exist_ok=True)
        os.chown(path, yarn.pw_uid, yarn.pw_gid)
    os.mkdir(STAGING)
    os.chmod(STAGING, 0o1777)
    os.makedirs(CONF)
    conf.write_xml(f"{CONF}/core-site.xml", conf.core_site("/var/lib/selvedge"))
    conf.write_xml(f"{CONF}/capacity-scheduler.xml", conf.capacity_scheduler())
    site()
    configure()
    os.mkdir("/etc/selvedge/secrets", 0o755)
    write("/etc/selvedge/secrets/nm.keytab", "secret")
    for user in USERS:
        tool("useradd", "--user-group", "--no-create-home", user)
    shutil.copytree(f"{TOP}/jre", os.path.dirname(os.path.dirname(JAVA)))
    tool(
        "restorecon",
        "-RF",
        "/usr/sbin/selvedge-nodemanager",
        "/usr/sbin/selvedge-rm",
        "/usr/sbin/selvedge-services",
        "/usr/bin/selvedge",
        "/usr/libexec/selvedge",
        *glob.glob("/usr/lib/systemd/system/selvedge-*"),
        "/etc/selvedge",
        "/etc/hadoop",
        "/var/lib/selvedge",
        "/var/log/selvedge",
        "/opt",
    )
    for path, wanted in (
        ("/usr/libexec/selvedge/container-executor", "selvedge_executor_exec_t"),
        (CFG, "selvedge_conf_t"),
        ("/usr/sbin/selvedge-rm", "selvedge_rm_exec_t"),
        (JAVA, "java_exec_t"),
        ("/etc/selvedge/secrets/nm.keytab", "selvedge_secret_t"),
        (LOCAL, "selvedge_local_t"),
    ):
        expect(path, label(path).split(":")[2], wanted)
    tool("systemctl", "daemon-reload")


def starts():
    mark = denials.mark()
    tool("systemctl", "start", "selvedge-rm")
    tool("systemctl", "start", "selvedge-nodemanager")
    for unit, kind in (
        ("selvedge-nodemanager", "nm"),
        ("selvedge-containers", "nm"),
        ("selvedge-rm", "rm"),
    ):
        expect(unit, context(main_pid(unit)), f"system_u:system_r:selvedge_{kind}_t:s0")
    expect(
        "the ResourceManager's state",
        label("/var/lib/selvedge/rm/rm.sqlite"),
        "system_u:object_r:selvedge_rm_state_t:s0",
    )
    denials.none(mark)


def doctor():
    """As the administrator: no findings, SELinux is enforcing. As a user: no denials of our
    types."""
    mark = denials.mark()
    found = json_of(
        "/usr/bin/selvedge", "--json", "doctor", env={**os.environ, "HADOOP_CONF_DIR": CONF}
    )["findings"]
    expect("findings", [f for f in found if f["state"] in ("bad", "weak")], [])
    expect(
        "on SELinux",
        [(f["state"], "enforcing" in f["text"]) for f in found if f["area"] == "SELinux"],
        [("ok", True)],
    )
    json_of(*Job.argv("job", "--json", "doctor"))
    denials.none(mark)


def labelled(name, app, user):
    """The processes and files of a container have the right types and categories. Returns the
    level."""
    types, level = levels(name)
    expect("types in the group", types, {"selvedge_init_t", "selvedge_container_t"})
    numbers = [int(n[1:]) for n in level.removeprefix("s0:").split(",")]
    expect(f"four categories ({level})", (len(numbers), numbers[1] < 512 <= numbers[2]), (4, True))
    users = f"s0:c{numbers[0]},c{numbers[1]}"
    host.wait_for(
        lambda: {context(p) for p in read(f"{ROOT}/monitors/cgroup.procs").split()}
        == {"system_u:system_r:selvedge_monitor_t:s0"},
        20,
        "monitors have their type",
    )
    appcache = f"{LOCAL}/usercache/{user}/appcache/{app}"
    work = f"{appcache}/{name}"
    for path, kind, wanted in (
        (appcache, "file", level),
        (work, "file", level),
        (work + "/launch_container.sh", "file", level),
        (work + "/container_tokens", "file", level),
        (work + "/f", "file", level),
        (appcache + "/filecache", "ro_file", level),
        (f"{LOCAL}/usercache/{user}/filecache", "ro_file", users),
        *((log, "file", level) for log in glob.glob(f"{LOGS}/{app}/{name}/*")),
    ):
        expect(path, label(path), f"system_u:object_r:selvedge_container_{kind}_t:{wanted}")
    localized = [
        os.path.join(top, file)
        for base in (appcache, f"{LOCAL}/usercache/{user}")
        for top, _, files in os.walk(base + "/filecache")
        for file in files
        if not os.path.islink(os.path.join(top, file))
    ]
    expect(
        "what the localizer has made",
        {label(p) for p in localized} - {f"system_u:object_r:selvedge_container_ro_file_t:{users}"},
        set(),
    )
    return level


def web(path):
    with urllib.request.urlopen(f"http://127.0.0.1:{NODE_WEB}{path}", timeout=60) as answer:
        return answer.read().decode()


def life():
    """A job of `selvedge run` with its ApplicationMaster (87). The daemon serves its log, is killed
    and restarted; then the job, which ignores SIGTERM, is killed. All its files are deleted, with
    any mode."""
    mark = denials.mark()
    job = Job(f"trap '' TERM; {WORK}; echo up; while :; do sleep 600; done")
    labelled(job.name, job.app, "job")
    expect(
        "the ApplicationMaster's types",
        levels(job.master),
        ({"selvedge_init_t", "selvedge_container_t"}, levels(job.name)[1]),
    )
    for path in (
        f"/node/containerlogs/{job.name}/job/stdout?start=0",
        f"/ws/v1/node/containerlogs/{job.name}/stdout",
    ):
        expect(path, "selvedge_container_t" in web(path), True)
    pid, alive = main_pid(), read(f"{ROOT}/{job.name}/cgroup.procs")
    tool("systemctl", "kill", "--kill-whom=main", "-s", "KILL", "selvedge-nodemanager")
    host.wait_for(lambda: main_pid() not in (0, pid), 60, "systemd starts it again")
    host.wait_for(
        lambda: subprocess.run(["systemctl", "is-active", "-q", "selvedge-nodemanager"]).returncode
        == 0,
        60,
        "it is at work",
    )
    expect("the new daemon", context(main_pid()), "system_u:system_r:selvedge_nm_t:s0")
    expect("processes of its container", read(f"{ROOT}/{job.name}/cgroup.procs"), alive)
    tool(*Job.argv("job", "kill", job.app))
    job.end()
    host.wait_for(
        lambda: not os.path.exists(os.path.dirname(job.work)), 60, "its directories are deleted"
    )
    expect("its group", os.path.exists(f"{ROOT}/{job.name}"), False)
    denials.none(mark)


def devices():
    """Three devices of a GPU's major number, without a driver: an allowed open fails with ENXIO.
    Types: the distribution's, ours, and one that containers may not open."""
    for minor, kind in (
        (0, "xserver_misc_device_t"),
        (1, "selvedge_device_t"),
        (2, "device_t"),
        (255, "xserver_misc_device_t"),
    ):
        path = "/dev/nvidiactl" if minor == 255 else f"/dev/nvidia{minor}"
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(195, minor))
        os.chmod(path, 0o666)
        os.setxattr(path, "security.selinux", f"system_u:object_r:{kind}:s0\0".encode())
    return (
        "\n[gpu]\nmodule.enabled=true\ngpu.major-device-number=195\n"
        "gpu.allowed-device-minor-numbers=0,1,2\n"
    )


def files():
    """Resources to localize: (visibility, type, name, path)."""
    job = pwd.getpwnam("job")
    tree = f"{STAGING}/tree"
    os.makedirs(f"{tree}/bin")
    write(f"{tree}/bin/run", "#!/bin/sh\necho from the archive\n")
    os.chmod(f"{tree}/bin/run", 0o755)
    os.symlink("bin/run", f"{tree}/link")
    for name, text, mode in (
        ("public", "for all", 0o644),
        ("private", "for job", 0o600),
        ("application", "for it", 0o600),
    ):
        os.makedirs(f"{STAGING}/{name}", 0o755)
        write(f"{STAGING}/{name}/file", text)
        os.chmod(f"{STAGING}/{name}/file", mode)
        os.chown(f"{STAGING}/{name}/file", job.pw_uid, job.pw_gid)
    with tarfile.open(f"{STAGING}/public/tree.tar.gz", "w:gz") as archive:
        archive.add(tree, ".")
    os.chmod(f"{STAGING}/public/tree.tar.gz", 0o644)
    os.chmod(STAGING, 0o755)  # all may read it, none replace it: PUBLIC
    return [
        (PUBLIC, FILE, "pub", f"{STAGING}/public/file"),
        (PRIVATE, FILE, "priv", f"{STAGING}/private/file"),
        (APPLICATION, FILE, "app", f"{STAGING}/application/file"),
        (PUBLIC, ARCHIVE, "tree", f"{STAGING}/public/tree.tar.gz"),
    ]
