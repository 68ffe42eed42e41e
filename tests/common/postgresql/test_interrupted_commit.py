"""SIGTERM and Ctrl-C raise an exception that can interrupt the main thread anywhere."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from types import FrameType

import pytest
from django.db import connection, transaction

from accounts.models import User
from testing.accounts.accounts import account
from testing.connections import connect_elsewhere
from testing.service.running import DEADLINE, eventually

# A deferred trigger runs in the COMMIT.
SLOW_COMMIT = f"""
    CREATE FUNCTION wait_in_commit() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_sleep({10 * DEADLINE}); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER wait_in_commit AFTER UPDATE ON accounts_user
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_in_commit();
"""


class Ended(BaseException):
    """What the signal handler raises."""


@pytest.fixture
def signal_in_commit(transactional_db: None) -> Iterator[threading.Thread]:
    """A thread that waits for this thread's COMMIT and then sends a signal, whose handler raises Ended."""

    def end(number: int, frame: FrameType | None) -> None:
        raise Ended

    def send_in_commit() -> None:
        with connect_elsewhere() as other_connection:
            in_commit = "SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE pid = %s"
            eventually(lambda: other_connection.execute(in_commit, [pid]).fetchone() == (True,))
            signal.pthread_kill(main_thread, signal.SIGUSR1)

    with connection.cursor() as cursor:
        cursor.execute(SLOW_COMMIT)
    pid = connection.connection.info.backend_pid
    main_thread = threading.get_ident()
    previous = signal.signal(signal.SIGUSR1, end)
    sender = threading.Thread(target=send_in_commit)
    yield sender
    if sender.ident is not None:
        sender.join()
    signal.signal(signal.SIGUSR1, previous)
    with connect_elsewhere() as other_connection:
        other_connection.execute("SELECT pg_terminate_backend(%s, %s)", [pid, DEADLINE * 1000])
        other_connection.execute("DROP FUNCTION wait_in_commit CASCADE")


def test_an_interrupted_commit_raises_the_interruption_and_replaces_the_connection(
    signal_in_commit: threading.Thread,
) -> None:
    owner = account("ada@example.com").user

    @transaction.atomic
    def update() -> None:
        User.objects.filter(pk=owner.pk).update(first_name="Ada")
        signal_in_commit.start()

    with pytest.raises(Ended):
        update()
    assert connection.connection is None
    assert User.objects.filter(pk=owner.pk).count() == 1
    assert connection.get_autocommit() is True
