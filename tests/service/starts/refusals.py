"""First starts and their refusals."""

from __future__ import annotations

from testing.service.running import Service


def refusal(service: Service) -> str:
    """The one-line error of a service that fails to start."""
    service.launch()
    assert service.exit_code() == 1
    assert service.stdout == ""
    (line,) = service.stderr.splitlines()
    return line
