"""python -m fastlane.compiled.build: compile `plain_links.pyx` in place.

Needs a C compiler, which $CC may name, the headers of Python, and the package of requirements-accelerate.txt.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

SOURCE = Path(__file__).with_name("plain_links.pyx")


def source_version() -> str:
    """A hash of the names and the contents of the module's files."""
    version = sha256()
    for path in sorted([*SOURCE.parent.glob("*.pyx"), *SOURCE.parent.glob("*.pxi")]):
        content = path.read_bytes()
        version.update(f"{path.name} {len(content)}\n".encode())
        version.update(content)
    return version.hexdigest()


def main() -> None:
    print(f"Built {build(SOURCE.parent)}.")  # noqa: T201 # a command


def build(target: Path, *options: str) -> Path:
    """Compile the module into this folder, with these options of the compiler. Returns its path."""
    # In the same folder, so that one rename replaces a module that processes are using.
    with TemporaryDirectory(dir=target) as folder:
        generated, compiled = Path(folder, "plain_links.c"), Path(folder, "plain_links.so")
        subprocess.run([sys.executable, "-m", "cython", "-3", SOURCE, "-o", generated], check=True)
        subprocess.run([*compiler_command(), *options, generated, "-o", compiled], check=True)
        return compiled.replace(target / f"plain_links{sysconfig.get_config_var('EXT_SUFFIX')}")


def compiler_command() -> list[str]:
    """Use $CC, else the compiler that built Python if this machine has it, else `cc`."""
    own, flags, shared = (
        shlex.split(sysconfig.get_config_var(name) or "") for name in ("CC", "CFLAGS", "CCSHARED")
    )
    if chosen := os.environ.get("CC"):
        own = shlex.split(chosen)
    elif not own or not shutil.which(own[0]):
        own = ["cc"]
    return [
        *(*own, *flags, *shared),
        *("-g0", "-O2", "-shared", f"-I{sysconfig.get_path('include')}"),
        f'-DSOURCE_VERSION="{source_version()}"',
    ]


if __name__ == "__main__":
    main()
