"""What a fork of `serve` changes about itself. Each case needs a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from testing.polling import DEADLINE

PROJECT = Path(__file__).resolve().parents[3]


def output_of(program: str, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=PROJECT,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


SHOW_TIMEOUTS = """
import json, django
from django.conf import settings
django.setup()
from django.db import connection
from shortener_project.running.commands import become
for command in ("drain_clicks", "gunicorn", "prepare_database"):
    import os
    pid = os.fork()
    if not pid:
        become(command)
        options = connection.get_connection_params()["options"].split(" -c ")
        named = dict(option.removeprefix("-c ").split("=", 1) for option in options)
        print(json.dumps([command, connection.settings_dict.get("RESPONSE_SECONDS"), *(named.get(name) for name in
            ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"))]), flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
"""


@pytest.mark.slow
def test_a_fork_has_the_database_timeouts_of_its_command(tmp_path: Path) -> None:
    lines = output_of(
        SHOW_TIMEOUTS,
        DJANGO_SETTINGS_MODULE="shortener_project.settings",
        DATABASE_URL="postgres://user:pass@db.example/links",
        SECRET_KEY="only-for-this-test-" + "abcdefgh" * 6,
        VAR_DIR=str(tmp_path),
    ).splitlines()

    assert [json.loads(line) for line in lines] == [
        ["drain_clicks", 61.0, "60000", "2000", "10000"],
        ["gunicorn", 3.0, "2000", "0", "10000"],
        ["prepare_database", None, None, "0", "60000"],
    ]


RENAME = """
import sys
from pathlib import Path
from common.host.processes import rename
rename(sys.argv[1] * int(sys.argv[2]))
print(Path("/proc/self/cmdline").read_bytes().rstrip(b"\\0"))
print(b"KEPT=yes" in Path("/proc/self/environ").read_bytes().split(b"\\0"))
"""


def test_the_name_of_a_fork_replaces_its_command_line() -> None:
    assert output_of(RENAME, "drain_clicks", "1", KEPT="yes") == "b'shortener\\x00drain_clicks'\nTrue\n"


def test_a_name_that_is_too_long_is_cut_and_the_environment_is_kept() -> None:
    shown, kept = output_of(RENAME, "x", "100000", KEPT="yes").splitlines()
    assert shown.startswith("b'shortener\\x00xxx")
    assert len(shown) < 2000
    assert kept == "True"
