"""Our master, started by our API server, driven by Hadoop's ServiceClient, which asks the master
itself (ClientAMProtocol) and changes the definition on the file system. Not here: its `-upgrade
-express`, which asks for UPGRADING_AUTO_FINALIZE, of any master."""
from interop import services
from interop.cases import service_life
from interop.service import Service

CASES = [
    "launched by `yarn app -launch`",
    "flexed to 4, to 1",
    "upgraded by component",
    "upgrade cancelled",
    "instance decommissioned",
    "stopped, started",
    "destroyed",
]


class Direct(Service):
    def cli(self, *words, conf=None):
        """ServiceClient would start Hadoop's master, and looks for components and instances that
        need an upgrade in the stored file, which never says it: these go to our API server."""
        some = words[1] == "-upgrade" and {"-components", "-instances"} & set(words)
        ours = some or words[1] in ("-launch", "-start")
        return super().cli(*words, conf=conf or (None if ours else self.c.direct_conf))


def run(report, c, row):
    service_life.run(report, c, f"{row}: ServiceClient", CASES, Direct, services.OURS)
