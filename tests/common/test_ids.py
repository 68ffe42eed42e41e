import time
import uuid
from datetime import UTC, datetime

import time_machine

from common.ids import new_public_id


def milliseconds_of(identifier: uuid.UUID) -> int:
    return identifier.int >> 80


def test_id_is_a_version_7_uuid_of_the_rfc_variant() -> None:
    ids = [new_public_id() for _ in range(1000)]
    assert {(identifier.version, identifier.variant) for identifier in ids} == {(7, uuid.RFC_4122)}


def test_id_begins_with_its_creation_time_in_milliseconds() -> None:
    with time_machine.travel(datetime(2031, 5, 6, 7, 8, 9, 123_000, tzinfo=UTC), tick=False):
        assert milliseconds_of(new_public_id()) == 1_935_817_689_123


def test_ids_are_ordered_by_time_as_numbers_and_as_text() -> None:
    ids = []
    with time_machine.travel(datetime(2031, 5, 6, tzinfo=UTC), tick=False) as clock:
        for _ in range(500):
            ids.append(new_public_id())
            clock.shift(0.001)
    assert ids == sorted(ids)
    assert [str(identifier) for identifier in ids] == sorted(str(identifier) for identifier in ids)


def test_ids_of_one_millisecond_differ_unpredictably() -> None:
    with time_machine.travel(datetime(2031, 5, 6, tzinfo=UTC), tick=False):
        ids = [new_public_id().int for _ in range(10_000)]
    assert len(set(ids)) == 10_000
    fixed = 0
    for bit in range(128):
        set_bits = sum(identifier >> bit & 1 for identifier in ids)
        # A fair coin leaves 45 to 55 % of 10,000 once in 10^23 bits.
        if set_bits in (0, len(ids)):
            fixed += 1
        else:
            assert 4500 < set_bits < 5500
    assert fixed == 48 + 4 + 2


def test_id_contains_the_current_time() -> None:
    before = time.time_ns() // 1_000_000
    created = milliseconds_of(new_public_id())
    assert before <= created <= time.time_ns() // 1_000_000
