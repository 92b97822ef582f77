"""Slurm's controller and daemons for bench-jobs: slurmctld and slurmd of this Debian release, which
tests/bench/slurm unpacks. They confine nothing (proctrack/linuxproc, no cgroups)."""
import os
import shutil
import subprocess
import tempfile

from cluster import host
from interop import hadoop


class Slurm:
    """A controller and so many daemons on loopback, with room for `tasks` on each. What they and
    the tasks write lies on a tmpfs in this mount namespace, or on the disk below /tmp. `say`: the
    shell command of each task."""

    def __init__(self, nodes, tasks, say, disk):
        self.tasks, self.say, self.disk = tasks, say, disk
        at = os.path.join(hadoop.BUILD, "bench", "slurm")
        done = subprocess.run(
            [f"{os.path.dirname(os.path.abspath(__file__))}/slurm", at],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise hadoop.Unavailable(done.stdout.strip() or done.stderr.strip())
        self.root, self.dir = f"{at}/root", tempfile.mkdtemp(prefix="bench-slurm-")
        if not disk:
            host.mount("none", self.dir, "tmpfs", data="mode=0755")
        libraries = [
            f"{self.root}/usr/lib/x86_64-linux-gnu",
            f"{self.root}/usr/lib/x86_64-linux-gnu/slurm-wlm",
        ]
        self.env = {
            **os.environ,
            "SLURM_CONF": f"{self.dir}/slurm.conf",
            "LD_LIBRARY_PATH": ":".join(libraries),
        }
        self.names = [f"n{i}" for i in range(nodes)]
        self.write_conf(libraries[1])
        self.daemons = [self.start("slurmctld-wlm")]
        for name in self.names:
            os.makedirs(f"{self.dir}/spool/{name}")
            self.daemons.append(
                self.start("slurmd-wlm", "-N", name, "-d", f"{self.root}/usr/sbin/slurmstepd-wlm")
            )
        host.wait_for(
            lambda: self.output("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == str(nodes),
            60,
            "Slurm's nodes are idle",
        )

    def write_conf(self, plugins):
        rows = {
            "ClusterName": "bench",
            "SlurmctldHost": "localhost(127.0.0.1)",
            "SlurmUser": "root",
            "AuthType": "auth/none",
            "CredType": "cred/none",
            "SlurmctldPort": host.free_port(),
            "StateSaveLocation": f"{self.dir}/state",
            "SlurmdSpoolDir": f"{self.dir}/spool/%n",
            "SlurmctldPidFile": f"{self.dir}/ctld.pid",
            "SlurmdPidFile": f"{self.dir}/%n.pid",
            "ProctrackType": "proctrack/linuxproc",
            "TaskPlugin": "task/none",
            "JobAcctGatherType": "jobacct_gather/none",
            "SwitchType": "switch/none",
            "MpiDefault": "none",
            "SelectType": "select/cons_tres",
            "SelectTypeParameters": "CR_CPU",
            "PluginDir": plugins,
            "ReturnToService": 2,
            "MaxJobCount": 20000,
            "MaxArraySize": 20001,
            "SlurmdParameters": "config_overrides",
            "KillWait": 1,
            "SchedulerParameters": (
                "batch_sched_delay=0,sched_min_interval=0,default_queue_depth=10000,"
                "bf_max_job_test=10000"
            ),
        }
        os.mkdir(f"{self.dir}/state")
        with open(self.env["SLURM_CONF"], "w", encoding="ascii") as f:
            f.write("".join(f"{key}={value}\n" for key, value in rows.items()))
            for name in self.names:
                f.write(
                    f"NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 "
                    f"Port={host.free_port()} CPUs={self.tasks} State=UNKNOWN\n"
                )
            f.write(
                f"PartitionName=p Nodes={','.join(self.names)} Default=YES "
                "MaxTime=INFINITE State=UP\n"
            )

    def start(self, name, *more):
        with open(f"{self.dir}/{name}-{len(more) and more[1]}.log", "wb") as log:
            return subprocess.Popen(
                [f"{self.root}/usr/sbin/{name}", "-D", "-f", self.env["SLURM_CONF"], *more],
                env=self.env,
                stdout=log,
                stderr=log,
            )

    def command(self, name, *more):
        return [f"{self.root}/usr/bin/{name}", *more]

    def output(self, name, *more):
        return subprocess.run(
            self.command(name, *more),
            env=self.env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        ).stdout

    def step(self):
        """One job with one step of as many tasks."""
        return subprocess.Popen(
            self.command(
                "srun",
                "-N",
                str(len(self.names)),
                "-n",
                str(self.tasks),
                "--mpi=none",
                "sh",
                "-c",
                self.say,
            ),
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def array(self):
        """As many jobs of one task; their files are read as one stream."""
        os.makedirs(f"{self.dir}/out")
        self.output(
            "sbatch",
            "-n1",
            f"--array=1-{self.tasks}",
            "-o",
            f"{self.dir}/out/%a",
            "--wrap",
            self.say,
        )
        return subprocess.Popen(
            [
                "sh",
                "-c",
                (
                    'while [ "$(cat "$1"/* 2>/dev/null | wc -l)" -lt "$2" ]; do sleep 0.5; '
                    'done; cat "$1"/*'
                ),
                "sh",
                f"{self.dir}/out",
                str(self.tasks),
            ],
            stdout=subprocess.PIPE,
        )

    def no_jobs(self, _job):
        self.output("scancel", "--state=RUNNING")
        host.wait_for(
            lambda: not self.output("squeue", "-h").strip(), 120, "Slurm's jobs have ended"
        )

    def stop(self):
        for daemon in self.daemons[1:] + self.daemons[:1]:
            daemon.terminate()
        for daemon in self.daemons:
            daemon.wait(60)
        if not self.disk:
            host.umount(self.dir)
        shutil.rmtree(self.dir)
