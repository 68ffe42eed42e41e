"""A dry-run import reveals which codes are taken. Each revealed code counts as a guess by the client's network."""

from __future__ import annotations

from django.conf import settings

from accounts.models import Workspace
from common.errors import TooManyAttempts
from common.host.guess_counts import guesses, too_many_guesses
from links.code_claims import own_codes
from links.errors import CodeTaken
from links.transfer.imports import Imported, Verdict


def refuse_above_guess_limit(address: str) -> None:
    """Raises TooManyAttempts if the network has exceeded its limit."""
    if wait := guesses().refused_for(address):
        raise too_many_guesses(wait)


def withhold_guesses(imported: Imported, *, owner: Workspace, address: str) -> Imported:
    """Count the codes of other accounts that the response reveals as taken.

    A dry run reveals at most as many codes as the network has guesses left. It refuses every later row, whether or
    not its code is taken.
    """
    codes = {verdict.taken for verdict in imported.verdicts if isinstance(verdict, CodeTaken)}
    if not codes or not settings.UNKNOWN_CODE_LIMIT:
        return imported
    foreign = codes - own_codes(codes, owner_id=owner.pk)
    remaining = guesses().remaining(address)
    shown: list[Verdict] = []
    spent = 0
    for verdict in imported.verdicts:
        is_guess = isinstance(verdict, CodeTaken) and verdict.taken in foreign
        if imported.dry_run and is_guess and spent == remaining:
            break
        spent += is_guess
        shown.append(verdict)
    withheld = len(imported.verdicts) - len(shown)
    try:
        guesses().spend(address, spent + bool(withheld))
    except TooManyAttempts:
        # A concurrent call from the same network has used the remaining guesses.
        if imported.dry_run:
            shown, withheld = [], len(imported.verdicts)
    refusal = too_many_guesses(guesses().refused_for(address))
    return imported._replace(verdicts=[*shown, *[refusal] * withheld])
