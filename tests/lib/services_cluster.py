"""A test's cluster with the services API and masters of ours: keys and policy for it, with
definitions in a directory of this machine."""
from cluster.node import PLACE
from lib import services_api

# Masters write beside the definition, from within their containers.
POLICY = {"selvedge.sandbox.writable-paths": f"{PLACE}/services"}


def site(c):
    return services_api.site(c) | {
        "selvedge.service.master.program": f"{c.nodes[0].libexec}/selvedge-service-am"
    }
