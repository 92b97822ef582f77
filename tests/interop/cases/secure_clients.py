"""Clients of a secure cluster (interop/secure.py) beside DistributedShell and MapReduce: a service
that submits for a user, and Spark with its user's ticket and with a keytab."""
import re
import subprocess

from cluster import ClusterError, host
from interop import peers, secure, spark
from interop.cases.secure_jobs import said

SUBMIT = "org.apache.spark.deploy.SparkSubmit"


def proxied(s):
    """The gateway has a ticket, the user has none: the job, its files on HDFS and its logs are the
    user's."""
    application = said(s, s.gateway, "for somebody else")
    user = application.report()["user"]
    if user != s.bob.account.pw_name:
        raise ClusterError(f"{application.id} is {user}'s")


def proxied_for_another(s):
    """hadoop.proxyuser.gateway.users names one user."""
    before = s.gateway.acts_for
    s.gateway.acts_for = s.alice.account
    try:
        said(s, s.gateway)
    except ClusterError as error:
        if "is not allowed to impersonate" not in str(error):
            raise
    else:
        raise ClusterError("the gateway has acted for a user that it may not act for")
    finally:
        s.gateway.acts_for = before


def behind_the_amrmproxy(s):
    """The NodeManager stands between the job's master and the ResourceManager: the master has a
    token of the node's in any quality of protection."""
    c, key = s.c, "yarn.resourcemanager.scheduler.address"
    address = f"{s.node.address}:{host.free_port()}"
    s.restart(
        {
            "yarn.nodemanager.amrmproxy.enabled": "true",
            "yarn.nodemanager.amrmproxy.address": address,
        }
    )
    before, c.site = c.site, {**c.site, key: address}
    c.write_conf(c.conf_dir, {})  # of masters
    try:
        said(s, s.alice, "behind the proxy")
    finally:
        c.site = before
        c.write_conf(c.conf_dir, {})
    s.says("its ApplicationMaster is behind the AMRMProxy")


# --- Spark --------------------------------------------------------------------------------------


def lines(s, mode, more):
    """A job that reads a PRIVATE file and writes another one, to its end."""
    c, person = s.c, s.alice
    source = s.hdfs.url(f"{person.home}/private.txt")
    target = f"{person.home}/{mode}-lines"
    settings = {
        **spark.settings(c),
        "spark.executor.instances": 1,
        "spark.driver.memory": "480m",
        "spark.yarn.submit.waitAppCompletion": "true",
        **more,
    }
    words = ["--master", "yarn", "--deploy-mode", mode, "--class", "SparkLines"]
    for key, value in settings.items():
        words += ["--conf", f"{key}={value}"]
    words += [f"local:{s.spark_job}", source, s.hdfs.url(target)]
    with s.acting(person):
        done = subprocess.run(
            [*c.as_user(person.account), *spark.java(c, SUBMIT, words)],
            cwd=c.home,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**c.client_env(person.account), "JAVA_HOME": peers.java_home()},
            timeout=240,
        )
    found = re.search(r"application_\d+_\d+", done.stdout)
    if done.returncode or not found:
        raise ClusterError(f"SparkSubmit: {done.returncode}: {done.stdout[-4000:]}")
    report = peers.Application(c, found.group()).wait_ended()
    if report["finalStatus"] != "SUCCEEDED" or report["user"] != person.account.pw_name:
        raise ClusterError(str(report))
    wanted = s.content(f"{person.home}/private.txt").upper()
    if s.hdfs.parts(target) != wanted:
        raise ClusterError(f"{target} is not {source} in capital letters")


def by_ticket(s):
    """The driver is the client's; ApplicationMaster and executors get by with its tokens."""
    driver = {
        "spark.driver.host": s.network.name,
        "spark.driver.bindAddress": s.network.address,
    }
    lines(s, "client", driver)


def by_keytab(s):
    """The driver is in a container, with the user's keytab, and logs in at the KDC from there."""
    before = s.kdc.logins(s.alice.principal)
    login = {
        "spark.kerberos.principal": s.alice.principal,
        "spark.kerberos.keytab": s.readable_keytab(s.alice),
    }
    lines(s, "cluster", login)
    logins = s.kdc.logins(s.alice.principal) - before
    if logins < 2:  # the client's, and the driver's
        raise ClusterError(f"{logins} logins of {s.alice.principal}, of realm {secure.REALM}")


SPARK = [by_ticket, by_keytab]
