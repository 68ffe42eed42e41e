"""Draws QR codes as image files, by one thread with a bounded queue before it.

Each request for an image occupies one of the worker's threads, and redirects need some of these threads too.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from accounts.admission import Admission
from common.bounded_cache import BoundedCache
from common.errors import Unavailable
from qrcodes.design import Design, ImageFormat
from qrcodes.pdf import pdf
from qrcodes.raster import jpeg, png
from qrcodes.svg import svg
from qrcodes.symbol import symbol

CONTENT_TYPES: dict[str, str] = {
    ImageFormat.PNG: "image/png",
    ImageFormat.SVG: "image/svg+xml",
    ImageFormat.JPEG: "image/jpeg",
    ImageFormat.PDF: "application/pdf",
}


def render(content: str, design: Design) -> bytes:
    modules = symbol(content, design)
    if design.format == ImageFormat.SVG:
        return svg(modules, design, content)
    if design.format == ImageFormat.PDF:
        return pdf(modules, design, content)
    if design.format == ImageFormat.JPEG:
        return jpeg(modules, design)
    return png(modules, design)


# A worker has four threads. The fourth stays free: it rejects further image requests and serves redirects.
WAITING = 2
TIMEOUT_SECONDS = 5
# An image of the default size has about a kilobyte, the largest ones with a logo some hundred.
KEPT_BYTES = 4 * 1024 * 1024
LARGEST_KEPT = KEPT_BYTES // 8


class Busy(Unavailable):
    code = "busy"
    message = "Too many image requests at once. Try again shortly."


class DrawingQueue:
    """Draws one image at a time, and keeps the last ones. ``waiting`` requests wait, one of each caller."""

    def __init__(self, waiting: int, timeout: float) -> None:
        """``timeout`` in seconds, for the place in the queue and again for the drawing."""
        self.admission = Admission(1, waiting, seconds=timeout, refusal=Busy)
        # One fixed thread, because each thread keeps the memory it has used. It starts with the first image.
        self._executor = ThreadPoolExecutor(1, "drawing")
        self._drawn: BoundedCache[bytes, bytes] = BoundedCache(
            4096, KEPT_BYTES, lambda key, image: len(key) + len(image)
        )
        self.timeout = timeout

    def image(self, digest: bytes, caller: str, render: Callable[[], bytes]) -> bytes:
        """The image with this digest of its content and design. Raises Busy without a place or after the timeout."""
        kept = self._drawn.get(digest)
        if kept is not None:
            return kept
        with self.admission.admit(caller):
            # Another request may have drawn it meanwhile.
            image = self._drawn.get(digest) or self._draw(render)
        if len(image) <= LARGEST_KEPT:
            self._drawn.put(digest, image)
        return image

    def _draw(self, render: Callable[[], bytes]) -> bytes:
        drawing = self._executor.submit(render)
        try:
            return drawing.result(self.timeout)
        except TimeoutError:
            drawing.cancel()
            raise Busy from None

    def forget(self) -> None:
        """Forget the kept images."""
        self._drawn.clear()


drawing_queue = DrawingQueue(WAITING, TIMEOUT_SECONDS)
