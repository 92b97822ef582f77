"""A disk with map outputs that is gone while reducers wait for them: every read and write answers
EIO from then on."""
import contextlib
import fcntl
import glob
import os
import struct
import subprocess

from cluster import ClusterError
from cluster.host import umount
from interop import peers
from interop.cases.mapreduce_failures import MAPS, Counting, counter

EXT4_IOC_SHUTDOWN, WITHOUT_FLUSH = 0x8004587D, 2
CHECKER = "yarn.nodemanager.disk-health-checker."


class Disk:
    """In place of a node's second local directory. Larger than what the first one is on: tasks
    choose by free space."""

    def __init__(self, c, node):
        self.at, image = node.local_dirs[1], f"{c.root}/disk{node.number}"
        with open(image, "wb") as f:
            f.truncate(1 << 40)
        subprocess.run(
            [
                "mkfs.ext4",
                "-q",
                "-N",
                "20000",
                "-O",
                "^has_journal",
                "-E",
                "lazy_itable_init=1",
                image,
            ],
            check=True,
        )
        subprocess.run(["mount", "-o", "loop", image, self.at], check=True)
        os.chown(self.at, c.daemon.pw_uid, c.daemon.pw_gid)

    def fail(self):
        fd = os.open(self.at, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(fd, EXT4_IOC_SHUTDOWN, struct.pack("I", WITHOUT_FLUSH))
        finally:
            os.close(fd)


def restart(c, change):
    """The nodes, with `change` of each while none runs."""
    for node in c.nodes:
        node.process.stop()
        node.forget_state()  # the template of its containers' mounts
        change(node)
        peers.start_node(c, node)
    peers.wait_nodes(c)


@contextlib.contextmanager
def disks(c):
    """{node: Disk} of every node, watched by the NodeManagers."""
    found, site = {}, {f"{CHECKER}enable": "true", f"{CHECKER}interval-ms": 500}

    def add(node):
        found[node] = Disk(c, node)
        node.site |= site

    def remove(node):
        for key in site:
            node.site.pop(key, None)
        if node in found:
            umount(found[node].at)

    try:
        restart(c, add)
        yield found
    finally:
        restart(c, remove)


def disk_gone(c, h):
    """The maps run again, the node goes on with its other disk."""
    with disks(c) as by_node:
        with Counting(c, h, "disk-gone") as job:
            master = glob.glob(f"{c.root}/node*/containers/{job.application}/container_*_000001")[0]
            node = next(n for n in c.nodes if not master.startswith(n.dir + "/") and job.outputs(n))
            disk = by_node[node]
            maps = [
                output
                for output in job.outputs(node)
                if disk.at in (output[: len(disk.at)], job.data_of(output)[: len(disk.at)])
            ]
            if not maps:
                raise ClusterError(
                    f"{node.name} wrote no map output to {disk.at}: {job.outputs(node)}"
                )
            disk.fail()
            c.wait(
                lambda: f"{disk.at} : " in log_of(node),
                60,
                f"{node.name} finds that its disk is gone",
            )
            job.go_on()
            out = job.right()
        if counter(out, "Launched map tasks") < MAPS + len(maps):
            raise ClusterError(f"{len(maps)} outputs were lost, no map ran again: {out[-3000:]}")
        if node.id not in c.running_nodes():
            raise ClusterError(
                f"{node.name} does not go on with its other disk:\n{node.process.tail()}"
            )

        # the dead disk keeps its names, and they can be seen
        def elsewhere():
            return [left for left in c.leftovers() if disk.at not in left]

        try:
            c.wait(lambda: not elsewhere(), 60, "all is removed, but what is on the dead disk")
        except ClusterError as error:
            raise ClusterError(
                "\n".join([f"{error}: {elsewhere()}", *(n.process.tail(60) for n in c.nodes)])
            ) from None


def log_of(node):
    with open(node.process.log, encoding="utf-8", errors="replace") as f:
        return f.read()
