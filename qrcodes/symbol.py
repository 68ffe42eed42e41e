"""The modules of a code, and where each of them lies in the picture."""

from __future__ import annotations

from dataclasses import dataclass

from qrcode.constants import ERROR_CORRECT_H, ERROR_CORRECT_L, ERROR_CORRECT_M, ERROR_CORRECT_Q
from qrcode.main import QRCode

from qrcodes.design import Design

_LEVELS = {"L": ERROR_CORRECT_L, "M": ERROR_CORRECT_M, "Q": ERROR_CORRECT_Q, "H": ERROR_CORRECT_H}
# Level H mends a logo of 30 % of the width; what is printed has more to bear than a logo.
_LOGO_SHARE = 0.2
_FINDER = 7

Matrix = list[list[bool]]


class TooSmall(Exception):
    """``needed`` is the number of pixels with which a module has one."""

    def __init__(self, needed: int) -> None:
        self.needed = needed
        super().__init__(needed)


@dataclass(frozen=True, slots=True)
class Symbol:
    """Modules of ``scale`` pixels that begin ``offset`` pixels from the edges; those under the logo are light."""

    matrix: Matrix
    scale: int
    offset: int
    logo_modules: int

    @property
    def width(self) -> int:
        """In modules, without the quiet zone."""
        return len(self.matrix)

    @property
    def logo_box(self) -> tuple[int, int]:
        """The first pixel and the number of pixels of the logo, across and down."""
        first = (self.width - self.logo_modules) // 2
        # A logo keeps half a module away from its neighbours.
        inset = self.scale // 2
        return self.offset + first * self.scale + inset, self.logo_modules * self.scale - 2 * inset

    def is_in_finder(self, row: int, column: int) -> bool:
        far = self.width - _FINDER
        return (row < _FINDER and (column < _FINDER or column >= far)) or (row >= far and column < _FINDER)


def symbol(content: str, design: Design) -> Symbol:
    """Modules as large as whole pixels allow; what is left over widens the quiet zone. Raises TooSmall."""
    code = QRCode(error_correction=_LEVELS[design.level], border=0)
    code.add_data(content.encode(), optimize=0)
    code.make()
    matrix: Matrix = [[bool(module) for module in row] for row in code.modules]
    needed = len(matrix) + 2 * design.margin
    scale = design.size // needed
    if scale == 0:
        raise TooSmall(needed)
    offset = (design.size - len(matrix) * scale) // 2
    return Symbol(matrix, scale, offset, 0 if design.logo is None else _make_room(matrix))


def _make_room(matrix: Matrix) -> int:
    """Clears a square in the middle and gives its width: an odd number, as that of every code is."""
    width = len(matrix)
    room = int(width * _LOGO_SHARE)
    room -= 1 - room % 2
    first = (width - room) // 2
    for row in matrix[first : first + room]:
        row[first : first + room] = [False] * room
    return room
