"""Apache's ShuffleHandler as a process, without a NodeManager around it
(tests/bench/java/ShuffleServe.java)."""
import base64
import os
import subprocess

from interop import hadoop
from lib.shuffle_process import token

SOURCE = os.path.join(hadoop.TOP, "tests", "bench", "java", "ShuffleServe.java")


class ApacheShuffle:
    """Serves the outputs of `job` below the local directory. `settings`: keys; `conf_dir`: of its
    ssl-server.xml. RuntimeError: it does not start."""

    def __init__(self, version, local, job, settings, options=(), conf_dir=None):
        lib = hadoop.jars(version)
        out = os.path.join(hadoop.BUILD, "interop", f"hadoop-{version}", "shuffle-serve")
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
                *options,
                "-cp",
                ":".join([*([conf_dir] if conf_dir else []), out, f"{lib}/*"]),
                "ShuffleServe",
                local,
                job.user,
                job.application,
                base64.b64encode(token(job.secret)).decode(),
                *(f"{k}={v}" for k, v in settings.items()),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for line in self.process.stdout:  # log lines come first
            if line.startswith("ready "):
                self.port = int(line.split()[1])
                return
        self.close()
        raise RuntimeError(f"ShuffleHandler of Hadoop {version} did not start")

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
