"""Certificates of "localhost" for test servers, and certificate authorities that this machine
trusts for the time of a test: in the test's private mount namespace."""
import os
import subprocess

BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
)  # of Debian and Fedora


replaced = set()  # of these


def certificates(root, of="DNS:localhost"):
    """{name: (certificate, key)}: "good", signed by the authority "ca" of the same directory, and
    "unknown", signed by itself. `of`: their alternative name."""

    def request(name, subject, *more):
        done = subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
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
            ],
            cwd=root,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise RuntimeError(f"openssl: {done.stderr}")

    name = ("-addext", f"subjectAltName={of}")
    request("ca", "Test CA")
    request("good", "localhost", *name, "-CA", "ca.crt", "-CAkey", "ca.key")
    request("unknown", "localhost", *name)
    return {n: (f"{root}/{n}.crt", f"{root}/{n}.key") for n in ("good", "unknown")}


def trust(root, name):
    """Adds the certificate `name` of the directory to the machine's."""
    bundles = [b for b in BUNDLES if os.path.isfile(b)]
    if not bundles:
        raise RuntimeError("this machine has no file of certificate authorities")
    for i, bundle in enumerate(bundles):
        with open(bundle, "rb") as old, open(f"{root}/{name}.crt", "rb") as own, open(
            f"{root}/{name}.bundle{i}", "wb"
        ) as new:
            new.write(old.read() + own.read())
        if bundle in replaced:
            subprocess.run(["umount", bundle], check=True)
        replaced.add(bundle)
        subprocess.run(["mount", "--bind", f"{root}/{name}.bundle{i}", bundle], check=True)
