"""The links that a network has followed: a row of 32, shared by processes."""

from __future__ import annotations

import os

from links.guess_counts import LINKS, FollowedLinks

HERE, SAME_NETWORK, ELSEWHERE = "203.0.113.5", "203.0.113.77", "198.51.100.5"
CODES = [b"code%d" % number for number in range(LINKS + 1)]


def test_every_link_of_a_full_row_is_remembered() -> None:
    followed = FollowedLinks()
    for _ in range(2):
        for code in CODES[:LINKS]:
            followed.remember(HERE, code)

    assert all(followed.has_followed(SAME_NETWORK, code) for code in CODES[:LINKS])
    assert not followed.has_followed(HERE, CODES[LINKS])
    assert not any(followed.has_followed(ELSEWHERE, code) for code in CODES)


def test_one_more_link_replaces_the_oldest() -> None:
    followed = FollowedLinks()
    for code in CODES:
        followed.remember(HERE, code)

    assert [followed.has_followed(HERE, code) for code in CODES] == [False] + [True] * LINKS


def test_a_link_on_another_host_is_another_link() -> None:
    followed = FollowedLinks()
    followed.remember(HERE, b"spring@go.example.net")

    assert not followed.has_followed(HERE, b"spring")


def test_forked_processes_share_the_links() -> None:
    followed = FollowedLinks()
    pid = os.fork()
    if not pid:
        followed.remember(HERE, CODES[0])
        os._exit(0)
    os.waitpid(pid, 0)

    assert followed.has_followed(HERE, CODES[0])
