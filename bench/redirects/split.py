"""The split of links: whether visitors are divided as the weights say, and whether each stays on one side."""

from __future__ import annotations

import json
import random
import sys
from collections import defaultdict

from django.test import override_settings

from analytics.journal.records import BRANCH_SHIFT
from bench.load.visits import address
from fastlane.fast.visitor_rules import VisitorRules, VisitorRulesTable, pack_visitor_rules
from links.destinations.lookup import Target
from redirects.routing.split import POINTS, Split
from redirects.routing.visit import Visit
from testing.visitors.agents import agent

SEEDS, SEEDED_VISITORS, CELLS = 20, 100_000, 100
# The upper 0.001 quantile of chi-squared with 99 degrees of freedom. Of 20 seeds, one exceeds it in 2 % of all keys.
CRITICAL = 148.23
VISITS, SHARE, TOLERANCE = 100_000, 70, 0.01
_KEY, _BRANCH = "the same key in every run of this benchmark", 4


def check_split() -> dict[str, str]:
    """Print the results, with the same key in every run. Return figures by key of `bench.catalog`.

    Exits with 1 if the split is not fair, or if a visitor changes sides: the router's split and the fast lane's
    compiled rules take turns.
    """
    with override_settings(SECRET_KEY=_KEY):
        worst = max(map(_chi_squared, range(SEEDS)))
        split, in_lane = Split(1, [SHARE]), _lane_rules()
        sides = defaultdict[tuple[str, str], set[bool]](set)
        draw, taken = random.Random(20270328), 0
        for _ in range(VISITS):
            number = draw.randrange(VISITS)
            visitor = (address(number), agent(number))
            is_taken = split.variant_of(*visitor) == 0
            sides[visitor] |= {is_taken, _takes_variant(in_lane, Visit(*visitor))}
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


def _lane_rules() -> VisitorRules:
    """The same split as the fast lane compiles it, after it was packed."""
    variant = {"_id": "b", "number": _BRANCH, "name": "b", "href": "https://b.example/", "weight": SHARE}
    routing = json.dumps({"forward": False, "rules": [], "split": [variant], "utm": {}})
    target = Target(1, "", "https://a.example/", 302, routing=routing)
    return VisitorRulesTable(1, 1_000_000).get(packed := pack_visitor_rules(target, None, b""), len(packed))


def _takes_variant(rules: VisitorRules, visit: Visit) -> bool:
    """Whether the flags of the visit's record name the variant."""
    answer = rules.answer(visit, "click", 0.0)
    return answer is not None and answer[1] >> BRANCH_SHIFT == _BRANCH


def _chi_squared(seed: int) -> float:
    """The statistic of the points of random visitors of one link, in CELLS cells of equal size."""
    split, draw, counts = Split(seed, []), random.Random(seed), [0] * CELLS
    for _ in range(SEEDED_VISITORS):
        point = split.point_of(address(draw.getrandbits(32)), agent(draw.randrange(1000)))
        counts[point * CELLS // POINTS] += 1
    expected = SEEDED_VISITORS / CELLS
    return sum((count - expected) ** 2 / expected for count in counts)
