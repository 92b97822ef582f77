"""Keys, certificates and ssl-server.xml for a selvedge-shuffle with TLS, made by openssl."""
import contextlib
import os
import ssl
import subprocess

from cluster.conf import write_xml
from lib.shuffle_process import DAEMON

PASSWORD = "the password"


def openssl(root, *words, text=None):
    done = subprocess.run(["openssl", *words], cwd=root, capture_output=True, text=True, input=text)
    if done.returncode:
        raise RuntimeError(f"openssl {' '.join(words)}: {done.stderr}")
    return done.stdout


class Keys:
    """An authority, an intermediate one, and certificates for 127.0.0.1 that these sign, below a
    directory. `group`: that of the server's account. `hosts`: further names and addresses of the
    server."""

    def __init__(self, root, group=DAEMON, hosts=()):
        self.root, self.group = root, group
        self.names = ",".join(
            f"{'IP' if h.replace('.', '').isdigit() else 'DNS'}:{h}"
            for h in dict.fromkeys(("localhost", "127.0.0.1", *hosts))
        )
        os.mkdir(root)
        os.chmod(root, 0o755)
        self.make("root", "Root", None, authority=True)
        self.make("middle", "Middle", "root", authority=True)
        self.make("server", "localhost", "root", rsa=True)
        self.make("below", "localhost", "middle")
        self.make("client", "a reducer", "root")
        self.make("stranger", "a stranger", None)
        self.pkcs12("server", "root")
        self.trust("root")

    def path(self, name):
        return f"{self.root}/{name}"

    def owned(self, name, mode=0o640):
        """Root's, readable by the server's group as an operator's key is. Its path."""
        path = os.path.join(self.root, name)
        os.chown(path, 0, self.group)
        os.chmod(path, mode)
        return path

    def make(self, name, subject, signer, authority=False, rsa=False):
        kind = ["rsa:2048"] if rsa else ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        more = ["-CA", f"{signer}.crt", "-CAkey", f"{signer}.key"] if signer else []
        more += (
            ["-addext", "basicConstraints=critical,CA:TRUE"]
            if authority
            else ["-addext", f"subjectAltName={self.names}"]
        )
        openssl(
            self.root,
            "req",
            "-x509",
            "-newkey",
            *kind,
            "-nodes",
            "-keyout",
            f"{name}.key",
            "-out",
            f"{name}.crt",
            "-days",
            "2",
            "-subj",
            f"/CN={subject}",
            *more,
        )

    def make_expired(self, name, signer):
        """Only openssl's small authority writes times of one's own."""
        with open(self.path("ca.cnf"), "w", encoding="ascii") as f:
            f.write(
                f"[ca]\ndefault_ca=x\n[x]\ndatabase={self.root}/index\nserial={self.root}/serial\n"
                f"new_certs_dir={self.root}\n"
                "default_md=sha256\npolicy=p\nrand_serial=yes\n[p]\ncommonName=supplied\n"
            )
        with open(self.path("index"), "w", encoding="ascii"):
            pass
        openssl(
            self.root,
            "req",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-keyout",
            f"{name}.key",
            "-out",
            f"{name}.csr",
            "-subj",
            f"/CN={name}",
        )
        openssl(
            self.root,
            "ca",
            "-batch",
            "-notext",
            "-config",
            "ca.cnf",
            "-in",
            f"{name}.csr",
            "-out",
            f"{name}.crt",
            "-cert",
            f"{signer}.crt",
            "-keyfile",
            f"{signer}.key",
            "-startdate",
            "20200101000000Z",
            "-enddate",
            "20200102000000Z",
        )

    def pkcs12(self, name, *chain, password=PASSWORD, to=None):
        """NAME.p12 with its key."""
        if chain:
            self.join(f"{name}.chain", *(f"{c}.crt" for c in chain))
        openssl(
            self.root,
            "pkcs12",
            "-export",
            "-inkey",
            f"{name}.key",
            "-in",
            f"{name}.crt",
            "-out",
            to or f"{name}.p12",
            "-passout",
            f"pass:{password}",
            *(["-certfile", f"{name}.chain"] if chain else []),
        )
        return self.owned(to or f"{name}.p12")

    def join(self, to, *names):
        """One PEM file of several."""
        text = "".join(open(self.path(name), encoding="ascii").read() for name in names)
        with open(self.path(to), "w", encoding="ascii") as f:
            f.write(text)
        return self.owned(to)

    def trust(self, name):
        """NAME.trust: PKCS12 with the certificate alone."""
        openssl(
            self.root,
            "pkcs12",
            "-export",
            "-nokeys",
            "-in",
            f"{name}.crt",
            "-out",
            f"{name}.trust",
            "-passout",
            f"pass:{PASSWORD}",
        )
        return self.owned(f"{name}.trust", 0o644)

    def java_trust(self, name):
        """NAME.trust as Java takes it: it trusts only what its keytool has marked."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path(f"{name}.trust"))
        subprocess.run(
            [
                "keytool",
                "-importcert",
                "-noprompt",
                "-alias",
                name,
                "-file",
                self.path(f"{name}.crt"),
                "-keystore",
                self.path(f"{name}.trust"),
                "-storetype",
                "PKCS12",
                "-storepass",
                PASSWORD,
            ],
            check=True,
            capture_output=True,
        )
        return self.owned(f"{name}.trust", 0o644)

    def conf_dir(self, name="conf", **values):
        """A configuration directory with an ssl-server.xml; `values`: its keys without ssl.server.,
        dots as underscores."""
        path = self.path(name)
        os.makedirs(path, exist_ok=True)
        os.chmod(path, 0o755)
        site = {
            "keystore_location": self.path("server.p12"),
            "keystore_password": PASSWORD,
            "stores_reload_interval": 100,
            **values,
        }
        self.write("server", f"{path}/ssl-server.xml", site)
        return path

    def write(self, side, path, values):
        """ssl-server.xml or ssl-client.xml."""
        write_xml(path, {f"ssl.{side}.{k.replace('_', '.')}": v for k, v in values.items()})
        self.owned(path, 0o640 if side == "server" else 0o644)

    def context(self, client=None, versions=None, authority="root"):
        """A reducer's side."""
        c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        c.load_verify_locations(self.path(f"{authority}.crt"))
        if versions:
            c.minimum_version, c.maximum_version = versions
        if client:
            c.load_cert_chain(self.path(f"{client}.crt"), self.path(f"{client}.key"))
        return c
