"""Packages of packaging/build-deb and build-rpm, and the rows of packaging/modes that they hold."""
import os
import subprocess
import sysconfig

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(TOP, os.environ.get("BUILD") or "build")
PLACES = {
    "${PREFIX}": "/usr",
    "${LIBDIR}": "/usr/lib64",
    "${PYTHONDIR}": sysconfig.get_path("purelib", "posix_prefix", vars={"base": "/usr"}),
    "${LIBEXECDIR}": "/usr/libexec/selvedge",
    "${SYSCONFDIR}": "/etc",
}


def tool(*argv, **more):
    done = subprocess.run(argv, capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise RuntimeError(
            f"{' '.join(argv)}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return done.stdout


def build(kind, top, output, version="0.1.0", **variables):
    """The packages of the build; `variables`: more of build-deb's environment."""
    tool(
        f"{top}/packaging/build-{kind}",
        output,
        env={
            **os.environ,
            "BUILD": os.path.join(top, "build") if top != TOP else BUILD,
            "VERSION": version,
            "SOURCE_DATE_EPOCH": "1700000000",
            **variables,
        },
        cwd=top,
    )
    found = sorted(os.path.join(d, f) for d, _, names in os.walk(output) for f in names)
    if len(found) < 5:
        raise AssertionError(f"{kind}: {found}")
    return found


def rows(optional=False):
    """PATH and [owner, group, mode] of every file that is always installed; of directories too, and
    of what may be missing, where `optional` says so."""
    with open(f"{TOP}/packaging/modes", encoding="utf-8") as table:
        lines = [line.split() for line in table if line.strip() and line[0] not in "#["]
    for path, owner, group, mode, source in lines:
        if optional or source[0] not in "?-":
            for name, value in PLACES.items():
                path = path.replace(name, value)
            yield path, [owner, group, int(mode, 8)]
