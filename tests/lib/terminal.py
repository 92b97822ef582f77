"""A command on a pseudo-terminal: what it writes there, and what a person then sees of it."""
import fcntl
import os
import re
import select
import struct
import subprocess
import termios


class OnTerminal:
    """`argv` with stdout and stderr on a terminal of so many columns, with `keys` stdin too. `seen`
    is what it wrote so far."""

    def __init__(self, argv, env, columns=80, keys=False):
        self.master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        try:
            self.process = subprocess.Popen(
                argv,
                stdin=slave if keys else subprocess.DEVNULL,
                stdout=slave,
                stderr=slave,
                env=env,
                cwd="/",
            )
        finally:
            os.close(slave)
        self.seen = ""

    def read(self):
        """False at the end."""
        ready, _, _ = select.select([self.master], [], [], 60)
        if not ready:
            raise AssertionError(f"nothing more was written: {self.seen!r}")
        try:
            data = os.read(self.master, 65536)
        except OSError:  # the other side is closed
            data = b""
        self.seen += data.decode()
        return bool(data)

    def until(self, pattern):
        """Reads until `pattern` was written; its match."""
        while not re.search(pattern, self.seen):
            if not self.read():
                raise AssertionError(f"{pattern} was not written: {self.seen!r}")
        return re.search(pattern, self.seen)

    def type(self, keys):
        os.write(self.master, keys.encode())

    def end(self):
        """The exit code."""
        try:
            while self.read():
                pass
            return self.process.wait(60)
        finally:
            self.close()

    def close(self):
        if self.master >= 0:
            os.close(self.master)
        self.master = -1
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def drawn(self):
        """What stood in the line that is redrawn, each time."""
        return re.findall(r"\r([^\r\n]+)\033\[K", self.seen)

    def lines(self):
        """The lines as they stand on the terminal in the end, had it no limit of width."""
        found, line, column = [], "", 0
        for part in re.findall(r"\r|\n|\033\[K|[^\r\n\033]+|\033", self.seen):
            if part == "\r":
                column = 0
            elif part == "\n":
                found.append(line)
                line, column = "", 0
            elif part == "\033[K":
                line = line[:column]
            else:
                line = line[:column] + part + line[column + len(part) :]
                column += len(part)
        return found + [line] if line else found
