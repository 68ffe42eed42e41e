"""Samples of each operation in curl, Python and JavaScript, from the first example of its request.

They run as they stand: what only the reader knows comes from environment variables, which ``x-sampleVariables``
explains. Python needs the standard library alone, JavaScript a runtime with ``fetch`` and modules, such as node.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pprint import pformat
from typing import Any, NamedTuple

from django.conf import settings

_KEY = ("API_KEY", "your API key")
_TOKEN = ("ACCESS_TOKEN", "the `token` of `POST /api/auth/login`")
# A word that JSON leaves as it is. No example has it.
_MARK = "@@{}@@"
_MARKED = re.compile(r"@@(\w+)@@")


class _Variable(NamedTuple):
    name: str

    def __repr__(self) -> str:
        return f'os.environ["{self.name}"]'


class _Request(NamedTuple):
    """``headers`` and ``url`` contain marked names of variables. ``body``: None without one."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: Any
    is_file: bool


def add_samples(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Postprocessing hook: each operation gets its samples and their variables."""
    for path, methods in result["paths"].items():
        for method, operation in methods.items():
            request, variables = _request(path, method.upper(), operation)
            operation["x-codeSamples"] = [
                {"lang": language, "label": label, "source": write(request)}
                for language, label, write in (
                    ("Shell", "curl", _curl),
                    ("Python", "Python", _python),
                    ("JavaScript", "JavaScript", _javascript),
                )
            ]
            operation["x-sampleVariables"] = variables
    return result


def _request(path: str, method: str, operation: Mapping[str, Any]) -> tuple[_Request, dict[str, str]]:
    variables: dict[str, str] = {}
    headers: dict[str, str] = {}
    if operation["security"]:
        takes_key = {"ApiKeyAuth": []} in operation["security"]
        name, meaning = _KEY if takes_key else _TOKEN
        variables[name] = meaning
        mark = _MARK.format(name)
        headers.update({"X-API-Key": mark} if takes_key else {"Authorization": f"Bearer {mark}"})
    parameters = operation.get("parameters", ())
    for name in re.findall(r"\{(\w+)\}", path):
        variable = _variable("invitationToken" if name == "token" else name)
        variables[variable] = f"`{name}` in the path"
        path = path.replace(f"{{{name}}}", _MARK.format(variable))
    query = [each["name"] for each in parameters if each["in"] == "query" and each.get("required")]
    for name in query:
        variables[_variable(name)] = f"`{name}` in the query, percent-encoded where necessary"
    if query:
        path += "?" + "&".join(f"{name}={_MARK.format(_variable(name))}" for name in query)
    body = None
    for content in operation.get("requestBody", {}).get("content", {}).values():
        example = next(iter(content["examples"].values()))
        replaced = re.findall(r"Replace `(\w+)` with (.*?)\.(?= Replace|$)", example.get("description", ""))
        body = _with_variables(example["value"], {name for name, _ in replaced})
        variables |= {variable_of(name): meaning.removeprefix("a list with ") for name, meaning in replaced}
        headers["Content-Type"] = "application/json"
    success = next(response for status, response in operation["responses"].items() if status < "300")
    is_file = next(iter(success.get("content", {})), None) != "application/json"
    return _Request(method, f"{settings.BASE_URL}{path}", headers, body, is_file), variables


def _variable(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.lstrip("_")).upper()


def variable_of(name: str) -> str:
    """The variable for a placeholder; a list gets one entry."""
    return _variable(name).removesuffix("S")


def _with_variables(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {
            name: _placeholder(name, item) if name in names else _with_variables(item, names)
            for name, item in value.items()
        }
    return [_with_variables(item, names) for item in value] if isinstance(value, list) else value


def _placeholder(name: str, value: Any) -> Any:
    variable = _Variable(variable_of(name))
    return [variable] if isinstance(value, list) else variable


def _json(value: Any) -> str:
    """``value`` as JSON with marked names of variables."""
    return json.dumps(_marked(value), indent=4, ensure_ascii=False)


def _marked(value: Any) -> Any:
    if isinstance(value, _Variable):
        return _MARK.format(value.name)
    if isinstance(value, dict):
        return {name: _marked(item) for name, item in value.items()}
    return [_marked(item) for item in value] if isinstance(value, list) else value


def _curl(request: _Request) -> str:
    def quoted(text: str) -> str:
        return '"' + _MARKED.sub(r"$\1", text) + '"'

    method = "" if request.method == ("GET" if request.body is None else "POST") else f" -X {request.method}"
    lines = [f"curl --fail-with-body{method} {quoted(request.url)}"]
    if request.is_file:
        lines[0] += " -o file"
    lines += [f"-H {quoted(f'{name}: {value}')}" for name, value in request.headers.items()]
    if request.body is not None:
        text = _json(request.body).replace("'", "'\\''")
        lines.append("-d '" + _MARKED.sub(r"""'"$\1"'""", text) + "'")
    return " \\\n    ".join(lines) + "\n"


def _python(request: _Request) -> str:
    def quoted(text: str) -> str:
        formatted = _MARKED.sub(r"{os.environ['\1']}", text)
        if formatted == text:
            return f'"{text}"'
        whole = _MARKED.fullmatch(text)
        return f'os.environ["{whole[1]}"]' if whole else f'f"{formatted}"'

    headers = "".join(f'\n        "{name}": {quoted(value)},' for name, value in request.headers.items())
    lines = ["import json"] if request.body is not None or not request.is_file else []
    if _MARKED.search(request.url + "".join(request.headers.values())) or "os.environ" in repr(request.body):
        lines.append("import os")
    lines += ["from urllib.request import Request, urlopen", ""]
    if request.body is not None:
        lines += ["body = " + pformat(request.body, width=90, sort_dicts=False).replace("\n", "\n       ")]
    lines += ["request = Request(", f"    {quoted(request.url)},"]
    lines += [f'    method="{request.method}",', f"    headers={{{headers}\n    }},"]
    if request.body is not None:
        lines.append("    data=json.dumps(body).encode(),")
    lines += [")", "with urlopen(request) as response:"]
    if request.is_file:
        lines += ['    with open("file", "wb") as file:', "        file.write(response.read())"]
    else:
        lines.append("    print(json.load(response))")
    return "\n".join(lines) + "\n"


def _javascript(request: _Request) -> str:
    def quoted(text: str) -> str:
        whole = _MARKED.fullmatch(text)
        if whole:
            return f"process.env.{whole[1]}"
        formatted = _MARKED.sub(r"${process.env.\1}", text)
        return f'"{text}"' if formatted == text else f"`{formatted}`"

    lines = ['import { writeFile } from "node:fs/promises";', ""] if request.is_file else []
    lines += [f"const response = await fetch({quoted(request.url)}, {{", f'    method: "{request.method}",']
    headers = ", ".join(f'"{name}": {quoted(value)}' for name, value in request.headers.items())
    lines.append(f"    headers: {{ {headers} }},")
    if request.body is not None:
        text = re.sub(r'"@@(\w+)@@"', r"process.env.\1", _json(request.body)).replace("\n", "\n    ")
        lines.append(f"    body: JSON.stringify({text}),")
    lines += ["});", "if (!response.ok) throw new Error(await response.text());"]
    if request.is_file:
        lines.append('await writeFile("file", new Uint8Array(await response.arrayBuffer()));')
    else:
        lines.append("console.log(await response.json());")
    return "\n".join(lines) + "\n"
