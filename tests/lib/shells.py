"""The completion scripts of bash, zsh and fish in their shells: a case of test-cli. Each completes
a command, an option, and the id of an application that runs."""
import os
import pty
import select
import shutil
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = f"{TOP}/packaging/completion"


def bash(c, *words):
    script = (
        f"source {SCRIPTS}/selvedge.bash; COMP_WORDS=(selvedge {' '.join(words)}); "
        f"COMP_CWORD={len(words)}; _selvedge; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    return subprocess.run(
        ["bash", "-c", script], env=c.client_env(), capture_output=True, text=True, timeout=60
    ).stdout


def fish(c, *words):
    line = " ".join(["selvedge", *words])
    done = subprocess.run(
        [
            "fish",
            "--no-config",
            "-c",
            f"source {SCRIPTS}/selvedge.fish; complete --do-complete '{line}'",
        ],
        env=c.client_env(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert not done.stderr, done
    return done.stdout


def zsh(c, lines):
    """Typed at a prompt with the tab key: zsh completes only there. `lines`: [(words, what it shows
    then)]; each is read until it does, and erased."""
    place = f"{c.root}/tmp/zsh"
    os.makedirs(place, exist_ok=True)
    shutil.copy(f"{SCRIPTS}/_selvedge", f"{place}/_selvedge")
    with open(f"{place}/.zshrc", "w", encoding="ascii") as f:
        f.write(
            f"fpath=({place} $fpath); autoload -Uz compinit; compinit -u -D; setopt no_beep; "
            "PS1='READY>'; LISTMAX=1000\n"
            "bindkey '^I' expand-or-complete\nbindkey '^U' kill-whole-line\n"
        )
    pid, master = pty.fork()
    if pid == 0:
        os.execvpe(
            "zsh",
            ["zsh", "-i"],
            {**c.client_env(), "ZDOTDIR": place, "TERM": "dumb", "COLUMNS": "200"},
        )

    def read_until(text):
        seen = ""
        while text not in seen:
            ready, _, _ = select.select([master], [], [], 60)
            assert ready, (text, seen)
            seen += os.read(master, 65536).decode(errors="replace")

    try:
        read_until("READY>")
        for words, wanted in lines:
            os.write(master, ("selvedge " + " ".join(words) + "\t").encode())
            read_until(wanted)
            os.write(master, b"\x15\r")  # an empty line: another prompt
            read_until("READY>")
    finally:
        os.close(master)
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def completions(c, app, skip):
    """With one application that runs, whose id alone begins so."""
    there = [name for name in ("zsh", "fish") if shutil.which(name)]
    for name in {"zsh", "fish"} - set(there):
        skip(f"completion of {name}", f"{name} is not installed: make deps")
    lines = [
        (("node", "deco"), "decommission"),
        (("kill", app[:-2]), app),
        (("top", "--cont"), "--containers"),
    ]
    for words, wanted in lines:
        assert wanted in bash(c, *words), words
        if "fish" in there:
            assert wanted in fish(c, *words), words
    if "zsh" in there:
        zsh(c, lines)
    if "fish" in there:
        assert "node" in fish(c, "").split() and "--sort" in fish(c, "top", "--").split()
