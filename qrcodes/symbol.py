"""A QR code as modules: their positions in the image, and their shapes, for images of all formats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from qrcode.constants import ERROR_CORRECT_H, ERROR_CORRECT_L, ERROR_CORRECT_M, ERROR_CORRECT_Q
from qrcode.main import QRCode

from qrcodes.design import Design, Style
from qrcodes.frames import BORDER_MODULES, Frame, frame

_LEVELS = {"L": ERROR_CORRECT_L, "M": ERROR_CORRECT_M, "Q": ERROR_CORRECT_Q, "H": ERROR_CORRECT_H}
# Level H can correct a logo of 30 % of the width; printed codes suffer other damage too.
_LOGO_SHARE = 0.2
_FINDER = 7

Matrix = list[list[bool]]


class TooSmall(Exception):
    """``needed`` is the size in pixels at which a module has one pixel."""

    def __init__(self, needed: int) -> None:
        self.needed = needed
        super().__init__(needed)


@dataclass(frozen=True, slots=True)
class Symbol:
    """Modules of ``scale`` pixels, ``left`` and ``top`` pixels from the edges; those under the logo are light."""

    matrix: Matrix
    scale: int
    left: int
    top: int
    height: int
    logo_modules: int
    frame: Frame | None

    @property
    def width(self) -> int:
        """The width in modules, without the quiet zone."""
        return len(self.matrix)

    @property
    def logo_box(self) -> tuple[int, int, int]:
        """The left and upper edge and the length of the logo's square, in pixels."""
        first = (self.width - self.logo_modules) // 2 * self.scale
        # Leave half a module between the logo and its neighbours.
        inset = self.scale // 2
        return self.left + first + inset, self.top + first + inset, self.logo_modules * self.scale - 2 * inset

    def is_in_finder(self, row: int, column: int) -> bool:
        far = self.width - _FINDER
        return (row < _FINDER and (column < _FINDER or column >= far)) or (row >= far and column < _FINDER)


def symbol(content: str, design: Design) -> Symbol:
    """Modules as large as whole pixels allow; the rest widens the quiet zone. Raises TooSmall."""
    code = QRCode(error_correction=_LEVELS[design.level], border=0)
    code.add_data(content.encode(), optimize=0)
    code.make()
    matrix: Matrix = [[bool(module) for module in row] for row in code.modules]
    border = 0 if design.frame_text is None else BORDER_MODULES
    needed = len(matrix) + 2 * (design.margin + border)
    scale = design.size // needed
    if scale == 0:
        raise TooSmall(needed)
    offset = (design.size - len(matrix) * scale) // 2
    around = frame(design, border * scale)
    return Symbol(
        matrix,
        scale,
        left=offset,
        top=offset if around is None else offset + around.light_top - around.border,
        height=design.size if around is None else around.height,
        logo_modules=0 if design.logo is None else _clear_logo_area(matrix),
        frame=around,
    )


def _clear_logo_area(matrix: Matrix) -> int:
    """Clear a square in the middle and return its width, which is odd like the width of every code."""
    width = len(matrix)
    side = int(width * _LOGO_SHARE)
    side -= 1 - side % 2
    first = (width - side) // 2
    for row in matrix[first : first + side]:
        row[first : first + side] = [False] * side
    return side


# Whether each corner is round: top left, top right, bottom right, bottom left.
Corners = tuple[bool, bool, bool, bool]

_SHARP: Corners = (False, False, False, False)
_ROUND: Corners = (True, True, True, True)


def runs(symbol: Symbol) -> Iterator[tuple[int, int, int]]:
    """Row, first column and length of each row of dark modules."""
    for number, row in enumerate(symbol.matrix):
        column = 0
        for dark, run in groupby(row):
            length = len(list(run))
            if dark:
                yield number, column, length
            column += length


def shaped_modules(symbol: Symbol, style: str) -> Iterator[tuple[int, int, Corners]]:
    """Row, column and corners of each dark module.

    Rounded modules merge with their neighbours. Dots are separate, except in the three finder patterns, which
    readers look for first.
    """
    width, matrix = symbol.width, symbol.matrix

    def dark(row: int, column: int) -> bool:
        return 0 <= row < width and 0 <= column < width and matrix[row][column]

    for row in range(width):
        for column in range(width):
            if not matrix[row][column]:
                continue
            if style == Style.DOTS:
                yield row, column, _SHARP if symbol.is_in_finder(row, column) else _ROUND
                continue
            above, below = dark(row - 1, column), dark(row + 1, column)
            left, right = dark(row, column - 1), dark(row, column + 1)
            corners = (
                not (above or left), not (above or right), not (below or right), not (below or left)
            )  # fmt: skip
            yield row, column, corners
