"""Instances of models for hot paths.

Trades clarity for speed: writes the attributes of a model directly, because its constructor calls a function for each
column and sends two signals. Without it, an API request takes 5 to 7 % fewer instructions of the web server.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model
from django.db.models.base import ModelState

AnyModel = TypeVar("AnyModel", bound=Model)


def saved(
    model: type[AnyModel], columns: Mapping[str, Any], related: Mapping[str, Model | None] | None = None
) -> AnyModel:
    """Make what ``model.from_db`` makes, in a fraction of the time: no signals, and no call for each column.

    ``related`` has the objects of foreign keys, whose columns are in ``columns``. Missing columns are deferred.
    """
    instance = unsaved(model, columns, related)
    instance._state.adding = False
    instance._state.db = DEFAULT_DB_ALIAS
    return instance


def unsaved(
    model: type[AnyModel], columns: Mapping[str, Any], related: Mapping[str, Model | None] | None = None
) -> AnyModel:
    """Make what ``model(...)`` makes, but without defaults."""
    instance, state = model.__new__(model), ModelState()
    state.fields_cache = {} if related is None else dict(related)
    instance.__dict__["_state"] = state
    instance.__dict__ |= columns
    return instance
