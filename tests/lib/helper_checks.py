"""Helper functions that several programs of tests/integration/setuid-helper share: mounts,
containers that wait for a file, a /dev with device nodes of our own."""
import ctypes
import os
import re
import stat
import subprocess

from lib.helper_fixture import *

libc = ctypes.CDLL(None, use_errno=True)
ENDLESS = "while [ ! -e go ]; do read -t 0.01 < /dev/zero; done; exit 3\n"


def tree_of(path):
    """{path below: (inode, owner, group, mode)}, without following links."""
    found = {}
    for top, directories, files in os.walk(path):
        for name in directories + files:
            s = os.lstat(os.path.join(top, name))
            found[os.path.relpath(os.path.join(top, name), path)] = (
                s.st_ino,
                s.st_uid,
                s.st_gid,
                s.st_mode,
            )
    return found


def bind(what, on, *options):
    subprocess.run(["mount", "--bind", what, on], check=True)
    for o in options:
        subprocess.run(["mount", "-o", o, on], check=True)


def unbind(on):
    subprocess.run(["umount", "-l", on], check=True)


def refused(t, g, c, status, name, **kw):
    """A launch; and nothing of it stays that could be taken for a container."""
    c.launch("exit 0\n", **kw)
    t.equal(c.reply.status, STATUS[status], name)
    return c


def go(g, c):
    open(g.work_dir(c) + "/go", "w", encoding="ascii").close()
    c.wait()


def descriptors(pid):
    found = []
    for fd in sorted(os.listdir("/proc/%d/fd" % pid), key=int):
        try:
            found.append(re.sub(r":\[\d+\]$", "", os.readlink("/proc/%d/fd/%s" % (pid, fd))))
        except OSError:
            pass  # closed meanwhile
    return found


def private_dev(g):
    """Our mount namespace gets a /dev of its own with nodes of GPUs that are not there."""
    dev = g.base + "/dev"
    os.mkdir(dev)
    subprocess.run(["mount", "-t", "tmpfs", "none", dev], check=True)
    nodes = {
        "null": (1, 3),
        "zero": (1, 5),
        "full": (1, 7),
        "random": (1, 8),
        "urandom": (1, 9),
        "tty": (5, 0),
        "nvidia0": (195, 0),
        "nvidia1": (195, 1),
        "nvidia2": (195, 2),
        "nvidiactl": (195, 255),
        "card": (242, 7),
        "kmsg": (1, 11),
        "nvidia-caps/cap1": (237, 1),
    }
    for d in ("pts", "shm", "nvidia-caps"):
        os.mkdir(dev + "/" + d)
    for n, (major, minor) in nodes.items():
        os.mknod(dev + "/" + n, stat.S_IFCHR | 0o666, os.makedev(major, minor))
        os.chmod(dev + "/" + n, 0o666)
    subprocess.run(["mount", "--move", dev, "/dev"], check=True)
