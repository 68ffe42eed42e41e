"""The documents with which a domain names the apps that may open its links.

Apple: Supporting associated domains. Android: Digital Asset Links, https://developers.google.com/digital-asset-links.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson

MAX_APPS, MAX_PATHS = 10, 50
# The prefix of the app, usually the team, and the bundle.
APP_ID = r"[A-Z0-9]{10}(\.[A-Za-z0-9-]{1,50}){1,10}"
APP_PATH = r"/[!-~]{0,199}"
PACKAGE_NAME = r"[A-Za-z][A-Za-z0-9_]{0,49}(\.[A-Za-z][A-Za-z0-9_]{0,49}){1,9}"
FINGERPRINT = r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){31}"
APP_ID_REFUSED = "Must be an app ID such as ABCDE12345.com.example.app."
APP_PATH_REFUSED = "Must begin with / and contain only printable ASCII characters, at most 200."
PACKAGE_NAME_REFUSED = "Must be an application ID such as com.example.app."
FINGERPRINT_REFUSED = "Must be a SHA-256 fingerprint: 32 hexadecimal bytes, separated by colons."

AppLinks = Mapping[str, Any]


def apple_document(apps: AppLinks) -> bytes | None:
    """``apple-app-site-association`` for the value of a domain; None without apps."""
    apple = apps.get("apple")
    if not apple:
        return None
    excluded = [{"/": path, "exclude": True} for path in apple["excludedPaths"]]
    components = [*excluded, *({"/": path} for path in apple["paths"])]
    return orjson.dumps({"applinks": {"details": [{"appIDs": apple["appIds"], "components": components}]}})


def android_document(apps: AppLinks) -> bytes | None:
    """``assetlinks.json`` for the value of a domain; None without apps."""
    android = apps.get("android")
    if not android:
        return None
    return orjson.dumps(
        [
            {
                "relation": ["delegate_permission/common.handle_all_urls"],
                "target": {
                    "namespace": "android_app",
                    "package_name": app["packageName"],
                    "sha256_cert_fingerprints": [text.upper() for text in app["fingerprints"]],
                },
            }
            for app in android
        ]
    )


# By the path on the domain.
DOCUMENTS: dict[str, Callable[[AppLinks], bytes | None]] = {
    "/.well-known/apple-app-site-association": apple_document,
    "/.well-known/assetlinks.json": android_document,
}


def merged(apps: AppLinks, changes: AppLinks) -> dict[str, Any]:
    """The value with these changes, complete; a platform without apps is left out."""
    changed = {**apps, **changes}
    if apple := changed.get("apple"):
        changed["apple"] = {"paths": ["/*"], "excludedPaths": [], **apple}
    return {platform: value for platform, value in changed.items() if value}
