"""A folder of the service on a file system of its own, which fails or is full. Only root can mount one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from testing.service.running import Service

_MEGABYTES = 64
# Neither the mount nor its end is seen outside the service's mount namespace.
_MOUNT = 'mount -o "$0" "$1" "$2" && shift 2 && exec "$@"'
_TOOLS = ("unshare", "mkfs.ext4", "e2fsck", "losetup")


def why_none() -> str | None:
    """Why this process can mount no such file system, if that is so."""
    if os.geteuid() != 0:
        return "only root can mount a file system for the journal"
    if missing := [tool for tool in _TOOLS if shutil.which(tool) is None]:
        return f"no {missing[0]}"
    probe = ["unshare", "--mount", "sh", "-c", "losetup --find && test -d /sys/fs/ext4"]
    if subprocess.run(probe, check=False, capture_output=True).returncode != 0:
        return "this machine has no loop device, or no ext4"
    return None


class JournalDisk:
    """The ext4 file system on which the service keeps its journal, or another ``folder`` of VAR_DIR, while `start` has
    started it.
    """

    def __init__(self, service: Service, folder: str = "clicks") -> None:
        self._service = service
        self._folder = service.var_dir / folder
        self._image = service.folder / "journal.ext4"
        with self._image.open("wb") as image:
            image.truncate(_MEGABYTES * 1024 * 1024)
        subprocess.run(["mkfs.ext4", "-q", self._image], check=True)

    def start(self, *, read_only: bool = False) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        options = "loop,ro" if read_only else "loop,errors=remount-ro"
        mount = ("unshare", "--mount", "sh", "-c", _MOUNT, options, str(self._image), str(self._folder))
        self._service.start(*mount, sys.executable, "manage.py", "serve")

    @property
    def folder(self) -> Path:
        """The journal's folder, as the running service sees it."""
        return Path(f"/proc/{self._service.process.pid}/root") / self._folder.relative_to("/")

    def fail(self) -> None:
        """Make the disk read-only, as after an error. Files that are open for writing are, too."""
        Path(f"/sys/fs/ext4/{self._device()}/trigger_fs_error").write_text("1")

    def repair(self) -> None:
        """While the service is stopped: mend the file system, as after `fail`."""
        done = subprocess.run(["e2fsck", "-f", "-y", self._image], check=False, capture_output=True)
        # 1: errors were corrected.
        if done.returncode > 1:
            raise RuntimeError(done.stdout.decode())

    def fill(self) -> None:
        with (self.folder / "filler").open("wb", buffering=0) as filler:
            for size in (65536, 4096, 512, 1):
                with suppress(OSError):
                    while filler.write(bytes(size)) == size:
                        pass

    def free(self) -> None:
        (self.folder / "filler").unlink()

    def _device(self) -> str:
        for line in Path(f"/proc/{self._service.process.pid}/mounts").read_text().splitlines():
            device, folder, *_ = line.split()
            if folder == str(self._folder):
                return device.removeprefix("/dev/")
        raise RuntimeError("The journal's file system is not mounted.")
