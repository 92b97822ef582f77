"""For tests/integration/client/test-tickets, as a user of a cluster with Kerberos, over the Python
binding:

  token_job.py tokens PRINCIPAL KEYTAB FILE   the ResourceManager's token, and those of fs.defaultFS
  token_job.py submit                         a job whose master is this program; prints its id
  token_job.py master                         serves one request at its tracking URL, asks for a
                                              ticket there, and ends with what it was given
"""
import http.server
import os
import sys
import threading

import selvedge

HERE = os.path.dirname(os.path.abspath(__file__))


class Asked(http.server.BaseHTTPRequestHandler):
    """A page that wants a ticket."""

    def do_GET(self):
        self.server.given.append(self.headers.get("Authorization", "nothing"))
        self.send_response(401)
        self.send_header("WWW-Authenticate", "Negotiate")
        self.send_header("Content-Length", "0")
        self.end_headers()


class Master(selvedge.Master):
    """Ends when its page was asked."""

    def __init__(self, loop, server):
        super().__init__(loop)
        self.server, self.sent = server, False

    def node(self, node):
        """Heartbeats bring it here as well; the end is looked for by run()."""


def master():
    server = http.server.HTTPServer(("localhost", 0), Asked)
    server.given = []
    loop = selvedge.Loop()
    job = Master(loop, server)
    job.register("", -1, f"http://localhost:{server.server_port}/")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    loop.run_until(lambda: bool(server.given))
    job.finish(True, f"given {' '.join(server.given)}; tokens {len(job.tokens)}")
    job.run()


def submit():
    names = ("token_job.py", "selvedge.py", "libselvedge-client.so.1")
    rm = selvedge.ResourceManager(selvedge.Loop())
    launch = selvedge.Launch(
        argv=["/usr/bin/python3", "token_job.py", "master"],
        files=[selvedge.File(name, f"file://{HERE}/{name}") for name in names],
        env={"LD_LIBRARY_PATH": ".", "PYTHONPATH": "."},
        tokens=rm.tokens(["yarn:"]),
    )
    print(rm.submit(launch, name="asks", type="SELVEDGE", memory_mb=256))


def tokens(principal, keytab, path):
    rm = selvedge.ResourceManager(selvedge.Loop(), principal=principal, keytab=keytab)
    with open(path, "wb") as f:
        f.write(rm.tokens(["yarn:", "/"]))


{"master": master, "submit": submit, "tokens": tokens}[sys.argv[1]](*sys.argv[2:])
