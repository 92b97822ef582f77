"""Files that containers are given: from HDFS, WebHDFS and HTTP servers, under whose name, by which
caches, and how far they have come. Cases of test-nodemanager."""
import base64
import glob
import hashlib
import http.server
import json
import os
import subprocess
import threading

from lib import scripted_hdfs
from lib.driven_node import DrivenNode
from lib.nm_driver import container


class LocalizedFiles(DrivenNode):
    def hdfs(self):
        """A resource of HDFS, by the helper's sandbox: read under the submitter's name, PUBLIC
        under the daemon's."""
        data = b"content of HDFS" * 1000
        path = f"{self.c.root}/tmp/hdfs-file"
        with open(path, "wb") as f:
            f.write(data)
        datanode = scripted_hdfs.DataNode(scripted_hdfs.good(data))

        def status(request):
            mtime = os.stat(path).st_mtime_ns // 10**6
            return scripted_hdfs.status(
                len(data), mtime, *((2, 0o644) if request[1] == [b"/d/f"] else (1, 0o755))
            )

        def namenode(mode=None):
            return scripted_hdfs.NameNode(
                {
                    "getFileInfo": mode or status,
                    "getServerDefaults": scripted_hdfs.defaults(),
                    "getBlockLocations": scripted_hdfs.located(
                        len(data), [scripted_hdfs.block(0, len(data), [datanode.port])]
                    ),
                }
            )

        app, checked = (
            self.new_app(),
            f'test "\\$(sha256sum <got)" = "{hashlib.sha256(data).hexdigest()}  -"',
        )
        for n, visibility, user in ((1, 2, self.user), (2, 1, self.c.daemon.pw_name)):
            server = namenode()
            self.driver(f"resource {visibility} 2 got {path}")
            self.driver(f"from hdfs 127.0.0.1 {server.port} /d/f")
            self.driver.start(app, n, 1, self.user, checked)
            self.driver("resources none")
            self.expect_ends(1)
            row = self.driver.exits()[container(app, n)]
            server.close()
            assert row["exit"] == 0 and server.users == [user], (row, server.users)
        refused = namenode(
            scripted_hdfs.Exceptional(
                "org.apache.hadoop.security.AccessControlException",
                f"Permission denied: user={self.user}, access=READ",
            )
        )
        self.driver(f"resource 2 2 got {path}")
        self.driver(f"from hdfs 127.0.0.1 {refused.port} /d/f")
        self.driver.start(app, 3, 1, self.user, "true")
        self.driver("resources none")
        self.expect_ends(1)
        row = self.driver.exits()[container(app, 3)]
        assert (
            row["exit"] != 0
            and f"/d/f: 127.0.0.1:{refused.port}: getFileInfo: " in row["diagnostics"]
            and f"Permission denied: user={self.user}, access=READ" in row["diagnostics"]
        ), row
        refused.close()
        datanode.close()
        self.driver("finish", app)

    def caches_of_submitters(self):
        """One account runs everybody's applications, but caches and directories are the
        submitter's: what HDFS forbids bob he gets neither from alice's cache nor under a name that
        is a path."""
        self.node.process.stop()
        limit = "yarn.nodemanager.linux-container-executor.nonsecure-mode."
        self.node.site.update({limit + "limit-users": "true", limit + "local-user": self.user})
        self.node.start()
        self.driver.registered()
        data, path = b"alice's own", f"{self.c.root}/tmp/private-file"
        with open(path, "wb") as f:
            f.write(data)
        datanode = scripted_hdfs.DataNode(scripted_hdfs.good(data))
        good = scripted_hdfs.status(len(data), os.stat(path).st_mtime_ns // 10**6, 2, 0o600)
        forbidden = scripted_hdfs.Exceptional(
            "org.apache.hadoop.security.AccessControlException", "Permission denied: user=bob"
        )
        server = scripted_hdfs.NameNode(
            {
                "getFileInfo": lambda _: good if server.users[-1] == "alice" else forbidden,
                "getServerDefaults": scripted_hdfs.defaults(),
                "getBlockLocations": scripted_hdfs.located(
                    len(data), [scripted_hdfs.block(0, len(data), [datanode.port])]
                ),
            }
        )

        def localized(app, n, user):
            self.driver(f"resource 2 2 got {path}")  # PRIVATE, FILE
            self.driver(f"from hdfs 127.0.0.1 {server.port} /d/f")
            self.driver.start(app, n, 1, user, "(env; id -un; cat got) >$LOG_DIRS/said 2>&1")
            self.driver("resources none")
            self.expect_ends(1)
            return self.driver.exits()[container(app, n)]

        alices, bobs, ended = self.new_app(), self.new_app(), self.new_app()
        row = localized(alices, 1, "alice")
        with open(
            glob.glob(f"{self.node.log_dirs[0]}/*/{container(alices, 1)}/said")[0], encoding="utf-8"
        ) as f:
            said = f.read()
        lines = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
        app_dir = f"usercache/alice/appcache/application_1700000000000_{alices:04d}"
        wanted = {
            "USER": "alice",
            "LOGNAME": "alice",
            "LOCAL_DIRS": ",".join(f"{d}/{app_dir}" for d in self.node.local_dirs),
            "LOCAL_USER_DIRS": ",".join(f"{d}/usercache/alice/" for d in self.node.local_dirs),
        }
        assert {
            k: lines.get(k) for k in wanted
        } == wanted and f"{app_dir}/{container(alices, 1)}" in lines["PWD"], said
        assert "alice's own" in said and f"\n{self.user}\n" in said, said
        owners = {os.stat(f"{d}/usercache/alice").st_uid for d in self.node.local_dirs}
        assert (
            row["exit"] == 0 and server.users == ["alice"] and owners == {self.c.users[0].pw_uid}
        ), (row, server.users, owners)
        row = localized(bobs, 1, "bob")
        assert row["exit"] != 0 and "Permission denied: user=bob" in row["diagnostics"], row
        self.node.process.kill()
        self.node.start()
        self.driver.registered()
        row = localized(alices, 2, "alice")
        assert row["exit"] == 0 and server.users == ["alice", "bob"], (
            row,
            server.users,
        )  # once more from her cache
        for name in ("..", ".", ".x", "a/b", "../../x", "a" * 60 + "/", "-x"):
            answer = self.driver.start(bobs + 10, 1, 1, name, "true")
            assert (
                f"Invalid user name '{name}'"
                in answer["failed"][container(bobs + 10, 1)]["message"]
            ), (name, answer)
        for app in (alices, bobs):
            self.driver("finish", app)
        self.c.settle(20)
        self.node.process.stop()
        self.node.site[
            limit + "limit-users"
        ] = "false"  # another account is to own what is there now
        self.node.start()
        self.driver.registered()
        self.wait(
            lambda: not any(os.path.exists(f"{d}/usercache/alice") for d in self.node.local_dirs),
            20,
            "alice's directory is removed",
        )
        self.driver.start(ended, 1, 1, self.user, "true")
        self.expect_ends(1)
        assert self.driver.exits()[container(ended, 1)]["exit"] == 0
        self.driver("finish", ended)
        self.c.settle(20)
        server.close()
        datanode.close()

    def credentials_of_localization(self):
        """A WebHDFS server is told the job's token, until the ResourceManager has renewed it the
        renewed one; nobody else's, none for PUBLIC, and no file on the node but the job's own and
        the state store has one.
        """
        data, path, asked = b"with a token", f"{self.c.root}/tmp/token-file", []
        with open(path, "wb") as f:
            f.write(data)

        class WebHdfs(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                file, _, query = self.path.partition("?")
                query = dict(word.split("=", 1) for word in query.split("&"))
                asked.append((query["op"], query.get("delegation"), query.get("user.name")))
                is_dir = not file.endswith("/f")
                body = (
                    data
                    if query["op"] == "OPEN"
                    else json.dumps(
                        {
                            "FileStatus": {
                                "type": "DIRECTORY" if is_dir else "FILE",
                                "permission": "755" if is_dir else "644",
                                "length": 0 if is_dir else len(data),
                                "modificationTime": os.stat(path).st_mtime_ns // 10**6,
                            }
                        }
                    ).encode()
                )
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), WebHdfs)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]

        def token(word, service=f"127.0.0.1:{port}", kind="WEBHDFS delegation"):
            """(Credentials with it beside another server's, its text)"""
            text = lambda s: bytes([len(s)]) + s.encode()
            bare = text(word) + text("password") + text(kind) + text(service)
            other = text("another") + text("password") + text(kind) + text(f"127.0.0.2:{port}")
            return (
                b"HDTS\0\2" + text("b") + other + text("a") + bare + b"\0"
            ).hex(), base64.urlsafe_b64encode(bare).decode().rstrip("=")

        def told(app, n, visibility, tokens="none"):
            """Whom the server was told in a download that no other one has made."""
            asked.clear()
            self.driver(f"tokens {tokens}")
            self.driver(f"resource {visibility} 2 got {path}")
            self.driver(f"from webhdfs 127.0.0.1 {port} /{app}/{n}/f")
            self.driver.start(app, n, 1, self.user, "true")
            self.driver("resources none")
            self.driver("tokens none")
            self.expect_ends(1)
            row = self.driver.exits()[container(app, n)]
            assert row["exit"] == 0 and "OPEN" in {op for op, _, _ in asked}, (row, asked)
            who = {(delegation, user) for _, delegation, user in asked}
            assert len(who) == 1, asked
            return who.pop()

        app, other = self.new_app(), self.new_app()
        (first, first_text), (second, second_text) = token("first"), token("renewed")
        assert told(app, 1, 2) == (None, self.user)
        assert told(app, 2, 2, first) == (first_text, None)
        assert told(app, 3, 1, first) == (None, self.c.daemon.pw_name)
        assert told(app, 4, 2, token("elsewhere", "127.0.0.3:1")[0]) == (None, self.user)
        assert told(app, 5, 2, token("another kind", kind="HDFS_DELEGATION_TOKEN")[0]) == (
            None,
            self.user,
        )
        self.driver(f"renewed {app} {second}")
        self.driver("beats", 60000, 2)
        assert told(app, 6, 3, first) == (second_text, None)
        assert told(other, 1, 2, first) == (first_text, None)
        found = subprocess.run(
            ["grep", "-rlsa", "--exclude-dir=state", "renewed.password", self.node.dir],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        ).stdout.split()
        assert found and all(f.startswith(f"{self.node.dir}/recovery/") for f in found), found
        self.driver("renewed none")
        self.node.process.kill()
        self.node.start()
        self.driver.registered()
        assert told(app, 7, 2, first) == (second_text, None)
        for a in (app, other):
            self.driver("finish", a)
        self.c.settle(20)
        server.shutdown()
        server.server_close()

    def no_network(self):
        """network=none holds for localization, too: nothing is fetched from another machine, what
        has been is used."""
        files = {"/before": b"from before", "/later": b"for later"}
        asked = []

        class Files(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_response(200)
                self.send_header("Content-Length", str(len(files[self.path])))
                self.end_headers()
                self.wfile.write(files[self.path])

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Files)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        app = self.new_app()

        def localized(n, name, command):
            self.driver(f"resource 1 2 got {url}{name}")  # PUBLIC, FILE
            self.driver.start(app, n, 1, self.user, command)
            self.driver("resources none")
            self.expect_ends(1)
            return self.driver.exits()[container(app, n)]

        row = localized(1, "/before", 'test "$(cat got)" = "from before"')
        assert row["exit"] == 0 and asked == ["/before"], (row, asked)
        self.node.process.stop()
        self.node.site["selvedge.nodemanager.network"] = "none"
        self.node.start()
        self.driver.registered()
        row = localized(2, "/later", "true")
        assert (
            row["exit"] != 0
            and f"{url}/later is not fetched: selvedge.nodemanager.network is none"
            in row["diagnostics"]
        ), row
        row = localized(
            3,
            "/before",
            "test -s got && ! (exec 3<>/dev/tcp/127.0.0.1/%d)" % server.server_address[1],
        )
        assert row["exit"] == 0 and asked == ["/before"], (row, asked)
        self.node.process.stop()
        del self.node.site["selvedge.nodemanager.network"]
        self.node.start()
        self.driver.registered()
        row = localized(4, "/later", "test -s got")
        assert row["exit"] == 0 and asked == ["/before", "/later"], (row, asked)
        row = localized(5, "/before", "test -s got")
        cache = self.node.get("/ws/v1/node/info")["nodeInfo"]["selvedge"]["localization"]
        public = {
            key: cache["public"][key]
            for key in ("hits", "misses", "downloads", "failures", "evictions")
        }
        assert public == {
            "hits": 1,
            "misses": 1,
            "downloads": 1,
            "failures": 0,
            "evictions": 0,
        }, cache
        assert (
            cache["public"]["entries"] >= 2
            and cache["public"]["bytes"] >= 20
            and cache["private"]["hits"] == 0
        ), cache
        self.driver("finish", app)
        server.shutdown()
        server.server_close()

    def progress(self):
        """While a file is being fetched, REST says how much of it has come."""
        go = threading.Event()

        class Files(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(bytes(400))
                self.wfile.flush()
                go.wait(60)
                self.wfile.write(bytes(600))

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        app = self.new_app()
        self.driver(
            f"resource 3 2 got http://127.0.0.1:{server.server_address[1]}/f"
        )  # APPLICATION, FILE
        self.driver.start(app, 1, 1, self.user, "test $(stat -L -c %s got) = 1000")
        self.driver("resources none")

        def localization():
            return self.node.get(f"/ws/v1/node/containers/{container(app, 1)}")["container"][
                "selvedge"
            ].get("localization")

        self.wait(lambda: (localization() or {}).get("bytes") == 400, 20, "progress")
        seen = localization()
        assert (seen["resources"], seen["ready"], seen["totalBytes"]) == (1, 0, None), seen
        assert (
            seen["downloading"][0]["name"] == "got" and seen["downloading"][0]["bytes"] == 400
        ), seen
        go.set()
        self.expect_ends(1)
        assert self.driver.exits()[container(app, 1)]["exit"] == 0
        self.driver("finish", app)
        server.shutdown()
        server.server_close()
