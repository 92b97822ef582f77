"""Apache's aggregation of logs as a process, without a NodeManager around it
(tests/bench/java/LogAggregate.java), and `yarn logs`."""
import os
import subprocess

from cluster import conf
from interop import hadoop

SOURCE = os.path.join(hadoop.TOP, "tests", "bench", "java", "LogAggregate.java")


class ApacheLogs:
    """RuntimeError: it cannot be compiled, or has ended."""

    def __init__(self, version):
        lib = hadoop.jars(version)
        out = os.path.join(hadoop.BUILD, "interop", f"hadoop-{version}", "log-aggregate")
        os.makedirs(out, exist_ok=True)
        done = subprocess.run(
            ["javac", "-nowarn", "-proc:none", "-d", out, "-cp", f"{lib}/*", SOURCE],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"javac against Hadoop {version}: {done.stderr}")
        self.process = subprocess.Popen(
            [
                "java",
                "-Xmx1g",
                "-XX:-UsePerfData",
                "--add-opens",
                "java.base/java.lang=ALL-UNNAMED",
                "-cp",
                f"{out}:{lib}/*",
                "LogAggregate",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def aggregate(self, root, codec, app, dirs):
        """(seconds, CPU seconds, bytes written, peak of the whole process in KiB)"""
        self.process.stdin.write(f"{root} {codec} {app} {','.join(dirs)}\n")
        self.process.stdin.flush()
        for line in self.process.stdout:  # log lines come first
            words = line.split()
            if len(words) == 4 and all(w.isdigit() for w in words):
                return int(words[0]) / 1e6, int(words[1]) / 1e6, int(words[2]), int(words[3])
        raise RuntimeError("Apache's log aggregation ended")

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def logs_cli(version, conf_dir, app, remote, *args, **site):
    """argv of `yarn logs` without a ResourceManager."""
    os.makedirs(conf_dir, exist_ok=True)
    conf.write_xml(
        f"{conf_dir}/yarn-site.xml",
        {
            "yarn.log-aggregation-enable": "true",
            "yarn.nodemanager.remote-app-log-dir": remote,
            "yarn.resourcemanager.address": "127.0.0.1:1",
            "yarn.client.failover-max-attempts": 0,
            "ipc.client.connect.max.retries": 0,
            "yarn.resourcemanager.connect.max-wait.ms": 200,
            "yarn.resourcemanager.connect.retry-interval.ms": 100,
            **site,
        },
    )
    return hadoop.java(
        version,
        "org.apache.hadoop.yarn.client.cli.LogsCLI",
        "-applicationId",
        app,
        "-appOwner",
        "alice",
        *args,
        conf=conf_dir,
    )
