"""A real Key Management Server of Hadoop on loopback, its keys in a file.

    with kms.Kms("3.4.2") as k, hdfs.Hdfs("3.4.2", site=k.site()) as h:

SecureKms takes tickets, in a secure cluster (interop/secure.py)."""
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cluster import conf  # noqa: E402
from cluster.host import free_port, wait_for  # noqa: E402
from interop import hadoop  # noqa: E402
from interop.hdfs import LOG4J  # noqa: E402

MAIN = "org.apache.hadoop.crypto.key.kms.server.KMSWebServer"
DENIED = "mallory"  # may not have a key decrypted
AUTHENTICATION = "hadoop.kms.authentication."
EVERYBODY = ("MANAGEMENT", "GENERATE_EEK", "DECRYPT_EEK", "READ")


class Kms:
    answer = 200  # to somebody without a ticket

    def __init__(self, version):
        hadoop.classes(version)
        self.version, self.port = version, free_port()
        self.root = tempfile.mkdtemp(prefix="selvedge-kms-", dir="/tmp")
        self.log, self.process = f"{self.root}/log", None

    @property
    def provider(self):
        """Of two servers, the first of which is not there."""
        return f"kms://http@127.0.0.2;127.0.0.1:{self.port}/kms"

    def site(self):
        """Keys of core-site.xml and hdfs-site.xml."""
        return {
            "hadoop.security.key.provider.path": self.provider,
            "dfs.encryption.key.provider.uri": self.provider,
        }

    @property
    def address(self):
        return "127.0.0.1"

    def core_site(self):
        return {"hadoop.tmp.dir": f"{self.root}/tmp"}

    def authentication(self):
        return {AUTHENTICATION + "type": "simple"}

    def _conf(self):
        where = f"{self.root}/conf"
        os.mkdir(where)
        conf.write_xml(f"{where}/core-site.xml", self.core_site())
        conf.write_xml(
            f"{where}/kms-site.xml",
            {
                "hadoop.kms.key.provider.uri": f"jceks://file{self.root}/keys",
                "hadoop.kms.http.host": self.address,
                "hadoop.kms.http.port": self.port,
                **self.authentication(),
            },
        )
        conf.write_xml(
            f"{where}/kms-acls.xml",
            {
                **{f"default.key.acl.{operation}": "*" for operation in EVERYBODY},
                "hadoop.kms.blacklist.DECRYPT_EEK": DENIED,
            },
        )
        with open(f"{where}/log4j.properties", "w", encoding="ascii") as f:
            f.write(LOG4J)
        return where

    def __enter__(self):
        try:
            self.start(self._conf())
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self, where=None):
        where = where or f"{self.root}/conf"
        argv = hadoop.java(
            self.version,
            MAIN,
            conf=where,
            options=[
                *hadoop.SHORT_LIVED,
                "-Xmx128m",
                "-XX:-UsePerfData",
                f"-Djava.io.tmpdir={self.root}",
                f"-Dkms.config.dir={where}",
                f"-Dkms.log.dir={self.root}",
                f"-Dlog4j.configuration=file:{where}/log4j.properties",
            ],
        )
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=self.root,
                env={**os.environ, "HADOOP_CONF_DIR": where, "HADOOP_LOG_DIR": self.root},
            )
        wait_for(self._answers, 120, "the KMS answers")

    def _answers(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"the KMS has ended: {self.tail()}")
        with contextlib.suppress(urllib.error.URLError, OSError):
            return self.status("/kms/v1/keys/names?user.name=root") == self.answer
        return False

    def status(self, path):
        try:
            url = f"http://{self.address}:{self.port}{path}"
            with urllib.request.urlopen(url, timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def tail(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return "".join(f.readlines()[-30:])

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __exit__(self, *_error):
        if self.process:
            self.kill()
        shutil.rmtree(self.root, ignore_errors=True)


class SecureKms(Kms):
    """`s`: a Secure. Its tokens live for RENEWED seconds unless they are renewed."""

    answer, RENEWED = 401, 20

    def __init__(self, s):
        super().__init__(s.settings.version)
        self.s = s

    @property
    def provider(self):
        return f"kms://http@{self.s.network.name}:{self.port}/kms"

    @property
    def address(self):
        return self.s.network.address

    def core_site(self):
        return {
            **super().core_site(),
            "hadoop.security.authentication": "kerberos",
            "hadoop.security.auth_to_local": self.s.auth_to_local(),
        }

    def authentication(self):
        return {
            AUTHENTICATION + "type": "kerberos",
            AUTHENTICATION + "kerberos.principal": self.s.service("HTTP"),
            AUTHENTICATION + "kerberos.keytab": self.s.keytab_of("HTTP"),
            AUTHENTICATION + "kerberos.name.rules": self.s.auth_to_local(),
            AUTHENTICATION + "delegation-token.renew-interval.sec": self.RENEWED,
        }
