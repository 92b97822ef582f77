"""A real nginx on loopback, as an ordinary account: a master and one worker, which a test may
kill."""
import glob
import os
import shutil
import subprocess

from cluster.host import free_port, wait_for

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CONF = """daemon off;
worker_processes 1;
error_log {root}/error.log;
pid {root}/pid;
events {{ worker_connections 64; }}
http {{
    log_format seen escape=none '$status $request_method $request_uri range=$http_range if-range=$http_if_range accepts=$http_accept_encoding';
    access_log {root}/access.log seen;
    default_type application/octet-stream;
    client_body_temp_path {root}/body; proxy_temp_path {root}/proxy; fastcgi_temp_path {root}/fastcgi;
    uwsgi_temp_path {root}/uwsgi; scgi_temp_path {root}/scgi;
    server {{
        listen 127.0.0.1:{port};
        {tls}
        root {files};
        {locations}
    }}
}}
"""


class Unavailable(Exception):
    """There is no nginx, and none can be downloaded."""


def program():
    """Its path: the machine's, else Debian's package unpacked below BUILD, so that no service is
    installed."""
    found = shutil.which("nginx")
    place = os.path.join(TOP, os.environ.get("BUILD") or "build", "nginx")
    unpacked = os.path.join(place, "usr", "sbin", "nginx")
    if found or os.path.exists(unpacked):
        return found or unpacked
    os.makedirs(place, exist_ok=True)
    try:
        subprocess.run(
            ["apt-get", "download", "-q", "nginx"],
            cwd=place,
            check=True,
            capture_output=True,
            timeout=120,
        )
        for package in glob.glob(f"{place}/nginx_*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, place], check=True, capture_output=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise Unavailable(f"nginx is not installed and cannot be downloaded: {error}") from None
    return unpacked


class Nginx:
    """`files`: the directory that it serves. `certificate`: (certificate, key) for https.
    `locations`: more of its configuration."""

    def __init__(self, root, files, locations="", certificate=None):
        self.root, self.port = root, free_port()
        os.mkdir(root)
        os.chmod(root, 0o755)
        tls = (
            "ssl_certificate {}; ssl_certificate_key {};".format(*certificate)
            if certificate
            else ""
        )
        listen = f"{self.port} ssl" if certificate else self.port
        with open(f"{root}/conf", "w", encoding="ascii") as f:
            f.write(CONF.format(root=root, port=listen, tls=tls, files=files, locations=locations))
        self.process = subprocess.Popen(
            [program(), "-p", root, "-e", f"{root}/error.log", "-c", f"{root}/conf"],
            stdin=subprocess.DEVNULL,
        )
        wait_for(self.workers, 30, "nginx starts")

    def workers(self):
        if self.process.poll() is not None:
            with open(f"{self.root}/error.log", encoding="utf-8") as f:
                raise RuntimeError(f"nginx has ended: {f.read()[-1000:]}")
        with open(
            f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii"
        ) as f:
            return [int(pid) for pid in f.read().split()]

    def seen(self, path):
        """Its log of the requests for a path."""
        with open(f"{self.root}/access.log", encoding="utf-8") as f:
            return [line.rstrip("\n") for line in f if line.split()[2] == path]

    def close(self):
        self.process.terminate()
        self.process.wait()
