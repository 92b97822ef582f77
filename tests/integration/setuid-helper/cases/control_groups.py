"""The container's control group, those that are almost right, and the groups of monitors and
localizers. Cases of test-cgroup-and-devices."""
import os
import shutil
import socket
import stat
import subprocess

from lib.helper_checks import ENDLESS, go
from lib.helper_fixture import running, until
from lib.helper_request import LOCALIZE, NAMES, PRIVATE, STATUS, request


def container_cgroup(t, g):
    c = g.prepare(cgroup=False)
    c.launch("exit 0\n")
    t.equal(c.reply.status, STATUS["CGROUP"], "no cgroup")
    t.check(not os.path.exists(c.record_path), "and no record is left")
    os.symlink("../..", g.base + "/x")
    os.mkdir(c.cgroup)  # root's
    c.launch("exit 0\n")
    t.equal(c.reply.status, STATUS["CGROUP"], "a cgroup that is not the daemon's")
    os.chown(c.cgroup, g.nm.pw_uid, g.nm.pw_gid)
    sleeper = subprocess.Popen(["sleep", "100"])
    open(c.cgroup + "/cgroup.procs", "w").write(str(sleeper.pid))
    c.launch("exit 0\n")
    t.equal(c.reply.status, STATUS["CGROUP_BUSY"], "a cgroup with a process in it")
    sleeper.kill()
    sleeper.wait()
    g.config["selvedge.unenforced-limits.allowed"] = "false"
    g.write_config()
    c.launch("exit 0\n")
    t.equal(
        c.reply.status, STATUS["CGROUP_LIMITS"], "a cgroup without limits, where they are demanded"
    )
    g.config["selvedge.unenforced-limits.allowed"] = "true"
    saved = g.config["selvedge.cgroup.root"]
    g.config["selvedge.cgroup.root"] = g.locals[0]
    g.write_config()
    c.launch("exit 0\n")
    t.check(
        c.reply.status in (STATUS["CGROUP"], STATUS["CONFIG_SYNTAX"]),
        "a cgroup root on another file system",
        c.reply,
    )
    g.config["selvedge.cgroup.root"] = saved
    g.write_config()
    c.launch("while [ ! -e go ]; do :; done\n", wait=False)
    t.equal(c.reply.status, 0, "and the same container at last")

    # The device filter alone, with root's rights and a mount that allows devices (95).
    def devices():
        open(c.cgroup + "/cgroup.procs", "w").write("0")
        result = []
        for path, major, minor in (
            ("null", 1, 3),
            ("zero", 1, 5),
            ("full", 1, 7),
            ("random", 1, 8),
            ("urandom", 1, 9),
            ("mem", 1, 1),
            ("kmsg", 1, 11),
            ("port", 1, 4),
            ("fuse", 10, 229),
            ("tun", 10, 200),
            ("kvm", 10, 232),
            ("hpet", 10, 228),
        ):
            try:
                os.close(os.open("%s/dev-%s" % (g.base, path), os.O_RDONLY | os.O_NONBLOCK))
                result.append(path)
            except PermissionError:
                pass
            except OSError:
                result.append(path + "?")
        try:
            os.mknod(g.base + "/new", stat.S_IFCHR, os.makedev(1, 3))
            result.append("mknod")
        except PermissionError:
            pass
        try:
            os.close(os.open(g.base + "/dev-disk", os.O_RDONLY))
            result.append("disk")
        except PermissionError:
            pass
        return " ".join(result)

    for path, major, minor in (
        ("null", 1, 3),
        ("zero", 1, 5),
        ("full", 1, 7),
        ("random", 1, 8),
        ("urandom", 1, 9),
        ("mem", 1, 1),
        ("kmsg", 1, 11),
        ("port", 1, 4),
        ("fuse", 10, 229),
        ("tun", 10, 200),
        ("kvm", 10, 232),
        ("hpet", 10, 228),
    ):
        os.mknod("%s/dev-%s" % (g.base, path), stat.S_IFCHR | 0o666, os.makedev(major, minor))
    disk = os.stat(g.base).st_dev
    os.mknod(g.base + "/dev-disk", stat.S_IFBLK | 0o666, disk)
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(w, devices().encode())
        except BaseException as e:
            os.write(w, repr(e).encode())
        os._exit(0)
    os.close(w)
    os.waitpid(pid, 0)
    t.equal(
        os.read(r, 1000).decode(),
        "null zero full random urandom",
        "the device filter allows five nodes and no mknod (95)",
    )
    open(g.work_dir(c) + "/go", "w").close()
    c.wait()


def similar_cgroups(t, g):
    """Control groups that are almost right."""
    was = g.config["selvedge.cgroup.root"]

    def at(path, name, likeness=False):
        g.config["selvedge.cgroup.root"] = path
        g.write_config()
        c = g.prepare()
        if likeness:
            group = "%s/%s" % (path, c.id)
            os.mkdir(group)
            for file, text in (
                ("cgroup.procs", ""),
                ("cgroup.type", "domain\n"),
                ("cgroup.kill", ""),
            ):
                with open("%s/%s" % (group, file), "w", encoding="ascii") as f:
                    f.write(text)
                os.chown("%s/%s" % (group, file), g.nm.pw_uid, g.nm.pw_gid)
            os.chown(group, g.nm.pw_uid, g.nm.pw_gid)
        c.launch("exit 0\n")
        t.equal((NAMES[c.reply.status], c.reply.text), ("CGROUP", path), name)

    link, fake = g.base + "/groups", g.base + "/fake"
    os.symlink("cgroup/" + os.path.basename(g.root), link)
    at(link, "the root group is reached by a link")
    os.mkdir(fake)
    os.chown(fake, g.nm.pw_uid, g.nm.pw_gid)
    for d in ("monitors", "localizers"):
        os.mkdir(fake + "/" + d)
        os.chown(fake + "/" + d, g.nm.pw_uid, g.nm.pw_gid)
        open("%s/%s/cgroup.procs" % (fake, d), "w", encoding="ascii").close()
    at(
        fake,
        "the root group is a directory of another file system, in all else like a group",
        likeness=True,
    )
    g.config["selvedge.cgroup.root"] = was
    g.write_config()
    os.chown(g.root, 0, 0)
    c = g.prepare()
    c.launch("exit 0\n")
    t.equal(c.reply.status, STATUS["CGROUP"], "the root group is not the daemon's")
    os.chown(g.root, g.nm.pw_uid, g.nm.pw_gid)
    c = g.prepare()
    try:
        with open(c.cgroup + "/cgroup.type", "w", encoding="ascii") as f:
            f.write("threaded")
        c.launch("exit 0\n")
        t.equal(c.reply.status, STATUS["CGROUP"], "the container's group is one of threads")
        os.rmdir(c.cgroup)
    except OSError as e:
        t.skip("a group of threads", "this kernel makes none here: %s" % e)
    c = g.prepare()
    c.launch(ENDLESS, wait=False)
    t.equal(c.reply.status, 0, "and right again")
    # Block devices with the numbers of a container's character devices, by root without its mounts.
    for minor in (3, 5, 8):
        os.mknod("%s/block%d" % (g.base, minor), stat.S_IFBLK | 0o666, os.makedev(1, minor))
    pid = os.fork()
    if pid == 0:
        with open(c.cgroup + "/cgroup.procs", "w", encoding="ascii") as f:
            f.write("0")
        reached = 0
        for minor in (3, 5, 8):
            try:
                os.close(os.open("%s/block%d" % (g.base, minor), os.O_RDONLY | os.O_NONBLOCK))
                reached += 1
            except OSError as e:
                reached += e.errno != 1
        os._exit(reached)
    t.equal(
        os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]),
        0,
        "block devices with the numbers of null, zero and random are refused (95)",
    )
    go(g, c)


def monitor_cgroups(t, g):
    """Monitors and localizers are out of the daemon's own group."""
    c = g.prepare()
    c.launch("exec sleep 1000\n", wait=False)
    group = (
        lambda pid: [l for l in open("/proc/%d/cgroup" % pid) if l.startswith("0:")][0]
        .strip()
        .rsplit("/", 1)[1]
    )
    t.check(
        until(lambda: group(c.pid) == "monitors"), "a monitor moves into its group", group(c.pid)
    )
    t.equal(group(c.reply.pid), c.id, "the container is in its own")
    # The program's own pages are there once, however many containers run; page tables are theirs.
    memory = lambda pid: sum(
        int(l.split()[1])
        for f in ("smaps_rollup", "status")
        for l in open("/proc/%d/%s" % (pid, f))
        if l.startswith(("Pss_Anon:", "VmPTE:"))
    )
    cost = memory(c.pid) + memory(c.reply.pid)
    t.check(
        cost < 400,
        "monitor and init of an idle container take less than 400 KiB of their own",
        cost,
    )
    c.kill()
    c.wait()
    program = g.libexec + "/container-localizer"
    shutil.copy("/usr/bin/yes", program)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid, sock = g.start(
        request(LOCALIZE, ts=g.TS, app=1, user=g.a.pw_name, local=3, what=PRIVATE),
        [theirs.fileno()],
    )
    r = g.receive(sock)
    t.equal(r.status, 0, "a localizer starts")
    if r.status == 0:
        t.equal(group(r.pid), "localizers", "it is born in the localizers' group")
        t.equal(
            open("/proc/%d/oom_score_adj" % r.pid).read().strip(),
            "500",
            "and goes first when memory is short",
        )
    sock.close()
    os.waitpid(pid, 0)
    for fd in r.fds:
        os.close(fd)
    ours.close()
    theirs.close()
    t.check(until(lambda: not running(program)), "it ends with the daemon's end of the socket")
    os.unlink(program)
    until(lambda: not open(g.root + "/localizers/cgroup.procs").read())
    os.rmdir(g.root + "/localizers")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s = g.status(
        request(LOCALIZE, ts=g.TS, app=1, user=g.a.pw_name, local=3, what=PRIVATE),
        [theirs.fileno()],
    )
    t.equal(s, STATUS["CGROUP"], "without the localizers' group no localizer")
    until(lambda: not open(g.root + "/monitors/cgroup.procs").read())
    os.rmdir(g.root + "/monitors")
    c = g.prepare()
    c.launch("exit 0\n")
    t.equal(c.reply.status, STATUS["CGROUP"], "without the monitors' group no container")
    for d in ("monitors", "localizers"):
        os.mkdir(g.root + "/" + d)
        for f in ("", "/cgroup.procs"):
            os.chown(g.root + "/" + d + f, g.nm.pw_uid, g.nm.pw_gid)
