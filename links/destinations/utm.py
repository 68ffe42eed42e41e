"""Adds a link's campaign parameters to its destination."""

from collections.abc import Iterator, Mapping
from urllib.parse import quote, unquote_plus

UTM_KEYS = ("source", "medium", "campaign", "term", "content")


def with_utm(href: str, utm: Mapping[str, str]) -> str:
    """Return `href` with `utm_source` etc. set to the non-empty values of `utm`.

    The new parameters follow the existing ones in the order of `UTM_KEYS`. They replace existing parameters of the
    same names, compared after application/x-www-form-urlencoded decoding (WHATWG URL, section 5.1). All other
    parameters stay unchanged byte for byte, because a destination may sign its query.
    """
    new_parameters = {f"utm_{key}": value for key in UTM_KEYS if (value := utm.get(key))}
    if not new_parameters:
        return href
    before_fragment, hash_mark, fragment = href.partition("#")
    before_query, _, query = before_fragment.partition("?")
    # Form decoders also ignore empty pieces, as in "?" or "a=1&&b=2".
    parameters = [piece for piece in query.split("&") if piece and _name(piece) not in new_parameters]
    # Not quote_plus: only form decoders read "+" as a space; every decoder reads "%20".
    parameters += [f"{name}={quote(value, safe='')}" for name, value in new_parameters.items()]
    return f"{before_query}?{'&'.join(parameters)}{hash_mark}{fragment}"


def utm_in(href: str) -> Iterator[tuple[str, str]]:
    """The keys of `UTM_KEYS` and the values of the non-empty parameters ``utm_source`` etc. of ``href`` itself."""
    query = href.partition("#")[0].partition("?")[2]
    for piece in query.split("&"):
        name, value = _name(piece), unquote_plus(piece.partition("=")[2])
        key = name.removeprefix("utm_")
        if key in UTM_KEYS and key != name and value:
            yield key, value


def _name(parameter: str) -> str:
    return unquote_plus(parameter.partition("=")[0])
