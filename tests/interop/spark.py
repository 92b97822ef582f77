"""Apache Spark on a cluster of peers.py: its jars and our jobs where containers see them."""
import os
import subprocess

from cluster import ClusterError
from interop import hadoop, peers

# What Spark needs of Java 17; its executors get the same from Spark itself.
OPEN = [
    f"java.base/{p}"
    for p in (
        "java.lang",
        "java.lang.invoke",
        "java.lang.reflect",
        "java.io",
        "java.net",
        "java.nio",
        "java.util",
        "java.util.concurrent",
        "java.util.concurrent.atomic",
        "sun.nio.ch",
        "sun.nio.cs",
        "sun.security.action",
        "sun.util.calendar",
    )
]


def install(c):
    """Before jobs; below a directory that containers see."""
    peers.link_tree(hadoop.jars("spark"), f"{c.hadoop}/spark")


def compile_job(c, name):
    """java/spark/NAME.java; its jar, where containers see it."""
    made, jar = f"{c.hadoop}/{name}", f"{c.hadoop}/spark/{name}.jar"
    done = subprocess.run(
        ["javac", "-nowarn", "-proc:none", "-d", made, "-cp", f"{c.hadoop}/spark/*"]
        + [os.path.join(hadoop.HERE, "java", "spark", f"{name}.java")],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ClusterError(f"javac: {done.stderr}")
    subprocess.run(["jar", "cf", jar, "-C", made, "."], check=True)
    return jar


def settings(c):
    """Of jobs: Spark's jars are each node's, Hadoop's those of the cluster."""
    return {
        "spark.yarn.jars": f"local:{c.hadoop}/spark/*",
        "spark.yarn.populateHadoopClasspath": "true",
        "spark.executor.memory": "480m",
        "spark.yarn.am.memory": "480m",
        "spark.ui.enabled": "false",
        "spark.local.dir": f"{c.root}/tmp",
    }


def java(c, main, args, options=()):
    """argv of a JVM with Spark and Hadoop, and the clients' configuration."""
    argv = [
        "java",
        *hadoop.SHORT_LIVED,
        "-Xmx512m",
        f"-Djava.io.tmpdir={c.root}/tmp",
        f"-Duser.home={c.home}",
    ]
    for package in OPEN:
        argv += ["--add-opens", f"{package}=ALL-UNNAMED"]
    path = f"{c.conf_dir}:{c.hadoop}/spark/*:{c.hadoop}/lib/*"
    return [*argv, *options, "-cp", path, main, *args]
