from __future__ import annotations

import pytest
from django.db import connection

from shortener_project.running.preparation import connection_parameters


def test_all_libpq_options_of_the_url_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that requires a client certificate would otherwise look as if it rejected the account."""
    options = {
        "sslmode": "verify-full",
        "sslrootcert": "/etc/ca.pem",
        "sslcert": "/etc/client.pem",
        "sslkey": "/etc/client.key",
        "passfile": "/etc/pgpass",
        "target_session_attrs": "read-write",
        "options": "-c jit=off",
    }
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", options)

    parameters = connection_parameters()

    assert {name: parameters.get(name) for name in options} == options
    assert "cursor_factory" not in parameters
    assert "context" not in parameters
