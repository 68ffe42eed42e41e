"""What a transactional test leaves behind for the next one."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import TransactionTestCase

from tests.emptying import restore_database

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_next_test_receives_no_notifications() -> None:
    with connection.cursor() as cursor:
        cursor.execute("LISTEN destinations")
        cursor.execute("NOTIFY destinations, 'unread'")
    own = connection.connection

    restore_database(TransactionTestCase())
    with connection.cursor() as cursor:
        cursor.execute("NOTIFY destinations, 'later'")
    assert list(connection.connection.notifies(timeout=0)) == []
    assert connection.connection is own
