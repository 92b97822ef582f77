"""The framework of docs/frameworks.md as files of a user: train.json and the archive that it names,
from a directory of this machine in place of HDFS."""
import json
import os
import re
import shlex
import zipfile

from lib.documented import TOP

PAGE = f"{TOP}/docs/frameworks.md"
NAME = "ann~train"
SCRIPT = """env
echo "$TASK_ROLE_NAME-$TASK_INDEX: GPUs ${CONTAINER_GPUS:-not told}, ports $CONTAINER_PORTS"
echo DEVICES $(cd /dev; ls -d nvidia[0-9]* 2>/dev/null)
exec sleep 7777
"""


def page():
    with open(PAGE, encoding="utf-8") as f:
        return f.read()


def commands():
    """The words of each command of the page's first block, without `selvedge`."""
    block = re.search(r"((?:    selvedge framework .*\n)+)", page()).group(1)
    return [shlex.split(line, comments=True)[1:] for line in block.splitlines()]


def write(c, name, gpus=True):
    """Writes both into a new directory, and returns it."""
    place = f"{c.root}/services/{name}"  # which the framework's master sees, too
    os.mkdir(place, 0o755)
    text = re.search(r"```json\n(.*?)```", page(), re.S).group(1)
    archive = re.search(r'"hdfs://[^"]*/([^"/]+)"', text)
    with zipfile.ZipFile(f"{place}/{archive.group(1)}", "w") as z:
        z.writestr("run.sh", SCRIPT)
    body = json.loads(text.replace(archive.group(0), f'"file://{place}/{archive.group(1)}"'))
    if not gpus:
        for role in body["taskRoles"].values():
            role["taskService"]["resource"]["gpuNumber"] = 0
    with open(f"{place}/train.json", "w", encoding="ascii") as f:
        json.dump(body, f, indent=2)
    return place
