"""Web servers of all kinds, one path each: HTTP that is right, that breaks off, lies and redirects,
S3 with its signatures, and WebHDFS. For test-localizer."""
import hashlib
import hmac
import http.server
import json
import os
import threading
import urllib.parse

from lib import hostile_archives
from lib.localizer_cases import STAMP

S3_SECRET = b"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
STAMP_HTTP = "Tue, 14 Nov 2023 22:13:20 GMT"
BROKEN = os.urandom(300000)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    requests = {}
    done = threading.Event()

    def handle_error(self, request, client_address):
        pass  # the client has hung up


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def send(self, status, body=b"", **headers):
        self.send_response_only(status)
        values = {"Content-Length": str(len(body)), "Connection": "close", **headers}
        for key, value in values.items():
            if value is not None:
                self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def signed(self, path):
        """Signature Version 4, computed again from the request as it came."""
        words = dict(
            word.split("=", 1)
            for word in self.headers.get("Authorization", "")
            .partition(" ")[2]
            .replace(",", " ")
            .split()
        )
        if not words:
            return "nothing"
        access, day, region, service, last = words["Credential"].split("/")
        names = words["SignedHeaders"].split(";")
        canonical = "\n".join(
            [
                "GET",
                path,
                "",
                *(f"{n}:{self.headers[n].strip()}" for n in names),
                "",
                ";".join(names),
                self.headers["x-amz-content-sha256"],
            ]
        )
        key = b"AWS4" + S3_SECRET
        for part in (day, region, service, last):
            key = hmac.digest(key, part.encode(), "sha256")
        text = "\n".join(
            [
                "AWS4-HMAC-SHA256",
                self.headers["x-amz-date"],
                f"{day}/{region}/{service}/{last}",
                hashlib.sha256(canonical.encode()).hexdigest(),
            ]
        )
        good = hmac.new(key, text.encode(), "sha256").hexdigest() == words["Signature"]
        return (
            f"{access} {region} {service} {'good' if good else 'bad'} "
            f"{self.headers.get('x-amz-security-token')}"
        )

    def s3(self, path):
        self.server.requests.setdefault("s3", []).append(
            (path, self.headers["Host"].partition(":")[0], self.signed(path))
        )
        if path.endswith("/denied"):
            self.send(403, b"<Error><Code>AccessDenied</Code></Error>")
        elif path.endswith("/elsewhere"):
            self.send(307, b"", Location=f"http://127.0.0.1:{self.server.server_address[1]}/good")
        else:
            self.send(200, b"object", Last_Modified=STAMP_HTTP, ETag='"e"')

    def broken(self, kind):
        """The first answer breaks off after half of the content; `kind` tells what the second one
        is like."""
        key, seen = self.path, self.server.requests
        wanted = self.headers.get("Range")
        seen.setdefault(key, []).append((wanted, self.headers.get("If-Range")))
        validators = {
            "etag": {"ETag": '"one"'},
            "weak": {"ETag": 'W/"one"', "Last_Modified": STAMP_HTTP},
            "none": {},
        }.get(kind, {"Last_Modified": STAMP_HTTP})
        if len(seen[key]) == 1 or kind == "twice":
            start = int(wanted[6:-1]) if wanted else 0
            left = BROKEN[start:]
            self.send(
                206 if wanted else 200,
                left[: len(left) // 2],
                Content_Length=str(len(left)),
                Content_Range=f"bytes {start}-{len(BROKEN) - 1}/{len(BROKEN)}" if wanted else None,
                **validators,
            )
        elif not wanted or kind == "ignored":
            self.send(200, BROKEN, **validators)
        elif kind == "refused":
            self.send(416, b"", **validators)
        else:
            start = int(wanted[6:-1]) + (1 if kind == "shifted" else 0)
            if kind == "other":
                validators = {"Last_Modified": "Tue, 14 Nov 2023 22:13:21 GMT"}
            self.send(
                206,
                BROKEN[start:],
                Content_Range=f"bytes {start}-{len(BROKEN) - 1}/{len(BROKEN)}",
                **validators,
            )

    def webhdfs(self, path, query):
        """A directory of two files and a directory, listed in two parts."""
        files = {"/dir/a": b"aa", "/dir/sub/c": b"ccc", "/dir/z": b""}
        if path == "/once":
            files[path] = BROKEN
        after = query.get("startAfter", [""])[0]

        def status(path, name=""):
            return {
                "pathSuffix": name,
                "type": "FILE" if path in files else "DIRECTORY",
                "length": len(files.get(path, b"")),
                "modificationTime": STAMP,
                "permission": "640" if path.startswith("/closed/") else "755",
                "encBit": path.startswith("/zone/"),
            }

        def answer(what):
            self.send(200, json.dumps(what).encode(), Content_Type="application/json")

        top = path.split("/")[1]
        files = {name.replace("/dir", "/" + top, 1): data for name, data in files.items()}
        if query["op"] == ["GETFILESTATUS"]:
            answer({"FileStatus": status(path)})
        elif query["op"] == ["OPEN"] and path == "/once":
            self.broken("none")
        elif query["op"] == ["OPEN"]:
            self.send(200, files[path])
        elif top == "endless":
            answer(
                {
                    "DirectoryListing": {
                        "partialListing": {"FileStatuses": {"FileStatus": []}},
                        "remainingEntries": 1,
                    }
                }
            )
        else:
            names = sorted(
                {
                    name[len(path) + 1 :].split("/")[0]
                    for name in files
                    if name.startswith(path + "/")
                }
            )
            names = [name for name in names if name > after]
            answer(
                {
                    "DirectoryListing": {
                        "partialListing": {
                            "FileStatuses": {
                                "FileStatus": [status(f"{path}/{name}", name) for name in names[:2]]
                            }
                        },
                        "remainingEntries": len(names[2:]),
                    }
                }
            )

    def do_GET(self):
        here = f"http://127.0.0.1:{self.server.server_address[1]}"
        stamp = STAMP_HTTP
        path = self.path.partition("?")[0]
        try:
            if path == "/good":
                self.send(200, b"hello", Last_Modified=stamp)
            elif path == "/no-time":
                self.send(200, b"hello")
            elif path == "/t.tgz":
                self.send(
                    200, hostile_archives.good_tar({"a/b": b"1"}, "w:gz"), Last_Modified=stamp
                )
            elif path == "/short":
                self.send(200, b"hello", Content_Length="50")
            elif path == "/long":
                self.send(200, b"hello and more than that", Content_Length="5")
            elif path == "/gzip":
                self.send(200, b"\x1f\x8b not unpacked", Content_Encoding="gzip")
            elif path == "/chunked":
                self.send(
                    200,
                    b"5\r\nhello\r\n0\r\n\r\n",
                    Content_Length=None,
                    Transfer_Encoding="chunked",
                )
            elif path.startswith("/bucket/") or self.headers["Host"].startswith("bucket."):
                self.s3(path)
            elif path.startswith("/webhdfs/v1/"):
                self.webhdfs(path[11:], urllib.parse.parse_qs(self.path.partition("?")[2]))
            elif path.startswith("/broken/"):
                self.broken(path[8:])
            elif path in ("/endless", "/drip", "/hang"):
                self.send_response_only(200)
                self.end_headers()
                self.wfile.flush()
                while not self.server.done.wait(0 if path == "/endless" else 0.05):
                    if path != "/hang":
                        self.wfile.write(b"x" * (65536 if path == "/endless" else 1))
                        self.wfile.flush()
            elif path == "/huge-header":
                self.send(200, b"hello", X="y" * 200000)
            elif path.startswith("/hops/"):
                n = int(path[6:])
                self.send(
                    302,
                    b"body of a redirect" * 1000,
                    Location=f"{here}/hops/{n - 1}" if n else f"{here}/good",
                )
            elif path == "/relative":
                self.send(301, Location="good")
            elif path.startswith("/to/"):
                self.send(
                    302,
                    Location={
                        "file": "file:///etc/passwd",
                        "https": "https://127.0.0.1:1/x",
                        "user": f"http://u:p@127.0.0.1:{self.server.server_address[1]}/good",
                        "metadata": "http://169.254.169.254/latest",
                        "gopher": "gopher://127.0.0.1/x",
                        "nowhere": None,
                    }[path[4:]],
                )
            elif path == "/error":
                self.send(500, b"x" * 100000)
            else:
                self.send(404, b"not here" * 1000)
        except OSError:
            pass  # the client has had enough
