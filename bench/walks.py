"""python -m bench.walks: pictures of the walks through the dashboard for docs/walks, in every language and size."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from bench.harness.results import PROJECT_DIR

FOLDER = PROJECT_DIR / "docs/walks"
# On a sheet, desktops are above phones.
_WIDTHS = {"1280": 480, "390": 240}
_GAP = 16


def main() -> None:
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "tests/dashboard/walks", "--quiet", "--numprocesses", "auto"],
            cwd=PROJECT_DIR,
            env={**os.environ, "WALK_PICTURES": folder},
            check=False,
        )
        if done.returncode:
            sys.exit(done.returncode)
        pictures: dict[str, list[Path]] = {}
        for picture in sorted(Path(folder).glob("*.png")):
            pictures.setdefault(picture.name.partition(".")[0], []).append(picture)
        FOLDER.mkdir(exist_ok=True)
        for name, parts in pictures.items():
            path = FOLDER / f"{name}.webp"
            sheet(parts).save(path, quality=80)
            print(f"{path.relative_to(PROJECT_DIR)}: {path.stat().st_size:,} bytes")


def sheet(pictures: list[Path]) -> Image.Image:
    """All pictures of a screen, whose names end in language, width and scheme."""
    rows = [
        [_scaled(Image.open(picture), width) for picture in pictures if f"-{size}-" in picture.name]
        for size, width in _WIDTHS.items()
    ]
    height = sum(max((image.height for image in row), default=-_GAP) + _GAP for row in rows) + _GAP
    width = max(sum(image.width + _GAP for image in row) for row in rows) + _GAP
    drawn = Image.new("RGB", (width, height), "#808080")
    y = _GAP
    for row in rows:
        x = _GAP
        for image in row:
            drawn.paste(image, (x, y))
            x += image.width + _GAP
        y += max((image.height + _GAP for image in row), default=0)
    return drawn


def _scaled(image: Image.Image, width: int) -> Image.Image:
    return image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main()
