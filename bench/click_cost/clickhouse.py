"""ClickHouse's engine behind the log of nginx: a child process loads the log in batches, with roll-ups like ours."""

from __future__ import annotations

import json
import subprocess
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from bench.harness.tools import environment

LOADER = Path(__file__).with_name("clickhouse_loader.py")
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
# As many as a batch of our drainer.
BATCH = 20_000


class Loaded(NamedTuple):
    """``seconds`` of processor time of the child, merges included; ``stored`` bytes of all tables."""

    clicks: int
    seconds: float
    stored: float


def json_log(file: Path) -> str:
    """nginx's directives for the log that `ClickHouse` loads."""
    return (
        'log_format clicks escape=json \'{"time":$msec,"link":"$uri","address":"$http_x_forwarded_for",'
        '"agent":"$http_user_agent","referrer":"$http_referer"}\';\n'
        f"access_log {file} clicks;"
    )


class ClickHouse:
    """The engine in a child process, with a database in ``folder``. It loads ``log``."""

    def __init__(self, folder: Path, log: Path) -> None:
        self._folder = folder
        self._log = log
        self._position = 0

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [environment(REQUIREMENTS), LOADER, self._folder / "clickhouse"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def forget_log(self) -> None:
        """Skip what is in the log now."""
        self._position = self._log.stat().st_size if self._log.exists() else 0

    def load(self) -> Loaded:
        """Load what the log got since, in batches."""
        paths = []
        with self._log.open() as log:
            log.seek(self._position)
            while batch := list(islice(log, BATCH)):
                path = self._folder / f"batch{len(paths)}.json"
                path.write_text("".join(batch))
                paths.append(path)
            self._position = log.tell()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(path) for path in paths]) + "\n")
        self._process.stdin.flush()
        return Loaded(**json.loads(self._process.stdout.readline()))
