"""The layers of the tree, which check-includes and check-cycles enforce: components in order, and
inside a component its folders and single files in order. An entry may use those before it in its
list, never those behind it."""
import os

COMPONENTS = [
    "common",
    "wire",
    "gss",
    "cgroups",
    "executor",
    "setuid-helper",
    "hdfs",
    "fs",
    "registry",
    "localizer",
    "logs",
    "shuffle",
    "federation",
    "router",
    "nodemanager",
    "rm-lite",
    "client",
    "service",
]
# Folders of libraries that stand lower than their component: the component named here, and those
# behind it, may include them; they include what stands before it.
LOWER = {"service/definition": "client", "service/framework": "client"}
# Of a component with folders: a folder, a file at its top by name, or "." for all files there.
LAYERS = {
    "common": ". identity tls web ldap zookeeper",
    "wire": ". token sasl ipc",
    "federation": "hash store cache token-change policy amrm",
    "nodemanager": "conf store health labels core resources services logs aux-services launch rm"
    " amrmproxy federation fsm am exec web dbus recovery reload secure nm-parts nm-end nm-ports nm main",
    "rm-lite": "scheduler conf core store security fsm federation requests am nodes client admin"
    " web/rest web/proxy web/pages web periodic secure services rm main",
    "client": "http lib job ui core views logs run exec inspect local localize doctor config"
    " federation service framework commands command-table selvedge am",
    "service": "definition framework engine store api cluster launcher ha server am/facts am/launch"
    " am/check am/view am/serve am/framework am",
}


def layer_of(path):
    """(position, name) of the layer of COMPONENT/FILE, with or without its ending; None where its
    component has no table, (None, name) where the table has no such layer."""
    component, rest = path.split("/", 1)
    if component not in LAYERS:
        return None
    layers = LAYERS[component].split()
    folder = os.path.dirname(rest) or os.path.basename(rest).split(".")[0]
    if "/" not in rest and folder not in layers:
        folder = "."
    return (layers.index(folder) if folder in layers else None), folder
