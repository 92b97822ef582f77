"""Runs inside a container and tries what a hostile job would try. One JSON line an attempt:
{"try": what, "refused": bool, "how": the kernel's answer}. Ends by leaving a process behind in a
session of its own and waiting to be killed.

    python3 escape.py VICTIM_FILE VICTIM_PID DAEMON_DIR..."""
import ctypes
import errno
import json
import os
import stat
import subprocess
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
victim_file, victim_pid, *host_dirs = sys.argv[1:]


def call(name, *args):
    """A libc call; OSError when it fails."""
    if getattr(libc, name)(*args) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def attempt(what, function):
    """`function` must fail: with an OSError, or by returning why it came to nothing."""
    try:
        how = function()
        refused = isinstance(how, str)
    except OSError as error:
        refused, how = True, errno.errorcode.get(error.errno, str(error.errno))
    print(
        json.dumps({"try": what, "refused": refused, "how": how if refused else "it worked"}),
        flush=True,
    )


def read(path):
    with open(path, "rb") as f:
        f.read(1)


def write(path, text="x"):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def write_somewhere():
    """Writing anywhere outside; the first place that takes it is the failure."""
    answers = {}
    for directory in ["/", "/usr", "/usr/bin", "/etc", "/opt", *host_dirs]:
        try:
            write(f"{directory}/selvedge-was-here")
            return None
        except OSError as error:
            answers[errno.errorcode[error.errno]] = True
    return ", ".join(answers)


def see_others():
    """Processes of other containers or of the host: of another user, or of a cgroup above its
    own."""
    own = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
                uids = next(line for line in f if line.startswith("Uid:")).split()[1:]
            with open(f"/proc/{pid}/cgroup", encoding="ascii", errors="replace") as f:
                group = next(line for line in f if line.startswith("0::"))[3:]
        except OSError:
            continue  # ended meanwhile
        if set(uids) != {str(os.getuid())} or group.startswith("/.."):
            return None
        own += 1
    return f"only its own {own}"


def set_user_id():
    """A setuid program must not change who runs."""
    done = subprocess.run(
        ["/usr/bin/su", "-c", "id -u"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=10,
        check=False,
    )
    if done.stdout.strip() == "0":
        return None
    return "no new privileges"


def open_devices():
    last = OSError(errno.ENOENT, "")
    for name in (
        "/dev/mem",
        "/dev/kmsg",
        "/dev/sda",
        "/dev/vda",
        "/dev/fuse",
        "/dev/kvm",
        "/dev/net/tun",
    ):
        try:
            os.close(os.open(name, os.O_RDONLY))
            return None
        except OSError as error:
            last = error
    raise last


attempt("read a file of another user's container", lambda: read(victim_file))
attempt(
    "list the other user's directory",
    lambda: os.listdir(os.path.dirname(os.path.dirname(victim_file))),
)
attempt("write outside its own directories", write_somewhere)
attempt("mount a file system", lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None))
attempt("enter a new user namespace", lambda: call("unshare", 0x10000000))
attempt("see other processes", see_others)
attempt("signal another container's process", lambda: os.kill(int(victim_pid), 0))
attempt(
    "trace another container's process", lambda: call("ptrace", 16, int(victim_pid), None, None)
)
attempt("make a device node", lambda: os.mknod("disk", 0o600 | stat.S_IFBLK, os.makedev(8, 0)))
attempt("open a device of the host", open_devices)
attempt("raise its own memory limit", lambda: write("/sys/fs/cgroup/memory.max", "max"))
attempt("leave its cgroup", lambda: write("/sys/fs/cgroup/cgroup.procs", str(os.getpid())))
attempt("become root by a setuid program", set_user_id)

# Out of the session, no parent, no terminal, deaf to polite signals.
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (1, 2, 3, 13, 15):
            libc.signal(number, ctypes.c_void_p(1))
        os.closerange(0, 3)
        while True:
            time.sleep(60)
    os._exit(0)
os.wait()
print(json.dumps({"ready": True}), flush=True)
while True:
    time.sleep(60)
