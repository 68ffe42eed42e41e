"""The secret that the first start generates."""

import os
import stat
import subprocess
import sys
from pathlib import Path

from shortener_project.configuration import env
from testing.polling import DEADLINE
from tests.shortener_project.configuration.variables import refusal

PROJECT = Path(__file__).resolve().parents[3]


def test_secret_is_generated_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "var" / "deep" / "secret_key"
    before = os.umask(0)
    try:
        secret = env.secret_kept_at(path)
    finally:
        os.umask(before)
    assert len(secret) >= 50
    assert path.read_text() == secret + "\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["secret_key"]
    assert env.secret_kept_at(path) == secret


def test_secrets_of_two_installations_differ(tmp_path: Path) -> None:
    assert env.secret_kept_at(tmp_path / "a") != env.secret_kept_at(tmp_path / "b")


def test_existing_secret_is_used_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "secret_key"
    path.write_text("chosen by hand\n")
    assert env.secret_kept_at(path) == "chosen by hand"
    assert path.read_text() == "chosen by hand\n"


def test_unwritable_secret_raises_a_one_line_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "secret_key"
    assert refusal(lambda: env.secret_kept_at(path)) == f"Cannot store a secret at {path}: File exists."
    assert (
        refusal(lambda: env.secret_kept_at(tmp_path))
        == f"Cannot store a secret at {tmp_path}: Is a directory."
    )


def test_six_concurrent_processes_agree_on_one_secret(tmp_path: Path) -> None:
    """They wait for one another at a pipe, so that all are past their imports when the first begins."""
    path = tmp_path / "var" / "secret_key"
    code = (
        "import sys; from pathlib import Path; from shortener_project.configuration import env\n"
        "print('ready', flush=True); sys.stdin.read(); print(env.secret_kept_at(Path(sys.argv[1])))"
    )
    reading, writing = os.pipe()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path)], cwd=PROJECT, stdin=reading, stdout=subprocess.PIPE, text=True
        )
        for _ in range(6)
    ]  # fmt: skip
    os.close(reading)
    try:
        assert [process.stdout.readline() for process in processes if process.stdout] == ["ready\n"] * 6
    finally:
        os.close(writing)
    keys = {process.communicate(timeout=DEADLINE)[0].strip() for process in processes}
    assert keys == {path.read_text().strip()}
    assert [process.returncode for process in processes] == [0] * 6
    assert [file.name for file in path.parent.iterdir()] == ["secret_key"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
