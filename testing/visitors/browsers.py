"""Browsers on the hosts of the service."""

import pytest
from django.test import Client

from testing.visitors.agents import FIREFOX

FOREIGN_HOSTS = [
    "go.customer.example",
    "sho.rt.evil.example",
    "evil-sho.rt",
    "xsho.rt",
    "sho.rt.evil.example:80",
    "",
    " ",
    "sho.rt@evil.example",
    "sho.rt, evil.example",
    "sho.rt/",
    "sho rt",
    "127.0.0.1.evil.example",
    "x" * 300,
]


@pytest.fixture
def browser() -> Client:
    return Client(headers={"host": "sho.rt", "user-agent": FIREFOX, "accept": "text/html"})
