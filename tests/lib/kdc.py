"""A real MIT KDC on loopback, with a realm, a krb5.conf and a database of its own in a directory.
Nothing of the machine's is read or written."""
import os
import re
import signal
import subprocess

from cluster.host import free_port, wait_for

REALM = "KRB.TEST"
SBIN = "/usr/sbin:/usr/lib/mit/sbin"
# Fedora's files are below /usr/lib64.
MODULES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64")

KRB5_CONF = """[libdefaults]
default_realm = {realm}
dns_lookup_realm = false
dns_lookup_kdc = false
dns_canonicalize_hostname = false
rdns = false
udp_preference_limit = 1
{more}
[realms]
{realms}
[domain_realm]
{domains}
"""
# Not 127.0.0.1: there free_port() holds the UDP port of the number, and a client would wait for
# its answer.
ADDRESS = "127.0.0.3"
KDC_CONF = """[kdcdefaults]
kdc_listen = {address}:{port}
kdc_tcp_listen = {address}:{port}
[realms]
{realm} = {{
    database_name = {root}/principal
    key_stash_file = {root}/stash
    acl_file = {root}/acl
    max_life = 10h
}}
[dbmodules]
db_module_dir = {modules}/krb5/plugins/kdb
[logging]
kdc = FILE:{root}/kdc.log
"""


class Kdc:
    """`domain`: whose hosts are of this realm, for clients of another one."""

    def __init__(self, root, realm=REALM, address=ADDRESS, domain=None):
        self.root, self.realm, self.port, self.process = root, realm, free_port(), None
        self.address, self.domain, self.trusted = address, domain, []
        os.makedirs(root)
        modules = next((m for m in MODULES if os.path.isdir(f"{m}/krb5/plugins/kdb")), MODULES[0])
        self.conf = self.write_conf("krb5.conf")
        with open(f"{root}/kdc.conf", "w", encoding="utf-8") as file:
            file.write(
                KDC_CONF.format(
                    realm=realm, address=address, port=self.port, root=root, modules=modules
                )
            )
        self.env = dict(
            os.environ,
            KRB5_CONFIG=self.conf,
            KRB5_KDC_PROFILE=f"{root}/kdc.conf",
            PATH=f"{os.environ.get('PATH', '')}:{SBIN}",
        )
        self.run("kdb5_util", "-r", realm, "create", "-s", "-P", "master")
        self.start()

    def write_conf(self, name, more=""):
        """A krb5.conf in the KDC's directory, or of an absolute name; the path. `more`: lines of
        its first section."""
        path, known = os.path.join(self.root, name), [self, *self.trusted]
        realms = [f"{k.realm} = {{\n    kdc = {k.address}:{k.port}\n}}" for k in known]
        domains = [f".{k.domain} = {k.realm}" for k in known if k.domain]
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                KRB5_CONF.format(
                    realm=self.realm,
                    more=more,
                    realms="\n".join(realms),
                    domains="\n".join(domains),
                )
            )
        os.chmod(path, 0o644)
        return path

    def run(self, *argv):
        done = subprocess.run(
            argv, env=self.env, capture_output=True, text=True, timeout=60, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"{argv}: {done.stdout} {done.stderr}")
        return done.stdout

    def admin(self, query):
        return self.run("kadmin.local", "-r", self.realm, "-q", query)

    def add(self, principal, *options):
        self.admin(" ".join(["addprinc", "-randkey", *options, principal]))

    def trust(self, other):
        """Principals of the other KDC's realm get tickets for services of this one."""
        for kdc, peer in ((self, other), (other, self)):
            kdc.admin(f"addprinc -pw between-realms krbtgt/{self.realm}@{other.realm}")
            kdc.trusted.append(peer)
            kdc.write_conf("krb5.conf")

    def keytab(self, name, *principals, uid=0):
        """Keys as they are, of mode 0400, in the KDC's directory or under an absolute name; the
        path."""
        path = os.path.join(self.root, name)
        for principal in principals:
            self.admin(f"ktadd -norandkey -k {path} {principal}")
        os.chmod(path, 0o400)
        os.chown(path, uid, uid)
        return path

    def log(self):
        try:
            with open(f"{self.root}/kdc.log", encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def logins(self, principal):
        """How many tickets it has given to the principal itself."""
        issued = rf"AS_REQ .* ISSUE: .* {re.escape(principal)} for krbtgt/"
        return len(re.findall(issued, self.log()))

    def start(self):
        began = self.log().count("commencing operation")
        self.process = subprocess.Popen(
            ["krb5kdc", "-n", "-r", self.realm],
            env=self.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for(
            lambda: self.log().count("commencing operation") > began
            or self.process.poll() is not None,
            30,
            "the KDC",
        )
        if self.process.poll() is not None:
            raise RuntimeError(f"krb5kdc: {self.log()}")

    def hold(self, held=True):
        """It accepts connections, and answers none, until it is let go."""
        self.process.send_signal(signal.SIGSTOP if held else signal.SIGCONT)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None
