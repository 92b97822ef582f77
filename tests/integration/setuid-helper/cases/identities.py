"""Identity, capabilities, descriptors and environment of the helper before it is asked anything,
and of every program that it starts. Cases of test-invocation."""
import ctypes
import errno
import os
import re
import resource
import shutil
import signal
import socket

from lib import helper_fixture
from lib.helper_checks import libc, refused
from lib.helper_fixture import until
from lib.helper_request import (
    APPLICATION,
    CHECK,
    DELETE,
    DELETE_APP,
    INIT_APP,
    LINK,
    LOCALIZE,
    NAMES,
    NET_PRIVATE,
    PRIVATE,
    SIGNAL,
    STATUS,
    memfd,
    request,
)


def waiting_helper(t, g):
    """What a helper is before it is asked anything, whoever has started it how: seen by root."""

    def hostile():
        for n in range(20, 60):
            os.dup2(os.open("/", os.O_RDONLY), n, inheritable=True)
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        for s in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
            signal.signal(s, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        for name in ("NOFILE", "FSIZE", "DATA"):
            hard = resource.getrlimit(getattr(resource, "RLIMIT_" + name))[1]
            resource.setrlimit(
                getattr(resource, "RLIMIT_" + name), (200 if name == "NOFILE" else 1 << 30, hard)
            )
        os.umask(0)
        os.chdir("/tmp")
        os.setgroups([g.nm.pw_gid, g.a.pw_gid])

    pid, sock = g.start(None, before=hostile)

    def at_rest():
        with open("/proc/%d/syscall" % pid, encoding="ascii") as f:
            return f.read().split()[0] == "47"  # recvmsg

    t.check(until(at_rest), "a helper waits")
    lines = dict(
        l.split(":\t", 1)
        for l in open("/proc/%d/status" % pid, encoding="ascii").read().splitlines()
        if ":\t" in l
    )
    t.equal(
        (lines["Uid"].split(), lines["Gid"].split(), lines["Groups"].split()),
        (["0"] * 4, ["0"] * 4, []),
        "with root's ids and no other: the daemon cannot reach it (11)",
    )
    caps = lambda *numbers: "%016x" % sum(1 << n for n in numbers)
    serving = (0, 6, 7, 8, 21)  # CHOWN SETGID SETUID SETPCAP SYS_ADMIN
    t.equal(
        (lines["CapInh"], lines["CapEff"], lines["CapAmb"]),
        (caps(), caps(*serving), caps()),
        "with five capabilities, none of which goes through an exec (11)",
    )
    t.check(
        int(lines["CapPrm"], 16) & ~int(caps(*serving, 1, 12, 18), 16) == 0,
        "and three more for single steps",
        lines["CapPrm"],
    )
    t.equal(lines["CapBnd"], caps(12, 18, 21), "its bounding set is what its programs inherit")
    t.equal(
        (lines["NoNewPrivs"], lines["Umask"]),
        ("1", "0077"),
        "with no_new_privs and a umask of its own (7)",
    )
    t.equal((lines["SigBlk"], lines["SigPnd"]), ("0" * 16,) * 2, "with no signal blocked (6)")
    t.equal(int(lines["SigIgn"], 16) & ~(1 << 12), 0, "none but SIGPIPE ignored (6)")
    t.equal(os.readlink("/proc/%d/cwd" % pid), "/", "in / (7)")
    fds = {fd: os.readlink("/proc/%d/fd/%s" % (pid, fd)) for fd in os.listdir("/proc/%d/fd" % pid)}
    odd = {f: l for f, l in fds.items() if not l.startswith(("/dev/null", "socket:"))}
    t.equal(
        (odd, [l for f, l in sorted(fds.items()) if f in "12"]),
        ({}, ["/dev/null"] * 2),
        "of descriptors the socket (4)",
    )
    limits = {
        l[:26].strip(): l[26:].split()[:2]
        for l in open("/proc/%d/limits" % pid, encoding="ascii").read().splitlines()[1:]
    }
    t.equal(limits["Max core file size"], ["0", "0"], "it leaves no core (12)")
    t.equal(
        [
            n
            for n in ("Max open files", "Max file size", "Max data size")
            if limits[n][0] != limits[n][1]
        ],
        [],
        "soft limits are raised to the hard ones (5)",
    )
    t.equal(
        open("/proc/%d/environ" % pid, encoding="ascii").read(),
        "",
        "nothing of its caller's is in its environment (2)",
    )
    sock.close()
    os.waitpid(pid, 0)


def started_by_root(t, g):
    """As systemd starts it, with what only root could hand down: capabilities that go through an
    exec."""
    os.setegid(g.nm.pw_gid)
    os.seteuid(g.nm.pw_uid)
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    os.seteuid(0)
    os.setegid(0)

    def ambient():
        head, data = (ctypes.c_uint * 2)(0x20080522, 0), (ctypes.c_uint * 6)()
        libc.capget(head, data)
        data[2] = data[1]
        libc.capset(head, data)
        for c in (0, 12, 21):
            libc.prctl(47, 2, c, 0, 0)

    pid, sock = g.start(None, before=ambient, uid=0, sock=pair)

    def at_rest():
        with open("/proc/%d/syscall" % pid, encoding="ascii") as f:
            return f.read().split()[0] == "47"

    t.check(until(at_rest), "a helper that root has started waits")
    lines = dict(
        l.split(":\t", 1)
        for l in open("/proc/%d/status" % pid, encoding="ascii").read().splitlines()
        if ":\t" in l
    )
    t.equal(
        (lines["CapInh"], lines["CapAmb"], lines["NoNewPrivs"]),
        ("0" * 16, "0" * 16, "1"),
        "without any that goes through an exec (11)",
    )
    sock.close()
    os.waitpid(pid, 0)


NO_CAPS = {
    "CapInh": "0" * 16,
    "CapPrm": "0" * 16,
    "CapEff": "0" * 16,
    "CapAmb": "0" * 16,
    "CapBnd": "0" * 16,
}


class Witness:
    """In place of a program of ours; what it saw."""

    def __init__(self, g, name):
        self.path = g.libexec + "/" + name
        self.there = os.path.exists(self.path)
        if self.there:
            os.rename(self.path, self.path + ".real")
        shutil.copy(g.build + "/tests/integration/setuid-helper/witness", self.path)
        os.chmod(self.path, 0o711)
        with open(self.path + ".seen", "w", encoding="ascii"):
            os.chmod(self.path + ".seen", 0o666)

    def seen(self, text=None):
        if text is None:
            with open(self.path + ".seen", encoding="utf-8") as f:
                text = f.read()
        lines = [l.split("\t") for l in text.splitlines()]
        return (
            {l[1].rstrip(":"): " ".join(l[2:]).strip() for l in lines if l[0] == "status"},
            dict(l[1].split(" ", 1) for l in lines if l[0] == "fd"),
            [l[1] for l in lines if l[0] == "env"],
            {l[0]: l[1] for l in lines if l[0] in ("securebits", "cwd", "tmp", "execve")},
        )

    def back(self):
        os.unlink(self.path)
        if self.there:
            os.rename(self.path + ".real", self.path)


def started_programs(t, g):
    """Identity, capabilities, descriptors and environment of every program that the helper
    starts."""
    null = "/dev/null"
    ids = lambda uid, gid: {
        "Uid": " ".join([str(uid)] * 4),
        "Gid": " ".join([str(gid)] * 4),
        "Groups": "",
        "NoNewPrivs": "1",
    }

    def seen(name, ask, want, fds, text=None):
        w = Witness(g, name)
        try:
            reply = ask()
            status, got, env, more = w.seen(reply if text else None)
        finally:
            w.back()
        t.check(status, name + " is started", reply)
        t.equal(
            {k: v for k, v in status.items() if k in want},
            want,
            name + ": its ids and capabilities (11)",
        )
        t.equal(
            {n: re.sub(r":\[\d+\]|/[^ ]*/", ":", l) if l != null else l for n, l in got.items()},
            fds,
            name + ": its descriptors (4)",
        )
        t.equal(
            [e for e in env if not e.startswith("PATH=/usr/local/sbin:")],
            [],
            name + ": an empty environment (2)",
        )
        return status, more

    caps = lambda *n: "%016x" % sum(1 << c for c in n)
    seen(
        "user-lookup",
        lambda: g.status(
            request(INIT_APP, ts=g.TS, app=9, user="stranger", local=3, log=1),
            before=lambda: os.umask(0),
        ),
        {**ids(g.lookup.pw_uid, g.lookup.pw_gid), **NO_CAPS, "Umask": "0077"},
        {"0": null, "1": "pipe:", "2": null},
    )

    def prepare():
        g.touch_config()
        return g.status(request(CHECK))

    handed = caps(12, 18, 21)
    seen(
        "container-prepare",
        prepare,
        {
            **ids(0, 0),
            "CapPrm": handed,
            "CapEff": handed,
            "CapInh": handed,
            "CapAmb": handed,
            "CapBnd": handed,
        },
        {"0": null, "1": "pipe:", "2": null},
    )
    app = dict(ts=g.TS, app=1, user=g.a.pw_name)
    seen(
        "container-delete",
        lambda: g.status(request(DELETE, what=DELETE_APP, local=3, **app)),
        {**ids(g.a.pw_uid, g.a.pw_gid), **NO_CAPS},
        {"0": "socket:", "1": "pipe:", "2": null, "3": ":local0", "4": ":local1"},
    )
    c = g.prepare()
    seen(
        "container-signal",
        lambda: g.status(
            request(SIGNAL, attempt=1, container=c.seq, sig=15, **app), [os.pidfd_open(os.getpid())]
        ),
        {**ids(g.a.pw_uid, g.a.pw_gid), **NO_CAPS},
        {"0": "socket:", "1": "pipe:", "2": null, "3": "anon_inode:[pidfd]", "4": ":" + c.id},
    )
    seen(
        "container-link",
        lambda: g.status(
            request(LINK, attempt=1, container=c.seq, local=1, **app), [memfd(b"a\0b\0")]
        ),
        {**ids(g.a.pw_uid, g.a.pw_gid), **NO_CAPS},
        {"0": "socket:", "1": "pipe:", "2": null, "3": ":local0", "4": "/memfd:t (deleted)"},
    )
    g.config["selvedge.sandbox.networks"] = "host,private"
    g.write_config()
    c.more = dict(network=NET_PRIVATE, net_index=3)
    net = caps(12)
    seen(
        "container-network",
        lambda: c.launch("exit 0\n").reply,
        {**ids(g.monitor.pw_uid, g.monitor.pw_gid), "CapPrm": net, "CapEff": net, "CapAmb": net},
        {"0": "pipe:", "1": "pipe:", "2": null, "3": "socket:", "4": "net:"},
    )
    del g.config["selvedge.sandbox.networks"]
    g.write_config()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def localize():
        pid, sock = g.start(
            request(LOCALIZE, local=3, what=PRIVATE | APPLICATION, **app), [theirs.fileno()]
        )
        reply = g.receive(sock)
        ours.settimeout(helper_fixture.PATIENCE)
        text = ours.recv(16384).decode() if reply.status == 0 else repr(reply)
        g.receive(sock)
        sock.close()
        os.waitpid(pid, 0)
        for fd in reply.fds:
            os.close(fd)
        return text

    status, more = seen(
        "container-localizer",
        localize,
        {**ids(g.a.pw_uid, g.a.pw_gid), **NO_CAPS, "Seccomp": "2"},
        {
            "0": null,
            "1": null,
            "2": null,
            "3": "socket:",
            "16": ":filecache",
            "17": ":filecache",
            "48": ":filecache",
            "49": ":filecache",
        },
        text=True,
    )
    locked = 1 | 2 | 4 | 8 | 32 | 64 | 128
    t.equal(
        more.get("securebits"),
        str(locked),
        "container-localizer: no way to a capability by an exec or a change of ids (87)",
    )
    t.equal(
        more.get("execve"),
        str(errno.EPERM),
        "its filter is a localizer's: it executes nothing more (45)",
    )
    t.check(
        more.get("tmp") not in (None, "0", str(os.stat("/tmp").st_dev)),
        "and not the host's /tmp (45)",
        more,
    )
    for name in ("container-init", "container-monitor", "container-start"):
        path, was = g.libexec + "/" + name, os.stat(g.libexec + "/" + name)
        for uid, mode, why in (
            (g.nm.pw_uid, 0o711, "is the daemon's"),
            (0, 0o755, "its account may read"),
            (0, 0o733, "anybody may write"),
        ):
            if name == "container-start" and mode == 0o755:
                continue  # it has nothing to hide
            os.chown(path, uid, 0)
            os.chmod(path, mode)
            c = g.prepare()
            reply = c.launch("exit 0\n").reply
            t.equal(
                (NAMES.get(reply.status), reply.text),
                ("EXEC", path),
                "a %s that %s is not executed (17)" % (name, why),
            )
            t.check(not os.path.exists(c.record_path), "and there is no record")
        os.chown(path, 0, 0)
        os.chmod(path, was.st_mode & 0o7777)
    t.equal(g.prepare().launch("exit 0\n").reply.status, 0, "as they were: they are")
    for name in ("container-delete", "container-signal", "container-link", "container-localizer"):
        w = Witness(g, name)
        os.chown(w.path, g.nm.pw_uid, 0)
        ask = {
            "container-delete": lambda: g.status(request(DELETE, what=DELETE_APP, local=3, **app)),
            "container-signal": lambda: g.status(
                request(SIGNAL, attempt=1, container=c.seq, sig=15, **app),
                [os.pidfd_open(os.getpid())],
            ),
            "container-link": lambda: g.status(
                request(LINK, attempt=1, container=c.seq, local=1, **app), [memfd(b"a\0b\0")]
            ),
            "container-localizer": lambda: g.status(
                request(LOCALIZE, local=3, what=PRIVATE, **app), [theirs.fileno()]
            ),
        }[name]
        t.equal(
            (ask(), w.seen()[0]),
            (STATUS["EXEC"], {}),
            "a %s that is the daemon's is not executed (17)" % name,
        )
        w.back()
    for name in ("container-monitor", "container-init", "container-start"):
        path = g.libexec + "/" + name
        os.rename(path, path + ".real")
        os.symlink(name + ".real", path)
        refused(t, g, g.prepare(), "EXEC", "a %s that is a link is not executed (17)" % name)
        os.unlink(path)
        os.rename(path + ".real", path)
    # By hand: as root, or with another operation's request.
    for name, op, other in (
        ("container-delete", request(DELETE, what=DELETE_APP, local=1, **app), request(CHECK)),
        (
            "container-signal",
            request(SIGNAL, attempt=1, container=1, sig=15, **app),
            request(CHECK),
        ),
        (
            "container-link",
            request(LINK, attempt=1, container=1, local=1, **app),
            request(CHECK),
        ),
    ):
        for uid, data, why in (
            (0, op, "as root"),
            (g.a.pw_uid, other, "with another request"),
            (g.a.pw_uid, op[:-1], "with half a request"),
        ):
            r, w = os.pipe()
            os.write(w, data)
            os.close(w)
            pid = os.fork()
            if pid == 0:
                os.setresgid(g.a.pw_gid, g.a.pw_gid, g.a.pw_gid)
                os.dup2(r, 1)
                os.setresuid(uid, uid, uid)
                os.execv(g.libexec + "/" + name, [name])
            os.close(r)
            t.equal(
                os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]),
                STATUS["REQUEST"],
                "%s %s does nothing (8)" % (name, why),
            )
