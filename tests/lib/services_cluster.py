"""A test's cluster with the services API and masters of ours: keys and policy for it, with
definitions in a directory of this machine."""
import os

from cluster.node import PLACE
from lib import services_api

# Masters write beside the definition, from within their containers.
POLICY = {"selvedge.sandbox.writable-paths": f"{PLACE}/services"}


def site(c):
    return services_api.site(c) | {
        "selvedge.service.master.program": f"{c.nodes[0].libexec}/selvedge-service-am"
    }


def frameworks(c, port):
    """Keys for the FrameworkLauncher at the services API's port, with its store."""
    os.mkdir(f"{c.root}/frameworks", 0o700)
    return {
        "selvedge.framework.enabled": "true",
        "selvedge.framework.web-server-address": f"http://{c.address}:{port}",
        "selvedge.framework.state-dir": f"{c.root}/frameworks",
        "selvedge.rm.webapp.put.enabled": "true",
    }
