"""gdb printers for YARN's ids and for times: in gdb, `source docs/develop/selvedge-gdb.py`.

    (gdb) print *c
    … id = container_e02_1700000000000_0007_01_000003 …
"""
import gdb
import gdb.printing

EPOCH_SHIFT = 40


def app(v):
    return f"{int(v['cluster_ts'])}_{int(v['id']):04d}"


def attempt(v):
    return f"{app(v['app'])}_{int(v['attempt']):02d}"


def container(v):
    number = int(v["id"])
    epoch = number >> EPOCH_SHIFT
    return (
        f"container_{f'e{epoch:02d}_' if epoch else ''}{attempt(v['attempt'])}_"
        f"{number & ((1 << EPOCH_SHIFT) - 1):06d}"
    )


TEXTS = {
    "yarn_app_id": lambda v: "application_" + app(v),
    "yarn_attempt_id": lambda v: f"appattempt_{app(v['app'])}_{int(v['attempt']):06d}",
    "yarn_container_id": container,
    "yarn_node_id": lambda v: f"{v['host'].string()}:{int(v['port'])}",
    "yarn_resource": lambda v: f"<memory:{int(v['memory_mb'])}, vCores:{int(v['vcores'])}, gpus:{int(v['gpus'])}>",
}


def printer(text):
    class Printer:
        def __init__(self, value):
            self.value = value

        def to_string(self):
            return text(self.value)

    return Printer


collection = gdb.printing.RegexpCollectionPrettyPrinter("selvedge")
for name, text in TEXTS.items():
    collection.add_printer(name, f"^{name}$", printer(text))
gdb.printing.register_pretty_printer(None, collection, replace=True)
