"""Files that are either whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, cast

from .exits import USAGE, Failed


@contextmanager
def whole_file(path: Path, *, replace: bool = False) -> Iterator[BinaryIO]:
    """A file that appears under its name at the end of the block, unless an error ends it. Never an existing one,
    unless ``replace``.
    """
    if path.exists() and not replace:
        raise Failed(f"{path} exists. Choose another name, or delete it.", USAGE)
    if not path.absolute().parent.is_dir():
        raise Failed(f"{path.absolute().parent} is no folder.", USAGE)
    with NamedTemporaryFile(dir=path.absolute().parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            yield cast("BinaryIO", file)
            file.flush()
            # Its mode is 0600; a new file has that of the umask.
            umask = os.umask(0)
            os.umask(umask)
            Path(file.name).chmod(0o666 & ~umask)
            if replace:
                Path(file.name).replace(path)
            else:
                # Fails if somebody else has created it meanwhile.
                path.hardlink_to(file.name)
                Path(file.name).unlink()
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
