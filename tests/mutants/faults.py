"""Faults that tests/mutants/run plants in the sources, one at a time. They are in groups,
tests/mutants/SUBJECT.faults or SUBJECT-TOPIC.faults; a fault is, up to an empty line,

    Fault: title
    File: path
    Tests: the tests that must notice it, blanks between them
    - a part of the file that occurs in it exactly once, of whole lines or not
    + what stands in its place

More "-" and "+" lines change another part; a "File:" line before them says of which other file.
Lines that begin with "#" are comments."""
import os

HERE = os.path.dirname(os.path.abspath(__file__))


class Stale(Exception):
    """The sources are no longer those that the fault was made for."""


class Fault:
    def __init__(self, lines):
        self.title, self.tests, self.changes = "", [], []  # changes: [file, old lines, new lines]
        file, last = None, "+"
        for line in lines:
            if line[0] in "+-":
                if last == "+" and line[0] == "-":
                    self.changes.append([file, [], []])
                last = line[0]
                self.changes[-1]["-+".index(last) + 1].append(line[2:])
                continue
            name, _, value = line.partition(": ")
            if name == "File":
                file = value
            elif name == "Tests":
                self.tests = value.split()
            elif name == "Fault":
                self.title = value
            else:
                raise SystemExit(f"{self.title}: what is {line!r}?")
        self.files = list(dict.fromkeys(file for file, _, _ in self.changes))
        if not (self.title and self.tests and self.changes and all(map(all, self.changes))):
            raise SystemExit(f"{lines[0]}: a fault has a file, tests, and both - and + lines")

    def planted(self, top):
        """{file: its text with the fault}."""
        texts = {}
        for file, *parts in self.changes:
            old, new = map("\n".join, parts)
            try:
                with open(f"{top}/{file}", encoding="utf-8") as source:
                    text = texts.get(file) or source.read()
            except FileNotFoundError:
                raise Stale(f"there is no file {file}") from None
            if text.count(old) != 1:
                raise Stale(f"{file} has {text.count(old)} times: {old}")
            texts[file] = text.replace(old, new)
        return texts


def groups(names):
    """Paths of the groups whose names begin with one of these; of all for none."""
    every = sorted(name for name in os.listdir(HERE) if name.endswith(".faults"))
    return [f"{HERE}/{name}" for name in every if not names or name.startswith(tuple(names))]


def read(path):
    with open(path, encoding="utf-8") as file:
        text = "".join(line for line in file if not line.startswith("#"))
    return [Fault(block.splitlines()) for block in text.strip().split("\n\n")]
