"""The commands that documents give: lines of code blocks in README.md, CONTRIBUTING.md and docs/
that begin with a program's name. Who runs which is in tests/tools/documented-commands. A block of
commands that no test can run, or of something else, has

    <!-- not run: REASON -->

on a line of its own before it; a page of layouts and bytes has <!-- no commands on this page:
REASON -->. In a transcript, a block that begins with "$ ", the lines that begin so are commands."""
import glob
import os
import re
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = re.compile(r"\(?(?:sudo )?([a-z][a-z0-9_.-]*)( (?!=)|$)")
COMMENT = re.compile(r"\s+# .*$")
MARK = re.compile(r"<!-- not run: *(.*?) *-->")
ITEM = re.compile(r"(\d+\.|[-*]) ")
NONE = re.compile(r"<!-- no commands on this page: .+ .+ -->")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,}) *(\S*)")
SHELLS = ("", "sh", "bash", "console", "shell")
SHELL = 'sudo() { "$@"; }; set -eo pipefail; '  # the tests are root


def pages():
    return [
        f"{TOP}/README.md",
        f"{TOP}/CONTRIBUTING.md",
        *sorted(glob.glob(f"{TOP}/docs/**/*.md", recursive=True)),
    ]


class Page:
    """commands: without comments and sudo in front, lines that a backslash continues as one; wrong:
    marks that are none."""

    def __init__(self, path):
        self.path, self.commands, self.wrong = path, [], []
        self.mark, self.used, self.before, self.fence, self.shell, self.transcript, self.item = (
            None,
            False,
            "",
            None,
            False,
            None,
            False,
        )
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                self.line(number, line.rstrip("\n"))
                if NONE.fullmatch(line.rstrip("\n")):
                    return
        self.unmark("its end")

    def unmark(self, where):
        if self.mark is not None and not self.used:
            self.wrong.append(f'{where}: a mark "not run" without commands behind it')
        self.mark = None

    def line(self, number, line):
        fence = FENCE.match(line)
        if self.fence or fence:
            if not self.fence:
                self.fence, self.shell, self.transcript = fence[1], fence[2] in SHELLS, None
            elif fence and fence[1].startswith(self.fence) and not fence[2]:
                self.fence = None
            elif self.shell:
                self.code(line)
        elif line.startswith("    "):
            if (
                self.before or line[4] != " " or self.item and line[8:9] != " "
            ):  # deeper lines are no commands
                self.code(line)
        elif line.strip():
            self.before, self.transcript = "", None
            self.item = bool(ITEM.match(line)) or self.item and line.startswith(" ")
            self.unmark(f"line {number}")
            mark = MARK.fullmatch(line)
            if mark:
                self.mark, self.used = mark[1], False
                if len(mark[1].split()) < 2:
                    self.wrong.append(f'line {number}: a mark "not run" without a reason')

    def code(self, line):
        if self.transcript is None and line.strip():
            self.transcript = line.strip().startswith("$ ")
        if self.transcript and not line.removeprefix("    ").startswith("$ "):
            return
        text = self.before + COMMENT.sub("", line.strip().removeprefix("$ "))
        self.before = text[:-1] if text.endswith("\\") else ""
        if self.before or not PROGRAM.match(text):
            return
        self.used = True
        if self.mark is None:
            self.commands.append(re.sub(r"\s+", " ", text).removeprefix("sudo "))


def commands(page):
    return Page(page).commands


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
    return subprocess.run(
        ["bash", "-c", SHELL + command],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        **more,
    )
