"""The shape of each module, for raster and vector images."""

from __future__ import annotations

from collections.abc import Iterator

from qrcodes.drawing.design import Style
from qrcodes.drawing.symbol import Symbol

# Whether each corner is round: top left, top right, bottom right, bottom left.
Corners = tuple[bool, bool, bool, bool]

_SHARP: Corners = (False, False, False, False)
_ROUND: Corners = (True, True, True, True)


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
