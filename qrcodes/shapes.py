"""How the corners of a module are drawn, in pixels as in vectors."""

from __future__ import annotations

from collections.abc import Iterator

from qrcodes.design import Style
from qrcodes.symbol import Symbol

# Which corners are round: top left, top right, bottom right, bottom left.
Corners = tuple[bool, bool, bool, bool]

_SHARP: Corners = (False, False, False, False)
_ROUND: Corners = (True, True, True, True)


def shaped_modules(symbol: Symbol, style: str) -> Iterator[tuple[int, int, Corners]]:
    """Row, column and corners of each dark module.

    Rounded modules flow into their neighbours. Dots stand alone, but the three finders, for which readers look first,
    stay whole.
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
