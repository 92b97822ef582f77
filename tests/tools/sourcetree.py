"""The hand-written files of this tree, for the style checks: git's list or, without a git
repository or without git, every file outside the build directories."""
import os
import re
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def files(*endings):
    """Sorted paths below TOP that end with one of `endings`; without endings, all."""
    try:
        listed = subprocess.run(
            ["git", "-C", TOP, "ls-files", "-co", "--exclude-standard"],
            capture_output=True,
            text=True,
        )
        found = listed.stdout.split() if listed.returncode == 0 else walked()
    except FileNotFoundError:
        found = walked()
    return sorted(
        path
        for path in found
        if path.endswith(endings or "") and os.path.isfile(os.path.join(TOP, path))
    )


def walked():
    found = []
    for directory, below, names in os.walk(TOP):
        below[:] = [
            d
            for d in below
            if d not in (".git", "__pycache__") and not (directory == TOP and d.startswith("build"))
        ]
        found += [os.path.relpath(os.path.join(directory, name), TOP) for name in names]
    return found


def with_cases(program):
    """The texts of a test program and of the modules of its cases, cases/NAME.py beside it."""
    with open(program, encoding="utf-8") as file:
        texts = [file.read()]
    for name in re.findall(r"^from cases\.(\w+) import ", texts[0], re.M):
        with open(
            os.path.join(os.path.dirname(program), "cases", f"{name}.py"), encoding="utf-8"
        ) as file:
            texts.append(file.read())
    return texts
