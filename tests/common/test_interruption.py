from __future__ import annotations

import os
import signal

import pytest

from common import long_commands
from common.long_commands import Interruption


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
