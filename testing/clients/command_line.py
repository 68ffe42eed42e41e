"""The program ``shorten``."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
from pathlib import Path
from typing import NamedTuple

from testing.polling import DEADLINE, eventually


class Done(NamedTuple):
    code: int
    out: str
    err: str


class Shorten:
    """The program of one user, whose home is empty at first."""

    def __init__(self, program: Path, home: Path) -> None:
        self._program = program
        self.home = home
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "TERM": "xterm"}

    def __call__(self, *words: str | Path, stdin: str = "", **variables: str) -> Done:
        done = subprocess.run(
            [self._program, *words],
            input=stdin,
            cwd=self.home,
            env=self.environment | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=DEADLINE,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def in_terminal(self, *words: str, answers: dict[str, str], **variables: str) -> tuple[int, str]:
        """Run it in a terminal of 100 columns, and enter each answer when its question appears. Returns the exit code
        and the whole screen.
        """
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.home)
            os.execve(  # noqa: S606 # without a shell
                self._program,
                [str(self._program), *words],
                self.environment | {"COLUMNS": "100"} | variables,
            )
        screen = Screen(terminal)
        try:
            for question, answer in answers.items():
                eventually(lambda question=question: question in screen.text())
                os.write(terminal, f"{answer}\n".encode())
            code = os.waitstatus_to_exitcode(eventually(lambda: screen.ended(pid))[1])
        except BaseException:
            os.kill(pid, signal.SIGKILL)
            raise
        finally:
            text = screen.text()
            os.close(terminal)
        return code, text


class Screen:
    """What a program has written to its terminal."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._written = b""

    def text(self) -> str:
        while select.select([self._terminal], [], [], 0)[0]:
            try:
                written = os.read(self._terminal, 65536)
            except OSError:
                # Linux: the program has closed the terminal.
                break
            if not written:
                break
            self._written += written
        return self._written.decode()

    def ended(self, pid: int) -> tuple[int, int] | None:
        # A program that nobody reads would wait.
        self.text()
        found, status = os.waitpid(pid, os.WNOHANG)
        return (found, status) if found else None
