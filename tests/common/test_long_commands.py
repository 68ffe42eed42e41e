"""The progress of a long command, and what Ctrl-C does to it."""

from __future__ import annotations

import os
import pty
import signal
from collections.abc import Iterator
from io import StringIO
from typing import TextIO

import pytest

from common import long_commands
from common import long_commands as module
from common.long_commands import LINE_SECONDS, Interruption, Progress
from testing.clock import Clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module.time, "monotonic", clock)
    return clock


_END = "(end)"


class Terminal:
    """``stream`` writes to the terminal."""

    def __init__(self) -> None:
        self._reader, writer = pty.openpty()
        self.stream: TextIO = os.fdopen(writer, "w")

    def shown(self) -> str:
        """Return what was written since the last call."""
        self.stream.write(_END)
        self.stream.flush()
        shown = ""
        while not shown.endswith(_END):
            shown += os.read(self._reader, 65536).decode()
        return shown.removesuffix(_END)

    def close(self) -> None:
        self.stream.close()
        os.close(self._reader)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    terminal = Terminal()
    yield terminal
    terminal.close()


def test_a_terminal_shows_a_bar(terminal: Terminal) -> None:
    with Progress(terminal.stream, "import_links", unit="rows", total=200) as progress:
        progress.advance(50)
        progress._bar.refresh()
        shown = terminal.shown()
    assert "import_links:  25%|" in shown
    assert "| 50/200 [" in shown
    assert "\n" not in shown


def test_a_bar_without_a_total_shows_the_count(terminal: Terminal) -> None:
    with Progress(terminal.stream, "update_geodata", unit="downloaded", is_bytes=True) as progress:
        progress.advance(2_500_000)
        progress._bar.refresh()
        assert "update_geodata: 2.50MB [" in terminal.shown()
        progress.set_total(5_000_000)
        progress._bar.refresh()
        assert " 50%|" in terminal.shown()


def test_output_of_the_command_does_not_tear_the_bar(terminal: Terminal) -> None:
    with Progress(terminal.stream, "import_links", unit="rows", total=2) as progress:
        terminal.shown()
        progress.write(terminal.stream, "1: done\n")
        written = terminal.shown()
    assert written.rstrip().endswith("\r1: done")


def test_elsewhere_there_is_one_line_a_minute(clock: Clock) -> None:
    stream = StringIO()
    with Progress(stream, "import_links", unit="rows", total=600_000) as progress:
        for _ in range(300):
            clock.now += 1
            progress.advance(1_000)
    assert stream.getvalue().splitlines() == [
        f"import_links: {minute * 60},000 of 600,000 rows ({minute * 10} %), 1,000 a second"
        for minute in range(1, 6)
    ]
    assert LINE_SECONDS == 60


def test_a_line_without_a_total_has_the_count(clock: Clock) -> None:
    stream = StringIO()
    with Progress(stream, "update_geodata", unit="downloaded", is_bytes=True) as progress:
        clock.now += 60
        progress.advance(120_000_000)
    assert stream.getvalue() == "update_geodata: 120MB downloaded, 2.00MB a second\n"


def test_a_command_of_less_than_a_minute_writes_no_line(clock: Clock) -> None:
    stream = StringIO()
    with Progress(stream, "import_links", unit="rows") as progress:
        clock.now += 59.9
        progress.advance()
        progress.write(stream, "1: done\n")
    assert stream.getvalue() == "1: done\n"


def test_the_first_ctrl_c_is_noted_and_the_second_one_raises(capfd: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruption() as interruption:
        assert interruption.is_requested is False
        signal.raise_signal(signal.SIGINT)
        assert interruption.is_requested is True
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert capfd.readouterr().err == (
        "\nStopping after the current batch. Press Ctrl-C again to stop at once.\n"
    )


def test_ctrl_c_is_noted_even_if_standard_error_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    monkeypatch.setattr(long_commands, "STANDARD_ERROR", writer)
    try:
        with Interruption() as requested:
            signal.raise_signal(signal.SIGINT)
            assert requested.is_requested is True
    finally:
        os.close(writer)
