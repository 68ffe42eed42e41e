"""`closed_by` in Python and `links_closed_by` in SQL give the same answer."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from links.availability import BAN_REASON, Closed, State, closed_by

pytestmark = pytest.mark.django_db

_IN_SQL = """
SELECT links_closed_by(
    %(ban_reason)s, %(is_active)s, %(starts_at)s::timestamptz, %(expires_at)s::timestamptz, %(max_clicks)s::integer,
    %(clicks)s
)
"""

_AS_IN_CLAIMS = f"""
SELECT links_closed_by({BAN_REASON}, l.is_active, l.starts_at, l.expires_at, l.max_clicks, n.clicks)
FROM links_link l JOIN links_clickcounter n ON n.link_id = l.id
"""  # composed of constants


def test_both_answers_agree_for_every_combination() -> None:
    now = timezone.now()
    past, future = now - timedelta(hours=1), now + timedelta(hours=1)
    values = {
        "ban_reason": (None, "legal", "other"),
        "is_active": (True, False),
        "starts_at": (None, past, now, future),
        "expires_at": (None, past, now, future),
        "max_clicks": (None, 3),
        "clicks": (2, 3, 4),
    }
    seen = set()
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        [(started_at,)] = cursor.fetchall()
        for combination in itertools.product(*values.values()):
            state = dict(zip(values, combination, strict=True))
            for name in ("starts_at", "expires_at"):
                state[name] = started_at if state[name] == now else state[name]
            cursor.execute(_IN_SQL, state)
            [(in_sql,)] = cursor.fetchall()
            in_python = closed_by(State(**state), started_at)
            assert in_sql == in_python, state
            seen.add(in_python)
    assert seen == {None, *Closed} - {Closed.VISITOR_LIMIT_REACHED, Closed.DELETED}


def test_the_server_inlines_the_function() -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (VERBOSE, COSTS OFF) {_AS_IN_CLAIMS}")
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert "not_started" in plan
    assert "links_closed_by" not in plan
