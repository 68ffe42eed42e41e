"""The image has the compiled event loop."""

from __future__ import annotations

import os

import pytest

from testing.fastlane.compiled import compiled_or_skip
from testing.service.running import Service
from tests.deploy.image import image as image
from tests.deploy.image import make_container as make_container
from tests.deploy.image import service as service

pytestmark = pytest.mark.slow


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root can become the image's account.")
def test_the_image_uses_the_compiled_event_loop(service: Service) -> None:
    compiled_or_skip()
    pytest.importorskip("Cython", reason="NOT TESTED: building the image's loop needs Cython.")
    service.start()
    assert "Event loop: compiled" in service.stderr
