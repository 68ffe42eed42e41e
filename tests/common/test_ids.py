import time
import uuid
from datetime import UTC, datetime

import time_machine

from common.ids import new_public_id


def milliseconds_of(identifier: uuid.UUID) -> int:
    return identifier.int >> 80


def test_id_is_a_version_7_uuid_of_the_rfc_variant() -> None:
    made = [new_public_id() for _ in range(1000)]
    assert {(each.version, each.variant) for each in made} == {(7, uuid.RFC_4122)}


def test_id_begins_with_the_milliseconds_of_its_making() -> None:
    with time_machine.travel(datetime(2031, 5, 6, 7, 8, 9, 123_000, tzinfo=UTC), tick=False):
        assert milliseconds_of(new_public_id()) == 1_935_817_689_123


def test_ids_are_ordered_by_time_as_numbers_and_as_text() -> None:
    made = []
    with time_machine.travel(datetime(2031, 5, 6, tzinfo=UTC), tick=False) as clock:
        for _ in range(500):
            made.append(new_public_id())
            clock.shift(0.001)
    assert made == sorted(made)
    assert [str(each) for each in made] == sorted(str(each) for each in made)


def test_ids_of_one_moment_differ_and_cannot_be_guessed() -> None:
    with time_machine.travel(datetime(2031, 5, 6, tzinfo=UTC), tick=False):
        made = [new_public_id().int for _ in range(10_000)]
    assert len(set(made)) == 10_000
    fixed = 0
    for bit in range(128):
        ones = sum(each >> bit & 1 for each in made)
        # A fair coin leaves 45 to 55 % of 10,000 once in 10^23 bits.
        if ones in (0, len(made)):
            fixed += 1
        else:
            assert 4500 < ones < 5500
    assert fixed == 48 + 4 + 2


def test_id_is_made_now() -> None:
    before = time.time_ns() // 1_000_000
    made = milliseconds_of(new_public_id())
    assert before <= made <= time.time_ns() // 1_000_000
