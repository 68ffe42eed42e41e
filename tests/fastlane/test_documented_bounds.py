"""What docs/security-model.md says of connections is what the event loop does."""

from __future__ import annotations

from fastlane.sockets import connections
from shortener_project.running import listeners
from testing.service.running import REPOSITORY

SECURITY_MODEL = (REPOSITORY / "docs/security-model.md").read_text()


def test_the_documented_bounds_of_connections_are_those_of_the_code() -> None:
    """ASVS 13.1.2, 13.1.3"""
    buffered = connections.MAX_BUFFERED // 1024**2
    assert f"{listeners.CONNECTIONS:,} connections and {buffered} MB in a worker" in SECURITY_MODEL
    assert connections.FIRST_BYTE_SECONDS == connections.HEAD_SECONDS
    assert f"{connections.HEAD_SECONDS:g} s for the first byte and for a head" in SECURITY_MODEL
    per_second = connections.BODY_BYTES_A_SECOND // 1024
    assert (
        f"{connections.BODY_SECONDS:g} s for a body, and a second for each {per_second} KB" in SECURITY_MODEL
    )
    write_seconds, bytes_per_second = connections.WRITE_SECONDS, connections.WRITTEN_BYTES_A_SECOND // 1024
    assert (
        f"{write_seconds:g} s to accept a part of the response, and {write_seconds:g} s for all of it plus a second"
        in SECURITY_MODEL
    )
    assert f"plus a second for each {bytes_per_second} KB;" in SECURITY_MODEL
