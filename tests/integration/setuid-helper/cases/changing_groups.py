"""Control groups and the policy change between any two steps of the helper. Cases of
test-cgroup-and-devices."""
import errno
import os
import shutil
import signal
import socket

from lib.device_access import GPU, localize, opens
from lib.device_filters import count as filters
from lib.helper_fixture import launch_lock, running, until
from lib.helper_request import CHECK, LOCALIZE, PRIVATE, STATUS, memfd, request

MARK = "trusted.selvedge.devices"


def make_group(g, path):
    os.mkdir(path)
    for f in ("", "/cgroup.procs", "/cgroup.subtree_control", "/cgroup.kill"):
        if os.path.exists(path + f):
            os.chown(path + f, g.nm.pw_uid, g.nm.pw_gid)


def remake(g, path):
    """What a hostile daemon does: another group of that name. False when something lives there."""
    try:
        for name in os.listdir(path):
            if os.path.isdir(path + "/" + name):
                os.rmdir(path + "/" + name)
        os.rmdir(path)
    except OSError:
        return False
    finally:
        for d in (path,) + (
            (g.root + "/monitors", g.root + "/localizers") if path == g.root else ()
        ):
            if not os.path.isdir(d):
                make_group(g, d)
    return True


FSTATFS = "138"


def behind(g, change, data, fds):
    """The answer of a helper that has compared the policy with the groups before this change and
    opens the group after it, and a function that ends it. strace holds it meanwhile, where it looks
    at the root template."""

    def before():
        os.execvp(
            "strace",
            [
                "strace",
                "-qq",
                "-o",
                "/dev/null",
                "-u",
                g.nm.pw_name,
                "-e",
                "trace=fstatfs",
                "-e",
                "inject=fstatfs:delay_enter=200000:when=2",
                g.helper,
            ],
        )

    pid, ours = g.start(data, fds, before=before)

    def held():
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as f:
            children = f.read().split()
        try:
            return any(
                open("/proc/%s/syscall" % c, encoding="ascii").read().split()[0] == FSTATFS
                for c in children
            )
        except OSError:
            return False

    until(held, 5)
    change()
    reply = g.receive(ours)

    def end():
        ours.close()
        os.waitpid(pid, 0)
        for fd in fds + reply.fds:
            os.close(fd)

    return reply, end


def groups_made_anew(t, g):
    """The daemon's groups are removed and made anew between any two steps."""
    localizers = g.root + "/localizers"
    t.equal(g.run("exit 0\n").reply.status, 0, "a container")
    until(lambda: "populated 0" in open(g.root + "/cgroup.events").read())
    t.check(remake(g, g.root) and filters(g.root) == 0, "the root group is made anew: no filter")
    t.equal(
        (g.run("exit 0\n").reply.status, filters(g.root)), (0, 1), "the next launch finds one (95)"
    )
    g.write_config(GPU)
    t.equal(
        (localize(g), filters(localizers)),
        (0, 1),
        "where devices can be assigned the localizers' group has it",
    )
    until(lambda: not open(localizers + "/cgroup.procs").read())
    t.check(remake(g, localizers), "it is made anew")
    t.equal(
        (localize(g), filters(localizers)), (0, 1), "and has it when the next localizer starts (95)"
    )
    t.equal(filters(g.root + "/monitors"), 1, "as the monitors' group has")
    g.write_config()
    t.equal(g.run("exit 0\n").reply.status, 0, "nothing can be assigned any more")
    if not shutil.which("strace"):
        t.skip("groups made anew during a launch", "strace is not installed")
        return
    # After the helper has compared the policy with the groups.
    refused = rounds = 0
    while rounds < 5 or not refused and rounds < 20:
        rounds += 1
        until(lambda: "populated 0" in open(g.root + "/cgroup.events").read())
        c = g.prepare()
        fds = [memfd(b"exec sleep 1000\n"), memfd(b"t"), launch_lock()]

        def exchange():
            if not remake(g, g.root):
                t.check(False, "the groups are empty")
            make_group(g, c.cgroup)

        reply, end = behind(g, exchange, c.request(), fds)
        if reply.status == 0 and opens(c.cgroup, "kmsg") != "EPERM":
            t.check(False, "a container runs without a filter (95)")
        refused += (reply.status, reply.error) == (STATUS["DEVICE_FILTER"], errno.EBUSY)
        c.kill()
        end()
    t.check(
        refused > 0,
        "between the helper's look at the policy and its clone: no container without a filter, %d "
        "of %d refused (95)" % (refused, rounds),
    )
    t.equal(g.run("exit 0\n").reply.status, 0, "the next one starts")
    g.write_config(GPU)
    t.equal((localize(g), g.run("exit 0\n").reply.status), (0, 0), "where devices can be assigned")
    for group in ("localizers", "monitors"):
        refused = rounds = 0
        while rounds < 3 or not refused and rounds < 10:
            rounds += 1
            until(lambda: "populated 0" in open(g.root + "/cgroup.events").read())
            c, (ours, theirs) = g.prepare(), socket.socketpair(
                socket.AF_UNIX, socket.SOCK_SEQPACKET
            )
            asked = (
                (
                    request(LOCALIZE, ts=g.TS, app=1, user=g.a.pw_name, local=3, what=PRIVATE),
                    [os.dup(theirs.fileno())],
                )
                if group == "localizers"
                else (c.request(), [memfd(b"exit 0\n"), memfd(b"t"), launch_lock()])
            )
            reply, end = behind(g, lambda: remake(g, g.root + "/" + group), *asked)
            if reply.status == 0 and opens(g.root + "/" + group, "kmsg") != "EPERM":
                t.check(False, "a process runs without a filter (95)")
            refused += (reply.status, reply.error) == (STATUS["DEVICE_FILTER"], errno.EBUSY)
            for sock in (ours, theirs):
                sock.close()
            end()
        t.check(
            refused > 0,
            "the same with the group of %s, %d of %d refused (95)" % (group, refused, rounds),
        )
    g.write_config()
    # The mark is root's.
    pid = os.fork()
    if pid == 0:
        os.setresuid(g.nm.pw_uid, g.nm.pw_uid, g.nm.pw_uid)
        wrong = 0
        for what in (
            lambda: os.setxattr(localizers, MARK, b""),
            lambda: os.removexattr(g.root, MARK),
        ):
            try:
                what()
                wrong += 1
            except PermissionError:
                pass
        os._exit(wrong)
    t.equal(
        os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]),
        0,
        "the daemon can neither set nor remove the mark of a filter",
    )


def devices_allowed_meanwhile(t, g):
    """Root allows devices between a helper's look at the policy and the birth of its container,
    which would live by the filter that goes for it."""
    if not shutil.which("strace"):
        t.skip("a launch while devices become allowed", "strace is not installed")
        return
    t.equal(g.run("exit 0\n").reply.status, 0, "a container")
    until(lambda: "populated 0" in open(g.root + "/cgroup.events").read())
    c, fds, log = (
        g.prepare(),
        [memfd(b"echo up > up; exec sleep 1000\n"), memfd(b"t"), launch_lock()],
        g.base + "/strace.log",
    )

    def held():  # the kernel gives up a clone for a signal, and begins it anew
        os.execvp(
            "strace",
            [
                "strace",
                "-qq",
                "-o",
                log,
                "-u",
                g.nm.pw_name,
                "-e",
                "trace=clone3",
                "-e",
                "inject=clone3:signal=STOP:when=1",
                g.helper,
            ],
        )

    pid, ours = g.start(c.request(), fds, before=held)
    t.check(
        until(
            lambda: os.path.exists(log)
            and "stopped by SIGSTOP" in open(log, encoding="utf-8").read()
        ),
        "a helper is about to clone",
    )
    g.write_config(GPU)
    t.equal(
        (g.status(request(CHECK)), filters(g.root)),
        (0, 0),
        "meanwhile devices become allowed, the filter goes",
    )
    t.equal(open(c.cgroup + "/cgroup.procs", encoding="ascii").read(), "", "it has not cloned yet")
    for helper in running(g.helper):
        os.kill(helper, signal.SIGCONT)
    reply = g.receive(ours)
    t.equal(
        (reply.status, reply.error),
        (STATUS["DEVICE_FILTER"], errno.EBUSY),
        "the container is refused (95)",
    )
    t.check(
        until(lambda: not open(c.cgroup + "/cgroup.procs").read()), "and what was cloned has ended"
    )
    t.check(
        not os.path.exists(g.work_dir(c) + "/up") and not os.path.exists(c.record_path),
        "nothing ran, no record is left",
    )
    ours.close()
    os.waitpid(pid, 0)
    for fd in fds:
        os.close(fd)
    t.equal(g.run("exit 0\n").reply.status, 0, "the next one starts")
    g.write_config()
