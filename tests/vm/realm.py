"""The realm EXAMPLE.COM in the VM: a KDC of the distribution's package at its usual places and on
port 88, so that the commands of docs/operate/secure-mode.md run as they stand."""
import os
import shutil
import subprocess

from cluster import host

REALM = "EXAMPLE.COM"
HOST = "worker1.example.com"
NM, SPNEGO = f"nm/{HOST}@{REALM}", f"HTTP/{HOST}@{REALM}"
KDC_LOG = "/var/lib/krb5kdc/kdc.log"
FILES = {
    "/etc/krb5.conf": f"""[libdefaults]
default_realm = {REALM}
dns_lookup_realm = false
dns_lookup_kdc = false
dns_canonicalize_hostname = false
rdns = false
[realms]
{REALM} = {{
    kdc = 127.0.0.1
}}
""",
    "/etc/krb5kdc/kdc.conf": f"""[kdcdefaults]
kdc_listen = 127.0.0.1:88
kdc_tcp_listen = 127.0.0.1:88
[realms]
{REALM} = {{
    database_name = /var/lib/krb5kdc/principal
    key_stash_file = /etc/krb5kdc/stash
    max_life = 10h
}}
[logging]
kdc = FILE:{KDC_LOG}
""",
}


def tool(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def admin(query):
    return tool("kadmin.local", *query.split())


class Realm:
    """`program`: the KDC's, elsewhere where the policy of SELinux would give it a type of its
    own."""

    def __init__(self, program="/usr/sbin/krb5kdc"):
        self.program, self.process = program, None
        self.before = {p: open(p, encoding="utf-8").read() for p in FILES if os.path.exists(p)}
        for path, text in FILES.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, 0o644)
        os.makedirs("/var/lib/krb5kdc", exist_ok=True)
        with open("/etc/hosts", encoding="ascii") as file:
            self.hosts = file.read()
        with open("/etc/hosts", "a", encoding="ascii") as file:
            file.write(f"127.0.1.2 {HOST} worker1\n")
        tool("kdb5_util", "create", "-s", "-r", REALM, "-P", "master")
        self.start()

    def log(self):
        if not os.path.exists(KDC_LOG):
            return ""
        with open(KDC_LOG, encoding="utf-8") as file:
            return file.read()

    def start(self):
        began = self.log().count("commencing operation")
        self.process = subprocess.Popen(
            [self.program, "-n"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        host.wait_for(
            lambda: self.log().count("commencing operation") > began, 60, "the KDC commences"
        )

    def stop(self):
        self.process.kill()
        self.process.wait()

    def remove(self):
        self.stop()
        tool("kdb5_util", "destroy", "-f", "-r", REALM)
        shutil.rmtree("/var/lib/krb5kdc")
        with open("/etc/hosts", "w", encoding="ascii") as file:
            file.write(self.hosts)
        for path in FILES:
            os.unlink(path)
        for path, text in self.before.items():
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
