"""Commands in another root directory on this machine's kernel, for tests that need a fresh system.
Each command has a mount namespace and a cgroup of its own, which is the top of the hierarchy that
it sees: clusters started by it are below. All of them are below one cgroup. A guard, a process with
a session of its own, kills what is left in that and removes it and the root when the test ends,
also when it is killed.

    host.private_namespace()
    with OtherRoot(path, "fresh") as root:
        status = root.run("make", log)"""
import os
import signal
import subprocess

from cluster import host

HANG_S = 1800  # of one command; a whole build with its unit tests, beside other suites, needs 900

# A process's cgroup when it makes a cgroup namespace is the top of that. A cgroup has processes or
# passes controllers to those below it, hence one more for the command.
JOIN = r"""
set -eu
echo $$ >"$1/cgroup.procs"
exec unshare --cgroup --mount --propagation private bash -c 'echo $$ >"$1/command/cgroup.procs"; shift; exec "$@"' - "$@"
"""
# No process namespace: the helper refuses any but the machine's.
ENTER = r"""
set -eu
mount --bind "$1" "$1" && cd "$1"
for pair in $2; do mount --bind "${pair%%=*}" "./${pair##*=}"; done
mount -t proc proc proc && mount -t sysfs -o ro sysfs sys && mount --rbind /dev dev && mount -t tmpfs -o mode=0755 tmpfs run && mkdir -m 1777 run/lock
mkdir -p .old && pivot_root . .old && umount -l .old && cd "$3"
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 bash -c 'sudo() { "$@"; }; '"$4"
"""


class OtherRoot:
    """`binds`: {directory here: directory below the root}. `keep`: the guard leaves the root to
    another run."""

    def __init__(self, path, name, binds=None, keep=False):
        self.path, self.keep, self.commands = path, keep, 0
        self.binds = " ".join(f"{here}={there}" for here, there in (binds or {}).items())
        self.group = host.Cgroup(f"{path}.cgroup-{os.getpid()}", f"selvedge-{name}-{os.getpid()}")
        reader, self.writer = os.pipe()
        self.guard = os.fork()
        if self.guard == 0:
            os._exit(self._guard(reader))
        os.close(reader)

    def _guard(self, reader):
        """Until the test closes its end of the pipe, or is gone."""
        os.setsid()
        os.closerange(3, reader)
        os.closerange(reader + 1, 1024)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.read(reader, 1)
        try:
            self.group.remove()
            self.group.unmount()
            if not self.keep:
                self.remove()
        except (host.HostError, OSError, subprocess.SubprocessError) as error:
            print(f"{self.path}: left behind: {error}", flush=True)
            return 1
        return 0

    def remove(self):
        """Not through a mount, whoever made it."""
        with open("/proc/self/mounts", encoding="utf-8") as f:
            below = [line.split()[1] for line in f if line.split()[1].startswith(f"{self.path}/")]
        if below:
            raise host.HostError(f"still mounted: {below}")
        subprocess.run(["rm", "-rf", "--one-file-system", self.path], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Ends everything; HostError where something stays."""
        os.close(self.writer)
        if os.waitpid(self.guard, 0)[1]:
            raise host.HostError(f"{self.path}: something is left behind")

    def outside(self, *argv, log, timeout=HANG_S):
        """A command of this root, with the same cgroup as the others: its exit status."""
        self.commands += 1
        own = f"{self.group.path}/{self.commands}"
        os.makedirs(f"{own}/command")
        return subprocess.run(
            ["bash", "-c", JOIN, "-", own, *argv],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        ).returncode

    def run(self, command, log, directory="/root", timeout=HANG_S):
        """A line of bash in the other root: its exit status; both streams go to the file `log`."""
        return self.outside(
            "bash",
            "-c",
            ENTER,
            "-",
            self.path,
            self.binds,
            directory,
            command,
            log=log,
            timeout=timeout,
        )
