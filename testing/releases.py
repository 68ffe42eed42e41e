"""The code of releases, and the migrations that they have frozen.

A released migration never changes, because databases have it. `make freeze`, which runs this module, records the
digests of all migrations before a release, and refuses to change those of the last one.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from shortener_project.running.schema import own_digests

REPOSITORY = Path(__file__).parents[1]
FROZEN = Path("tests/shortener_project/frozen_migrations.txt")
_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "var", "tests", "docs", "node_modules", "__pycache__", ".*_cache"
)
# What later versions may do to hosts of this one: a column that they do not fill, and a message that they do not know.
_MIGRATION = """
from django.db import migrations

class Migration(migrations.Migration):
    dependencies = [("links", "{last}")]
    operations = [migrations.RunSQL(r'''
        ALTER TABLE links_link ADD COLUMN upgrade_test text NOT NULL DEFAULT 'new';
        CREATE FUNCTION links_upgrade_test() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM pg_notify('destinations', 'later {{"link": ' || NEW.id || '}}');
            RETURN NULL;
        END $$;
        CREATE TRIGGER links_upgrade_test AFTER UPDATE ON links_link
            FOR EACH ROW EXECUTE FUNCTION links_upgrade_test();
    ''', "")]
"""
# It stores known links in another format, too.
_KNOWN_LINKS = Path("links/destinations/lookup.py"), "\nFORMAT = ", "\nFORMAT = 1000 + "


def last_tag(repository: Path = REPOSITORY) -> str | None:
    """The last release; None before the first one. Raises RuntimeError in a clone that may lack its tag."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=repository, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    tag = git("describe", "--tags", "--abbrev=0")
    # The changelog tells whether there is a release, whose tag a shallow clone lacks.
    is_released = re.search(r"^## \S+ - \d{4}-", (repository / "CHANGELOG.md").read_text(), re.MULTILINE)
    if not tag and is_released and git("rev-parse", "--is-shallow-repository") == "true":
        raise RuntimeError("This clone has no tags: git fetch --unshallow --tags")
    return tag or None


def code_of(tag: str, folder: Path) -> Path:
    archive = subprocess.run(["git", "archive", tag], cwd=REPOSITORY, capture_output=True, check=True).stdout
    folder.mkdir()
    subprocess.run(["tar", "--extract"], input=archive, cwd=folder, check=True)
    return folder


def code_of_next_version(folder: Path) -> Path:
    """This code with one more migration, which older code can run on, and another format of known links."""
    shutil.copytree(REPOSITORY, folder, ignore=_LEFT_OUT)
    last = max(name for app, name in own_digests() if app == "links")
    (folder / "links/migrations/9999_upgrade_test.py").write_text(_MIGRATION.format(last=last))
    path, former, following = _KNOWN_LINKS
    text = (folder / path).read_text()
    assert former in text
    (folder / path).write_text(text.replace(former, following))
    return folder


def frozen_digests(text: str) -> dict[str, str]:
    return dict(line.split() for line in text.splitlines() if not line.startswith("#"))


def released_digests(repository: Path = REPOSITORY) -> dict[str, str]:
    """Return the digests of the last release; none before the first one."""
    tag = last_tag(repository)
    if tag is None:
        return {}
    return frozen_digests(
        subprocess.run(
            ["git", "show", f"{tag}:{FROZEN}"], cwd=repository, capture_output=True, text=True, check=True
        ).stdout
    )


def changed(frozen: Mapping[str, str], current: Mapping[str, str]) -> list[str]:
    """The migrations that are missing now, or have another text."""
    return [name for name, digest in frozen.items() if current.get(name) != digest]


def current_digests() -> dict[str, str]:
    return {f"{app}.{name}": digest for (app, name), digest in own_digests().items()}


def main() -> None:
    if names := changed(released_digests(), current_digests()):
        raise SystemExit(f"Add a migration instead of changing a released one: {', '.join(names)}.")
    lines = [f"{name} {digest}" for name, digest in current_digests().items()]
    header = "# Digests of the released migrations, written by `make freeze` before each release."
    (REPOSITORY / FROZEN).write_text("\n".join([header, *lines, ""]))


if __name__ == "__main__":
    main()
