"""The commands that operators read: lines of code blocks in docs/operate that begin with a program's name. Who runs which is in
tests/tools/documented-commands."""
import glob
import os
import re
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = re.compile(r"\(?(?:sudo )?([a-z][a-z0-9_.-]*)( (?!=)|$)")
COMMENT = re.compile(r"\s+# .*$")
SHELL = 'sudo() { "$@"; }; set -eo pipefail; '  # the tests are root


def pages():
    return sorted(glob.glob(f"{TOP}/docs/operate/*.md"))


def commands(page):
    """Without comments and sudo in front; lines that a backslash continues are one."""
    found, before = [], ""
    with open(page, encoding="utf-8") as f:
        for line in f:
            block = line.startswith("    ") and (before or line[4] != " ")  # deeper lines are no commands
            text = before + COMMENT.sub("", line.strip()) if block else ""
            before = text[:-1] if text.endswith("\\") else ""
            if not before and PROGRAM.match(text):
                found.append(re.sub(r"\s+", " ", text).removeprefix("sudo "))
    return found


def table():
    """{command: (test, words)}."""
    rows = {}
    with open(f"{TOP}/tests/tools/documented-commands", encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                command, test, words = (cell.strip() for cell in (line + "¦").split("¦")[:3])
                rows[command] = (test, words or command)
    return rows


def commands_of(test):
    """In the order of the table."""
    return [command for command, (by, _) in table().items() if by == test]


def run(command, **more):
    return subprocess.run(["bash", "-c", SHELL + command], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, **more)
