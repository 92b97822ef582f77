"""A real MariaDB's files: the machine's, else Debian's packages unpacked below BUILD, so that
nothing is installed."""
import glob
import os
import shutil
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGES = ("mariadb-server-core", "mariadb-client-core")
LIBRARIES = ("libmariadb3", "liburing2", "libpmem1", "libndctl6", "libdaxctl1", "libsnappy1v5")


class Unavailable(Exception):
    """There is no MariaDB, and none can be downloaded."""


def files():
    """The directory in which usr/sbin/mariadbd is; "/": the machine's."""
    if shutil.which("mariadbd") and shutil.which("mariadb"):
        return "/"
    place = os.path.join(TOP, os.environ.get("BUILD") or "build", "mariadb")
    if os.path.exists(f"{place}/usr/sbin/mariadbd"):
        return place
    os.makedirs(place, exist_ok=True)
    try:
        subprocess.run(
            ["apt-get", "download", "-q", *PACKAGES, *LIBRARIES],
            cwd=place,
            check=True,
            capture_output=True,
            timeout=120,
        )
        for package in glob.glob(f"{place}/*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, place], check=True, capture_output=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise Unavailable(f"MariaDB is not installed and cannot be downloaded: {error}") from None
    return place
