"""The ApplicationMaster of `selvedge run` as its options make it: cases of test-cli."""
import json
import os
import re


def script(c, name, text):
    path = os.path.join(c.user_dir(name), "master")
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/bash\n" + text)
    os.chmod(path, 0o755)
    return path


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def program(c):
    """--am-program: one of the user's own runs, in the place of ours, with its arguments and its
    logs."""
    ours = f"{c.prefix}/libexec/selvedge/selvedge-am"
    path = script(
        c,
        "good-master",
        f'echo "as ${{0##*/}} with $#" >&2; echo "$1" >"$1/own"; exec {ours} "$@"\n',
    )
    done = c.selvedge("run", "--am-program", path, "--", "echo from-the-container; exit 4")
    assert (done.returncode, done.stdout) == (4, "from-the-container\n"), done
    app = re.search(r"application_\d+_\d+", done.stderr)[0]
    master = app.replace("application", "container") + "_01_000001"
    logs = f"{c.nodes[0].log_dirs[0]}/{app}/{master}"
    assert read(f"{logs}/stderr").startswith("as selvedge-am with 1\n"), read(f"{logs}/stderr")
    assert read(f"{logs}/own") == logs + "\n", read(f"{logs}/own")

    path = script(c, "bad-master", "echo this-is-why >&2; exit 7\n")
    done = c.selvedge("run", "--am-program", path, "--", "true")
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and re.search(
        r"application_\S+ FAILED: .*exit.?code:? 7", last, re.I
    ), done


def memory(c):
    """--am-memory is what the ApplicationMaster's container gets, and no other."""
    for words, wanted in (([], 128), (["--am-memory", "320m"], 320)):
        done = c.selvedge("submit", "--quiet", "-m", "192m", *words, "--", "exec sleep 600")
        app = done.stdout.strip()
        attempt_id = app.replace("application", "appattempt") + "_000001"
        attempt = f"/ws/v1/cluster/apps/{app}/appattempts/{attempt_id}"

        def sizes():
            told = (c.rm_get(attempt + "/containers") or {}).get("container", [])
            told = told if isinstance(told, list) else [told]
            return {
                one["containerId"][-6:]: int(one["allocatedMB"])
                for one in told
                if one["containerState"] == "RUNNING"
            }

        try:
            c.wait(lambda: len(sizes()) == 2, 60, f"{app} has its containers")
            assert sizes() == {"000001": wanted, "000002": 192}, sizes()
            assert c.rm_get(f"/ws/v1/cluster/apps/{app}")["app"]["allocatedMB"] == wanted + 192
            assert json.loads(c.selvedge("ps", "-o", "json").stdout)[0]["memoryMb"] == wanted + 192
        finally:
            c.selvedge("kill", app)
