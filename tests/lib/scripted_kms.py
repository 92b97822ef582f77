"""A Key Management Server of one process that answers what a test tells it, and the cipher of files
in encryption zones by the `openssl` command."""
import base64
import http.server
import json
import subprocess
import threading


def encrypt(data, key, iv):
    """AES/CTR/NoPadding of a whole file."""
    return subprocess.run(
        ["openssl", "enc", f"-aes-{8 * len(key)}-ctr", "-K", key.hex(), "-iv", iv.hex()],
        input=data,
        capture_output=True,
        check=True,
    ).stdout


def key_answer(key):
    """As a KMS 3.4.2: URL-safe base64 without padding."""
    text = base64.urlsafe_b64encode(key).decode().rstrip("=")
    return json.dumps({"versionName": "EK", "material": text}).encode()


def exception(name, message):
    return json.dumps(
        {"RemoteException": {"message": message, "exception": name, "javaClassName": "x." + name}}
    ).encode()


class Kms(http.server.ThreadingHTTPServer):
    """`answer`: (status, body), or a function of the handler that answers itself. `requests`:
    (path, token's header or None, fields of the body)."""

    daemon_threads = True

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.requests = answer, []
        self.done = threading.Event()  # for those that wait
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    def handle_error(self, request, client_address):
        pass  # the client has hung up

    @property
    def port(self):
        return self.server_address[1]

    def uri(self, hosts="127.0.0.1"):
        return f"kms://http@{hosts}:{self.port}/kms"

    def close(self):
        self.done.set()
        self.shutdown()
        self.server_close()
        self.thread.join()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        kind = self.headers["Content-Type"]
        self.server.requests.append(
            (self.path, self.headers["X-Hadoop-Delegation-Token"], {**body, "type": kind})
        )
        if callable(self.server.answer):
            self.server.answer(self)
        else:
            self.send(*self.server.answer)
