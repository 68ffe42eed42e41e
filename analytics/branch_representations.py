"""The API's representation of branches in reports: the rules of a link, and the entries of its split."""

from __future__ import annotations

from typing import Any, NamedTuple

from rest_framework.fields import FloatField

from analytics.reports.branches import Branch
from analytics.reports.percentages import percentages
from common.openapi.responses import Field, Representation, count, identifier, text


class _Share(NamedTuple):
    branch: Branch
    percentage: float


_ID = identifier("_id", "branch.id.hex", "5d1c2f3a4b5e46f7a8b9c0d1e2f30415")
_NAME = text("name", "branch.name", "Germany")
_branch = Representation(
    "ClicksOfBranch",
    _ID,
    _NAME,
    text("url", "branch.url", "https://example.com/de", "As entered. Canonical if the branch was deleted."),
    count("clicks", "branch.clicks", 42),
    count(
        "uniqueClicks", "branch.unique_clicks", 17, "The part of the link's `uniqueClicks` on this branch."
    ),
    Field(
        "percentage",
        "percentage",
        FloatField(
            min_value=0,
            max_value=100,
            help_text="Of all clicks in the range, with one decimal. The rest led to the link's own destination.",
        ),
        100.0,
    ),
)
BRANCHES = _branch.listed(
    "branches",
    required=False,
    help_text="The link's rules, then the entries of its split, sorted by clicks in descending order. Includes those"
    " without clicks, and deleted ones with clicks in the range. `limit` does not shorten this list.",
)


def branches(report: list[Branch], total: int) -> list[dict[str, Any]]:
    """``total``: the clicks in the range, including those that led to the link's own destination."""
    clicks = [branch.clicks for branch in report]
    shares = percentages([*clicks, total - sum(clicks)])[: len(report)]
    return [_branch(_Share(*row)) for row in zip(report, shares, strict=True)]


_branch_of_click = Representation(
    "BranchOfClick", _ID._replace(source="branch_id.hex"), _NAME._replace(source="branch_name")
)
CLICK_FIELDS = (
    _branch_of_click.nested(
        "branch",
        lambda click: None if click.branch_name is None else _branch_of_click(click),
        required=False,
        allow_null=True,
        help_text="The rule or the entry of the split that the visitor took. Null for the link's own destination.",
    ),
    text(
        "location",
        "location",
        "https://example.com/de",
        "Where the link led at that time, without the parameters that the redirect added. Null for a refusal. Crawlers"
        " that get the card are not redirected, nor are crawlers, prefetches and HEAD requests on links with"
        " `maxClicks`. For these, it is the URL to which the link would have redirected a click.",
        required=False,
        allow_null=True,
    ),
)
