"""The form of an API key."""

import re
import string

from accounts import api_keys
from accounts.services import NewAccount
from testing.cases import for_each
from tests.accounts.credentials.api_keys import alice as alice


def test_key_is_a_prefix_thirty_two_random_characters_and_a_checksum(alice: NewAccount) -> None:
    assert re.fullmatch(r"sl_live_[0-9A-Za-z]{32}[0-9A-Za-z]{6}", alice.api_key, re.ASCII)


def test_checksum_is_crc32_in_base62() -> None:
    """Calculated by hand, as scanners in other languages do."""
    body = "sl_live_" + "0" * 32
    assert api_keys.is_well_formed(body + "3QF6xy") is True


def test_keys_are_unique_and_use_the_whole_alphabet() -> None:
    new_keys = [api_keys.new_key() for _ in range(500)]
    assert len(set(new_keys)) == 500
    assert {character for key in new_keys for character in key[8:40]} == set(
        string.ascii_letters + string.digits
    )
    assert [key for key in new_keys if not api_keys.is_well_formed(key)] == []


@for_each("position", range(46))
def test_one_wrong_character_anywhere_breaks_the_checksum(position: int) -> None:
    key = api_keys.new_key()
    others = set(string.ascii_letters + string.digits + "_- é\0\n") - {key[position]}
    survivors = [
        other for other in others if api_keys.is_well_formed(key[:position] + other + key[position + 1 :])
    ]
    assert survivors == []


@for_each("position", range(8, 39))
def test_two_swapped_neighbours_break_the_checksum(position: int) -> None:
    key = api_keys.new_key()
    swapped = key[:position] + key[position + 1] + key[position] + key[position + 2 :]
    assert api_keys.is_well_formed(swapped) is (swapped == key)
