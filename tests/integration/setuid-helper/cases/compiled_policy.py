"""The policy that container-prepare compiles: who may have made it, what makes it stale, and the
root templates beside it. Cases of test-configuration."""
import fcntl
import os
import random
import shutil
import signal
import stat
import subprocess
import time

from cluster import host
from lib.helper_fixture import LOCKED, PATIENCE, running
from lib.helper_request import CHECK, INIT_APP, STATUS, request


def compiled_policy(t, g):
    """What container-prepare makes: who may have made it, what makes it stale, several at a time,
    deaths."""
    check, policy = request(CHECK), g.state + "/policy"
    status = lambda **kw: g.status(check, **kw)
    unsafe, refused = STATUS["STATE"], STATUS["USER_REFUSED"]
    init = request(INIT_APP, ts=g.TS, app=1, user=g.a.pw_name, local=3, log=1)
    r, _ = g.call(check)
    t.check(
        "\nprofile=strict\nnetwork=host\nnetwork=none\n" in r.text and "\nselinux=off\n" in r.text,
        "CHECK answers with what is allowed",
        r,
    )
    made = os.stat(policy)
    t.equal(
        (made.st_uid, stat.S_IMODE(made.st_mode), stat.S_IMODE(os.stat(g.state).st_mode)),
        (0, 0o600, 0o700),
        "for root's eyes only (17)",
    )
    t.equal((status(), os.stat(policy).st_ino), (0, made.st_ino), "and used again")
    # What it was made from.
    g.config["min.user.id"] = str(g.a.pw_uid + 1)
    g.write_config()
    t.equal(g.status(init), refused, "a changed configuration counts at the next operation (19)")
    g.write_config("min.user.id=1\n")
    reply, _ = g.call(init)
    lines = len(open(g.conf).read().splitlines())
    t.check(
        reply.status == STATUS["CONFIG_SYNTAX"]
        and "container-executor.cfg:%d: " % lines in reply.text,
        "a bad one is refused with its line (19)",
        reply,
    )
    t.equal(g.status(init), STATUS["CONFIG_SYNTAX"], "as long as it is there (19)")
    g.config["min.user.id"] = "1000"
    g.write_config()
    t.equal(g.status(init), 0, "and the right one counts again (19)")
    for _ in range(5):  # in place, of the same length, at once
        for limit, want in ((g.a.pw_uid + 1, refused), (1000, 0)):
            text = open(g.conf).read()
            with open(g.conf, "r+") as f:
                f.write(
                    text.replace(
                        "min.user.id=%s" % g.config["min.user.id"], "min.user.id=%04d" % limit
                    )
                )
            g.config["min.user.id"] = "%04d" % limit
            got = g.status(init)
            if got != want:
                t.equal(got, want, "a configuration that is written in place counts at once (19)")
    t.check(True, "a configuration that is written in place counts at once (19)")
    before = os.stat(policy).st_ino
    n = g.prefix + "z"
    subprocess.run(LOCKED + ["useradd", "-r", "-M", "-N", n], check=True, stderr=subprocess.DEVNULL)
    g.accounts.append(n)
    t.equal(status(), 0, "an account more")
    t.check(os.stat(policy).st_ino != before, "makes the state anew")
    before = os.stat(policy).st_ino
    program = g.libexec + "/container-prepare"
    os.rename(program, program + ".x")
    t.equal(status(), unsafe, "container-prepare is missing")
    shutil.copy(program + ".x", program)
    os.chmod(program, 0o700)
    os.unlink(program + ".x")
    t.equal(status(), 0, "another container-prepare, of a new release")
    t.check(os.stat(policy).st_ino != before, "makes the state anew, too")
    for name, do, undo in (
        ("writable by all", lambda: os.chmod(program, 0o707), lambda: os.chmod(program, 0o700)),
        (
            "the daemon's",
            lambda: os.chown(program, g.nm.pw_uid, 0),
            lambda: os.chown(program, 0, 0),
        ),
    ):
        do()
        t.equal(status(), unsafe, "container-prepare is %s (17)" % name)
        undo()
    # The table of users is what the account files say.
    with host.accounts_locked():  # a new file in its place takes the mount away
        text = open("/etc/passwd").read()
        for line, want in (
            ("%sq:x:%d:%d::/:/" % (g.prefix, 54321, g.a.pw_gid), 0),
            ("%sq:x:%d" % (g.prefix, g.a.pw_uid), refused),
            ("%sq:x:0%d:%d::/:/" % (g.prefix, g.a.pw_uid, g.a.pw_gid), refused),
        ):
            open(g.base + "/passwd", "w").write(text + line + "\n")
            subprocess.run(
                ["mount", "--bind", g.base + "/passwd", "/etc/passwd"], check=True
            )  # for this namespace
            t.equal(
                g.status(request(INIT_APP, ts=g.TS, app=31, user=g.prefix + "q", local=3, log=1)),
                want,
                "a line of passwd like %r (20)" % line.replace(g.prefix, ""),
            )
            subprocess.run(
                ["umount", "-l", "/etc/passwd"], check=True
            )  # -l: somebody may just be reading it
    before = os.stat(policy).st_ino
    t.equal(g.status(request(CHECK, what=2)), STATUS["REQUEST"], "CHECK with another word (15)")
    t.equal(
        (g.status(request(CHECK, what=1)), os.stat(policy).st_ino != before),
        (0, True),
        "the daemon may have it made again",
    )
    # Not of this build, not whole.
    with host.accounts_locked():  # they are in the policy
        t.equal(status(), 0, "all is as it was")
        good = open(policy, "rb").read()
        for name, data in (
            ("of another version (116)", good[:4] + b"\0\0\0\0" + good[8:]),
            ("cut (19)", good[:-1]),
            ("with more behind it (19)", good + b"x"),
            ("empty (19)", b""),
            ("random (19)", os.urandom(len(good))),
            ("of 300 kB (17)", b"x" * 300000),
        ):
            open(policy, "wb").write(data)
            t.equal(
                (status(), len(open(policy, "rb").read())),
                (0, len(good)),
                "a policy " + name + " is made again",
            )
    # Not root's.
    for name, path, do, undo in (
        (
            "policy is the daemon's",
            policy,
            lambda p: os.chown(p, g.nm.pw_uid, 0),
            lambda p: os.chown(p, 0, 0),
        ),
        (
            "policy is writable by all",
            policy,
            lambda p: os.chmod(p, 0o606),
            lambda p: os.chmod(p, 0o600),
        ),
        (
            "policy has two names",
            policy,
            lambda p: os.link(p, p + ".2"),
            lambda p: os.unlink(p + ".2"),
        ),
        (
            "policy is a link",
            policy,
            lambda p: (os.rename(p, p + ".2"), os.symlink("policy.2", p)),
            lambda p: os.rename(p + ".2", p),
        ),
        ("policy is a FIFO", policy, lambda p: (os.unlink(p), os.mkfifo(p)), os.unlink),
        (
            "state directory is the daemon's",
            g.state,
            lambda p: os.chown(p, g.nm.pw_uid, 0),
            lambda p: os.chown(p, 0, 0),
        ),
        (
            "state directory is writable by a group",
            g.state,
            lambda p: os.chmod(p, 0o770),
            lambda p: os.chmod(p, 0o700),
        ),
    ):
        t.equal(status(), 0, "all is well")
        do(path)
        t.equal(status(), unsafe, "the %s (17)" % name)
        undo(path)
    other = g.base + "/other"
    for name, make in (
        ("the daemon's", lambda: (os.mkdir(g.state, 0o700), os.chown(g.state, g.nm.pw_uid, 0))),
        ("for all to write", lambda: (os.mkdir(g.state), os.chmod(g.state, 0o1777))),
        ("for all to read", lambda: (os.mkdir(g.state), os.chmod(g.state, 0o755))),
        ("a link", lambda: (os.mkdir(other, 0o700), os.symlink(other, g.state))),
        ("a file", lambda: open(g.state, "w").close()),
    ):
        g.forget_state()
        make()
        t.equal(status(), unsafe, "a new state directory is %s (17)" % name)
        by_root = subprocess.run(
            [program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        t.equal(
            by_root.returncode,
            unsafe,
            "and container-prepare refuses it with all of root's capabilities, too (17)",
        )
        os.unlink(g.state) if os.path.islink(g.state) or os.path.isfile(g.state) else os.rmdir(
            g.state
        )
    t.equal(os.listdir(other), [], "and nothing was made behind the link (17)")
    # Several at a time, from nothing; and deaths.
    g.forget_state()
    started = [g.start(check) for _ in range(8)]
    replies = [g.receive(sock) for _, sock in started]
    for pid, sock in started:
        sock.close()
        os.waitpid(pid, 0)
    t.equal([r.status for r in replies], [0] * 8, "eight helpers at once, without a state")
    t.equal(
        [n.rpartition("-")[0] for n in sorted(os.listdir(g.state))],
        ["of", "", "root-0", "root-1"],
        "have made one",
    )
    t.equal(
        len([m for m in open("/proc/self/mounts") if m.split()[1] == g.state]), 1, "on one mount"
    )
    wrong = killed = 0
    for i in range(60):
        if i % 3 == 0:
            g.forget_state()
        elif os.path.exists(policy):
            os.unlink(policy)
        pid = os.fork()
        if pid == 0:
            null = os.open("/dev/null", os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            os.execv(program, [program])
        end = time.monotonic() + random.random() * 0.004
        while time.monotonic() < end:
            pass
        os.kill(pid, signal.SIGKILL)
        killed += os.WIFSIGNALED(os.waitpid(pid, 0)[1])
        wrong += status() != 0
    t.check(
        not wrong and killed > 5,
        "container-prepare killed at %d random points: the next operation works (111)" % killed,
        wrong,
    )
    if shutil.which("strace"):
        for call, whens in (
            ("renameat", (1,)),
            ("write", (1,)),
            ("move_mount", (1,)),
            ("fsmount", (1,)),
            ("flock", (1, 2)),
            ("mknodat", (1, 2)),
            ("mount_setattr", (1, 5)),
            ("mkdirat", (1, 2)),
            ("openat", (1, 2)),
            ("unshare", (1, 2)),
            ("setns", (1, 2, 3, 4)),
            ("open_tree", (1, 9)),
            ("pivot_root", (1,)),
            ("umount2", (1,)),
        ):
            for when in whens:
                for how in ("signal=KILL", "error=EPERM"):
                    g.forget_state()
                    r = subprocess.run(
                        [
                            "strace",
                            "-qq",
                            "-o",
                            "/dev/null",
                            "-e",
                            "inject=%s:%s:when=%d" % (call, how, when),
                            program,
                        ],
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                    )
                    s = status()
                    if s != 0:
                        t.equal(
                            s,
                            0,
                            "%s number %d of container-prepare: %s, and the next one"
                            % (call, when, how),
                        )
        t.check(
            True,
            "container-prepare killed or failing at each of its steps: the next "
            "operation works (16, 111)",
        )
    else:
        t.skip("a failure at each step of container-prepare", "strace is not installed")
    g.touch_config()
    t.equal(
        (status(), len(os.listdir(g.state))),
        (0, 4),
        "and the next state leaves nothing of those behind",
    )
    t.equal(status(), 0, "all is well")
    held = os.open(g.state, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)  # what another one at work would hold
    t.equal(status(), 0, "an operation that needs no new state does not wait")
    os.unlink(policy)
    start = time.monotonic()
    pid, sock = g.start(check)
    r = g.receive(sock, 10 + PATIENCE)
    sock.close()
    os.waitpid(pid, 0)
    t.equal(r.status, unsafe, "container-prepare that gets nowhere (22)")
    t.check(
        9 < time.monotonic() - start and running(program) == [],
        "is given up after ten seconds, and killed (22)",
        time.monotonic() - start,
    )
    os.close(held)
    # As root's, by hand.
    r = subprocess.run([program, "x"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    t.check(
        r.returncode == STATUS["ARGUMENTS"] and b"no argument" in r.stderr,
        "container-prepare takes no argument (1)",
        r,
    )
    g.write_config("unknown=1\n")
    r = subprocess.run([program], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    g.write_config()
    t.check(
        r.returncode == STATUS["CONFIG_SYNTAX"] and b"unknown key" in r.stderr,
        "and says in words what is wrong",
        r,
    )
    r = subprocess.run(
        ["setpriv", "--reuid=%d" % g.nm.pw_uid, "--clear-groups", "sh", "-c", program],
        stderr=subprocess.DEVNULL,
    )
    t.equal(r.returncode, 126, "the daemon cannot execute it (8)")
    r, _ = g.call(check)
    t.check(r.status == 0, "and all is well again", r)


def root_templates(t, g):
    """The root templates: one at a time, new ones when something that they show is another."""
    names = lambda: sorted(n for n in os.listdir(g.state) if n.startswith("root-"))
    mounts = lambda: g.run("cat /proc/self/mountinfo > out\n").out().splitlines()
    t.equal(g.init_app()[0].status, 0, "directories of an application")
    before, table = names(), mounts()
    t.check(len(before) == 2 and names() == before, "a launch takes the root template", names())
    t.check(
        len(table) < 60
        and not any(" %s " % p in l for l in table for p in ("/var/lib", "/home", g.state, g.cg)),
        "no mount of the host is below a container's root (90)",
        table,
    )
    place = g.base + "/shown"
    os.mkdir(place)
    open(place + "/one", "w").close()
    g.config["selvedge.sandbox.read-only-paths"] = place
    g.write_config()
    t.equal(
        g.run("ls %s > out\n" % place).out(),
        "one\n",
        "another path is shown from the next launch on",
    )
    t.check(
        not set(names()) & set(before) and len(names()) == 2,
        "by new roots alone",
        (before, names()),
    )
    subprocess.run(["mount", "-t", "tmpfs", "none", place], check=True)
    open(place + "/two", "w").close()
    t.equal(g.run("ls %s > out\n" % place).out(), "two\n", "and what is mounted there later")
    subprocess.run(["umount", place], check=True)
    t.equal(g.run("ls %s > out\n" % place).out(), "one\n", "and unmounted again")
    running = g.prepare()
    running.launch(
        "while [ ! -e go ]; do read -t 0.05 < /dev/zero; done\nls %s > out\n" % place, wait=False
    )
    os.rename(place, place + ".old")
    os.mkdir(place)
    t.equal(g.run("ls %s > out\n" % place).out(), "", "and what has taken its name")
    open(g.work_dir(running) + "/go", "w").close()
    running.wait()
    t.equal(running.out(), "one\n", "one that runs has what it began with")
    for n in names():
        subprocess.run(["umount", g.state + "/" + n], check=True)
    t.equal(
        g.run("exit 5\n").record()["code"], 5, "roots that somebody has unmounted are made again"
    )
    t.equal(
        g.run("[ ! -e %s ] && [ -d %s ]\n" % (g.state, g.logs[0])).record()["code"],
        0,
        "the state directory is not shown (17)",
    )
    if os.path.exists("/etc/hosts"):
        hosts = g.base + "/hosts"
        for text in (
            "127.0.0.1 one\n",
            "127.0.0.1 two\n",
        ):  # another file, then the same with something else in it
            with open(hosts, "w") as f:
                f.write(text)
            if "one" in text:
                subprocess.run(
                    ["mount", "--bind", hosts, "/etc/hosts"], check=True
                )  # for this namespace
            t.equal(
                g.run("cat /etc/hosts > out\n").out(),
                text,
                "/etc/hosts is what it is now: " + text.strip(),
            )
        c = g.run("echo x >> /etc/hosts; echo $? > out\n")
        t.equal(
            (c.out() != "0\n", open(hosts).read()),
            (True, text),
            "and not for the container to write (90)",
        )
        subprocess.run(["umount", "-l", "/etc/hosts"], check=True)
    del g.config["selvedge.sandbox.read-only-paths"]
    g.write_config()
    shutil.rmtree(place)
    shutil.rmtree(place + ".old")
