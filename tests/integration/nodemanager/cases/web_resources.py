"""Resources of web servers by http and https, with certificates that the machine knows and others.
Cases of test-real-settings."""
import contextlib
import functools
import http.server
import os
import ssl
import subprocess
import threading

from lib.worker_machine import NODE_ADDRESS, WorkerMachine

BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
)  # of Debian and Fedora


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class WebResources(WorkerMachine):
    def fetched(self, scheme, host_name, port, path, source):
        """The row of a container whose one file, like `source`, is fetched from there; it ends with
        0 if it has the content."""
        app = self.new_app()
        self.driver("resource", 2, 2, "it", source)  # PRIVATE, a FILE
        self.driver("from", scheme, host_name, port, path)
        row = self.one('test "$(cat it)" = content', app)
        self.driver("resources", "none")
        self.driver("finish", app)
        return row

    def without_a_scheme(self):
        """A URL without a scheme is a file of fs.defaultFS."""
        source = self.served("plain")
        self.restart()
        row = self.fetched("-", "-", 0, source, source)
        assert row["exit"] == 0, row
        with self.web_server() as port:
            self.restart({"fs.defaultFS": f"http://{NODE_ADDRESS}:{port}/"})
            row = self.fetched("-", "-", 0, "/plain", source)
            assert row["exit"] == 0, row
        self.restart({"fs.defaultFS": "gs://bucket/base"})
        self.driver("resource", 2, 2, "it", source)
        self.driver("from", "-", "-", 0, "/user/x")
        answer = self.driver.start(self.new_app(), 1, 1, self.user, "true")
        self.driver("resources", "none")
        words = list(answer["failed"].values())[0]["message"]
        assert "gs://bucket/user/x" in words, words

    def served(self, name):
        place = f"{self.c.root}/tmp/served"
        os.makedirs(place, 0o755, exist_ok=True)
        path = f"{place}/{name}"
        with open(path, "w", encoding="ascii") as f:
            f.write("content\n")
        os.utime(path, (1700000000, 1700000000))  # Last-Modified has seconds
        os.chmod(path, 0o644)
        return path

    @contextlib.contextmanager
    def web_server(self, certificate=None):
        """Serves the files of served(); with a certificate by HTTPS."""
        handler = functools.partial(Quiet, directory=f"{self.c.root}/tmp/served")
        server = http.server.ThreadingHTTPServer((NODE_ADDRESS, 0), handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(f"{certificate}.crt", f"{certificate}.key")
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def certificates(self):
        """A certificate authority of the test's own, which this machine trusts, and what it has
        signed."""
        place = f"{self.c.root}/tls"
        os.mkdir(place, 0o700)

        def openssl(*words):
            done = subprocess.run(["openssl", *words], cwd=place, capture_output=True, text=True)
            assert done.returncode == 0, (words, done.stderr)

        def request(name, host_name, *more):
            openssl(
                "req",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-keyout",
                f"{name}.key",
                "-subj",
                f"/CN={host_name}",
                "-addext",
                f"subjectAltName=DNS:{host_name}",
                *more,
            )

        request("ca", "Test CA", "-x509", "-out", "ca.crt", "-days", "2")
        with open(f"{place}/ca.cnf", "w", encoding="ascii") as f:
            f.write(
                "[ca]\ndefault_ca=x\n[x]\ndatabase=index\nnew_certs_dir=.\ncertificate=ca.crt\n"
                "private_key=ca.key\n"
                "rand_serial=yes\ndefault_md=sha256\npolicy=p\ncopy_extensions=copy\n"
                "unique_subject=no\n"
                "[p]\ncommonName=supplied\n"
            )
        with open(f"{place}/index", "w", encoding="ascii"):
            pass
        for name, host_name, start, end in (
            ("valid", "worker7.example", "20200101000000Z", "20990101000000Z"),
            ("expired", "worker7.example", "20200101000000Z", "20200201000000Z"),
            ("other", "other.example", "20200101000000Z", "20990101000000Z"),
        ):
            request(name, host_name, "-out", f"{name}.csr")
            openssl(
                "ca",
                "-batch",
                "-notext",
                "-config",
                "ca.cnf",
                "-in",
                f"{name}.csr",
                "-out",
                f"{name}.crt",
                "-startdate",
                start,
                "-enddate",
                end,
            )
        request("own", "worker7.example", "-x509", "-out", "own.crt", "-days", "2")
        with open(f"{place}/ca.crt", encoding="ascii") as f:
            authority = f.read()
        bundles = [b for b in BUNDLES if os.path.isfile(b)]
        assert bundles, "this machine has no file of certificate authorities"
        for bundle in bundles:
            with open(bundle, "a", encoding="ascii") as f:
                f.write(authority)
        return place

    def https(self):
        """In the localizer's sandbox: only a certificate of a trusted authority, valid now and for
        that name, will do."""
        source = self.served("secret")
        place = self.certificates()
        self.restart()
        for name, words in (
            ("valid", None),
            ("expired", "certificate"),
            ("other", "certificate"),
            ("own", "certificate"),
        ):
            with self.web_server(f"{place}/{name}") as port:
                row = self.fetched("https", "worker7.example", port, "/secret", source)
            if words:
                assert row["exit"] == -1000 and words in row["diagnostics"], (name, row)
            else:
                assert row["exit"] == 0, (name, row)
