"""The campaign parameters of a link, put into its destination."""

from collections.abc import Mapping
from urllib.parse import quote, unquote_plus

UTM_KEYS = ("source", "medium", "campaign", "term", "content")


def with_utm(href: str, utm: Mapping[str, str]) -> str:
    """`href` with `utm_source` and the like set to the non-empty values of `utm`.

    They follow the other parameters in the order of `UTM_KEYS`. Parameters of the same names are dropped
    whatever their spelling, names being compared as application/x-www-form-urlencoded decodes them
    (WHATWG URL, section 5.1). The others are destinations' own business, signatures over the query
    included, and stay as they are byte for byte.
    """
    ours = {f"utm_{key}": value for key in UTM_KEYS if (value := utm.get(key))}
    if not ours:
        return href
    before_fragment, hash_mark, fragment = href.partition("#")
    before_query, _, query = before_fragment.partition("?")
    # An empty piece, as in "?" or "a=1&&b=2", is no parameter to the decoder either.
    parameters = [piece for piece in query.split("&") if piece and _name(piece) not in ours]
    # Not quote_plus: "+" for a space is understood by form decoders only, "%20" by everybody.
    parameters += [f"{name}={quote(value, safe='')}" for name, value in ours.items()]
    return f"{before_query}?{'&'.join(parameters)}{hash_mark}{fragment}"


def _name(parameter: str) -> str:
    return unquote_plus(parameter.partition("=")[0])
