"""The split of links: whether visitors are divided as the weights say, and whether each stays on one side."""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict

from django.test import override_settings

from bench.load.visits import address
from redirects.router import TARGET, Split
from testing.visitors.agents import agent

SEEDS, SEEDED_VISITORS = 20, 100_000
# Of 15 branches, the target has the rest.
WEIGHTS = {number: 1 + number % 11 for number in range(1, 16)}
# The upper 0.001 quantile of chi-squared with 15 degrees of freedom. Of 20 seeds, one exceeds it in 2 % of all keys.
CRITICAL = 37.70
VISITS, SHARE, TOLERANCE = 100_000, 70, 0.01
_KEY = "the same key in every run of this benchmark"


def check_split() -> dict[str, str]:
    """Print the results, with the same key in every run. Return figures by key of `bench.catalog`.

    Exits with 1 if the split is not fair, or if a visitor changes sides.
    """
    with override_settings(SECRET_KEY=_KEY):
        worst = max(map(_chi_squared, range(SEEDS)))
        split = Split(1, {1: SHARE})
        sides = defaultdict[tuple[str, str], set[bool]](set)
        draw, taken = random.Random(20270328), 0
        for _ in range(VISITS):
            number = draw.randrange(VISITS)
            visitor = (address(number), agent(number))
            is_taken = split.branch_of(*visitor) == 1
            sides[visitor].add(is_taken)
            taken += is_taken
    movers = sum(len(seen) > 1 for seen in sides.values())
    is_fair = abs(taken / VISITS - SHARE / 100) <= TOLERANCE and not movers and worst <= CRITICAL
    figure = (
        f"{100 * taken / VISITS:.2f} % of {VISITS:,} visits on a side of {SHARE} %; {movers} of {len(sides):,} "
        f"visitors on both sides; chi-squared of {SEEDS} seeds at most {worst:.0f} (0.1 % exceed {CRITICAL:.0f})"
    )
    print(f"\n  split: {figure}: {'yes' if is_fair else 'NO'}", flush=True)
    if not is_fair:
        sys.exit(1)
    return {"redirects-split": figure}


def _chi_squared(seed: int) -> float:
    """The statistic of the branches of random visitors of one link."""
    split, draw = Split(seed, WEIGHTS), random.Random(seed)
    shares = {**WEIGHTS, TARGET: 100 - sum(WEIGHTS.values())}
    counts = Counter(
        split.branch_of(address(draw.getrandbits(32)), agent(draw.randrange(1000)))
        for _ in range(SEEDED_VISITORS)
    )
    expected = {number: SEEDED_VISITORS * share / 100 for number, share in shares.items()}
    return sum((counts[number] - count) ** 2 / count for number, count in expected.items())
