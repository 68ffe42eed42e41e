"""Writes the fields of a link for the editor, from the table of all fields: `make front`."""

from __future__ import annotations

from collections.abc import Iterable

from dashboard.files import FRONT
from links.fields import FIELDS, RESTRICTIONS, LinkField

MODULE = FRONT / "pages/editor/fields.js"


def module() -> str:
    """The text of the module. The editor asks for secrets apart, because the API never returns them."""
    fields = (field for field in FIELDS if not field.parts and not field.is_secret)
    return (
        "/** The kinds of the fields of a link. `make front` writes this module from links/fields.py. */\n\n"
        f"export const LINK_FIELDS = {_constant(fields)};\n"
        "/** The API nests these in `restrictions`. */\n"
        f"export const RESTRICTIONS = {_constant(RESTRICTIONS)};\n"
    )


def _constant(fields: Iterable[LinkField]) -> str:
    lines = "".join(f'    {field.name}: "{field.kind.name.lower()}",\n' for field in fields)
    return f"/** @type {{const}} */ ({{\n{lines}}})"


def main() -> None:
    MODULE.write_text(module())


if __name__ == "__main__":
    main()
