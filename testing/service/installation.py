"""The processes and files of one installation: find them, kill them, remove them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from local_postgres import EmbeddedPostgres
from local_postgres.layout import Layout
from testing.polling import DEADLINE, eventually
from testing.service import processes
from testing.service.connection import Connection
from testing.service.forks import Fork


class Installation:
    """``folder`` contains all files, unless the database server needs others. ``process`` is the latest start."""

    process: subprocess.Popen[bytes] | Fork

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.var_dir = folder / "var"
        self.port = port
        self._started: list[subprocess.Popen[bytes] | Fork] = []
        # The pid of the start, and the inode of the socket on which it listens.
        self._listener: tuple[int, str] | None = None
        # The processes in the last list, each with the time of its start.
        self._listed_processes: set[tuple[int, str]] = set()

    def serve(self) -> int:
        """The pid of `manage.py serve`, which may run below make or below a sandbox."""
        candidates = [self.process.pid, *processes.descendants(self.process.pid)]
        # A sandbox has these words further back in its command line. A fork of the process comes after it in the list.
        words = [b"manage.py", b"serve"]
        return next(pid for pid in candidates if processes.command_line(pid)[1:3] == words)

    def gunicorn(self) -> int:
        """The pid of the web server's master."""
        (pid,) = eventually(lambda: processes.children(self.serve(), "gunicorn"))
        return pid

    def workers(self) -> list[int]:
        return processes.children(self.gunicorn())

    def accepting(self) -> list[int]:
        """The workers that accept connections; they hand connections to the others."""
        # `serve` keeps its socket. Finding it reads every connection of this machine, so do that once for each start.
        if self._listener is None or self._listener[0] != self.process.pid:
            inode = processes.listening_socket(self.port)
            if inode is None:
                return []
            self._listener = self.process.pid, inode
        inode = self._listener[1]
        return [pid for pid in self.workers() if processes.holds_socket(pid, inode)]

    def child(self, command: str) -> int:
        """The pid of the background process that runs this command of manage.py."""
        (pid,) = eventually(lambda: processes.children(self.serve(), command))
        return pid

    def postmaster(self) -> int | None:
        return EmbeddedPostgres(self.var_dir).pid

    def worker_of(self, connection: Connection) -> int | None:
        """The worker that has accepted the connection."""
        client_port = connection.sock.getsockname()[1]
        return processes.holder_of_connection(self.workers(), self.port, client_port)

    def processes(self) -> list[int]:
        """All living processes of this installation, including the database server.

        An ending process loses its memory, by which it is found, before its sockets and locks. So the list also has
        the processes of earlier calls until they are zombies.
        """
        layout = Layout(self.var_dir.resolve())
        variable = f"VAR_DIR={self.var_dir}".encode()
        data = os.fsencode(layout.data)
        title = f"postgres: {layout.cluster_name}: ".encode()
        pids = {pid for pid, start in self._listed_processes if processes.started_at(pid) == start}
        for pid in processes.existing():
            words = processes.command_line(pid) or [b""]
            if (
                variable in processes.environment(pid)
                or data in words
                or words[0].startswith(title)
                or (b"initdb" in words[0] and any(str(self.var_dir).encode() in word for word in words))
            ):
                pids.add(pid)
        self._listed_processes = {(pid, start) for pid in pids if (start := processes.started_at(pid))}
        return sorted(filter(processes.is_alive, pids))

    def kill_everything(self) -> None:
        """Kill all processes, including any that start meanwhile."""

        def nothing_lives() -> bool:
            remaining = self.processes()
            for pid in remaining:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return not remaining

        eventually(nothing_lives)
        self.process.wait(DEADLINE)

    def end(self) -> None:
        """Kill all processes and delete all files."""
        for process in self._started:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        started = time.monotonic()
        while remaining := self.processes():
            for pid in remaining:
                # An immediate shutdown frees the shared memory of the database; SIGKILL would leak it.
                is_immediate_shutdown = (
                    b"postgres" in (processes.command_line(pid) or [b""])[0]
                    and time.monotonic() - started < 5
                )
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGQUIT if is_immediate_shutdown else signal.SIGKILL)
            time.sleep(0.02)
        if (self.var_dir / "database_password").exists():
            # Both may be outside VAR_DIR.
            shutil.rmtree(Layout(self.var_dir).client_socket_dir, ignore_errors=True)
            shutil.rmtree((self.var_dir / "postgres").resolve(), ignore_errors=True)
        shutil.rmtree(self.folder)
