"""A WebHDFS of one process for uploads and reads of aggregated logs: NameNode and DataNode behind
one port, with faults."""
import http.server
import json
import socket
import ssl
import struct
import threading
import urllib.parse


class WebHdfs(http.server.ThreadingHTTPServer):
    """`files`: path -> bytes; `dirs`: path -> mode; `owners`: path -> (owner, group). `faults`: {operation: exception's name}; `cut`:
    bytes after which a DataNode closes the connection of the next write; `unread`: the exception
    with which it refuses writes, its answer lost when they have bytes. `certificate`: (certificate,
    key) of the name localhost, for TLS."""

    daemon_threads = True

    def __init__(self, certificate=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.name = "127.0.0.1"
        self.scheme = "http"
        if certificate:
            self.name, self.scheme = "localhost", "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.socket = context.wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False
            )  # but by its thread
        self.files, self.dirs, self.modes, self.faults, self.cut, self.elsewhere = (
            {},
            {"/": 0o755},
            {},
            {},
            None,
            None,
        )
        self.unread, self.owners = None, {}
        self.on_read = lambda path: None  # before a file's bytes are sent
        self.users = set()
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    @property
    def server(self):
        return f"{self.name}:{self.server_address[1]}"

    def close(self):
        self.shutdown()
        self.server_close()
        self.thread.join()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, what=None, **headers):
        body = (
            what if isinstance(what, bytes) else b"" if what is None else json.dumps(what).encode()
        )
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, exception, message):
        self.answer(
            status,
            {
                "RemoteException": {
                    "exception": exception,
                    "javaClassName": "x." + exception,
                    "message": message,
                }
            },
        )

    def status(self, path, name=""):
        h = self.server
        owner, group = h.owners.get(path, ("hdfs", "hadoop"))
        whose = {"owner": owner, "group": group}
        if path in h.files:
            return {
                **whose,
                "type": "FILE",
                "length": len(h.files[path]),
                "pathSuffix": name,
                "modificationTime": 1,
                "permission": f"{h.modes.get(path, 0o644):o}",
            }
        return {
            **whose,
            "type": "DIRECTORY",
            "length": 0,
            "pathSuffix": name,
            "modificationTime": 1,
            "permission": f"{h.dirs[path]:o}",
        }

    def body(self):
        """A chunked body; None: it was cut."""
        data = b""
        while True:
            n = int(self.rfile.readline() or b"0", 16)
            data += self.rfile.read(n)
            self.rfile.readline()
            if self.server.cut is not None and len(data) > self.server.cut:
                self.server.cut = None
                return None
            if n == 0:
                return data

    def redirect(self):
        base = self.server.elsewhere or f"{self.server.scheme}://{self.server.server}"
        self.answer(307, None, Location=f"{base}/data{self.path}")

    def handle_operation(self):
        h = self.server
        url = urllib.parse.urlsplit(self.path)
        query = {k: v[0] for k, v in urllib.parse.parse_qs(url.query).items()}
        data_node = url.path.startswith("/data/")
        path = urllib.parse.unquote(url.path)[len("/data" if data_node else "") :][
            len("/webhdfs/v1") :
        ]
        op = query["op"]
        h.users.add(query.get("user.name"))
        if op in h.faults:
            return self.refuse(403, h.faults[op], f"{op} of {path} is not to be\nmore lines")
        if op in ("OPEN", "CREATE") and not data_node:
            return self.redirect()
        return getattr(self, op.lower())(path, query)

    do_GET = do_PUT = do_DELETE = handle_operation

    def getfilestatus(self, path, _query):
        if path not in self.server.files and path not in self.server.dirs:
            return self.refuse(404, "FileNotFoundException", f"File does not exist: {path}")
        return self.answer(200, {"FileStatus": self.status(path)})

    def liststatus_batch(self, path, query):
        h = self.server
        if path not in h.dirs:
            return self.refuse(404, "FileNotFoundException", f"File {path} does not exist.")
        names = sorted(
            p[len(path) + 1 :]
            for p in [*h.files, *h.dirs]
            if p.startswith(path + "/") and "/" not in p[len(path) + 1 :]
        )
        names = [n for n in names if n > query.get("startAfter", "")]
        return self.answer(
            200,
            {
                "DirectoryListing": {
                    "partialListing": {
                        "FileStatuses": {
                            "FileStatus": [self.status(f"{path}/{n}", n) for n in names[:2]]
                        }
                    },
                    "remainingEntries": len(names[2:]),
                }
            },
        )

    def mkdirs(self, path, query):
        if path not in self.server.dirs:
            self.server.dirs[path] = int(query["permission"], 8) & 0o750
            self.server.owners[path] = (query.get("user.name"), "hadoop")
        return self.answer(200, {"boolean": True})

    def setpermission(self, path, query):
        self.server.dirs[path] = int(query["permission"], 8)
        return self.answer(200)

    def rename(self, path, query):
        self.server.files[query["destination"]] = self.server.files.pop(path)
        self.server.modes[query["destination"]] = self.server.modes.pop(path)
        return self.answer(200)

    def delete(self, path, query):
        h, found = self.server, self.server.files.pop(path, None) is not None
        if query["recursive"] == "true":
            for of in (h.files, h.dirs):
                for name in [n for n in of if n == path or n.startswith(path + "/")]:
                    found = of.pop(name) is not None
        return self.answer(200, {"boolean": found})

    def create(self, path, query):
        if self.server.unread:
            self.close_connection = True
            if "Transfer-Encoding" not in self.headers:
                return self.refuse(403, self.server.unread, f"CREATE of {path} is not to be")
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return None
        data = self.body()
        if data is None:
            self.close_connection = True
            return None
        self.server.files[path], self.server.modes[path] = data, int(query["permission"], 8)
        return self.answer(201, None, Location=f"webhdfs://{self.server.server}{path}")

    def open(self, path, query):
        self.server.on_read(path)
        data = self.server.files[path]
        at, n = int(query.get("offset", 0)), int(query.get("length", len(data)))
        return self.answer(200, data[at : at + n])
