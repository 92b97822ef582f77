"""The line of `selvedge run` that is redrawn in place: cases of test-cli."""
import os
import re

from lib.terminal import OnTerminal

BRIEF = os.environ.get("SELVEDGE_CHECK") == "brief"  # one terminal with the line and one without

WAITS = "trap 'echo late; exit 0' TERM; echo early; while :; do sleep 0.05; done"


class ProgressLine:
    def __init__(self, says):
        self.says = says

    @staticmethod
    def start(c, *words, columns=80, term="xterm"):
        env = {**c.client_env(), **({"TERM": term} if term else {})}
        return OnTerminal(
            c.selvedge_argv("run", "-n", "3", "-m", "64m", *words, "--", WAITS), env, columns
        )

    def on_terminals(self, c):
        """Redrawn while the job goes on, never wider than the terminal; nothing of it stays, and no
        other line is hurt."""
        for columns, line in (
            (80, r"\[\.{20}\] 0 of 3 done, 3 running"),
            (24, r"0 of 3 done, 3 running"),
            (12, r"0 of 3 done"),
        )[: 1 if BRIEF else None]:
            job = self.start(c, columns=columns)
            try:
                job.until(r"\r" + line + r"\033\[K")
                for i in range(3):
                    job.until(rf"\[{i}\] early")
                self.says(
                    c.selvedge("stop", re.search(r"application_\d+_\d+", job.seen)[0]), 0, "is over"
                )
                code = job.end()
            finally:
                job.close()
            lines, wide = job.lines(), [text for text in job.drawn() if len(text) >= columns]
            assert code == 0 and not wide, (code, columns, wide)
            for i in range(3):
                assert lines.count(f"[{i}] early") == 1 and lines.count(f"[{i}] late") == 1, lines
            assert not [
                text for text in lines if "of 3 done" in text or "containers done" in text
            ], lines
            assert [text for text in lines if text.startswith("INSTANCE ")] and lines[-1].endswith(
                " succeeded"
            ), lines
            assert columns != 80 or [
                text
                for text in job.drawn()
                if re.fullmatch(r"\[#+\.*\] [123] of 3 done, \d running", text)
            ], job.seen

    def elsewhere(self, c):
        """Nothing of it where it is not wanted, or where there is no terminal that could draw
        it."""
        for words, term in (
            ([], "dumb"),
            (["--quiet"], "xterm"),
            (["--json"], "xterm"),
            ([], None),
        )[: 1 if BRIEF else None]:
            job = self.start(c, *words, "-N", "no line", term=term)
            try:
                job.until("early")
                app = next(
                    a
                    for a in c.rm_get("/ws/v1/cluster/apps?states=RUNNING")["apps"]["app"]
                    if a["name"] == "no line"
                )
                self.says(c.selvedge("stop", app["id"]), 0, "is over")
                code = job.end()
            finally:
                job.close()
            assert (
                code == 0
                and not job.drawn()
                and "\033[K" not in job.seen
                and "\r" not in job.seen.replace("\r\n", "\n")
            ), (words, term, job.seen)
            assert words or "of 3 containers done" in job.seen, job.seen
        done = c.selvedge("run", "-n", "2", "--", "echo x")
        assert (
            done.returncode == 0
            and "\r" not in done.stdout + done.stderr
            and "\033" not in done.stdout + done.stderr
        ), done
