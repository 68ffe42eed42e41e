"""The paths of a cluster under VAR_DIR, and the password of its role."""

import hashlib
import os
import secrets
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .account import Account

SOCKET_NAME = ".s.PGSQL.5432"
# sun_path minus its final NUL: 107 bytes on Linux, 103 on macOS.
LONGEST_SOCKET_PATH = 103
# Not TMPDIR: every process that uses this VAR_DIR must compute the same path.
SHORT_PARENT = Path("/tmp")  # noqa: S108 # the folder in it has a secret name and is created with mode 0700
PRIVATE_PARENT = Path("/var/lib/shortener")


@dataclass(frozen=True)
class Layout:
    """All paths of one cluster. `var_dir` must be resolved, so that all processes use identical paths."""

    var_dir: Path

    @property
    def startstop_lock(self) -> Path:
        return self.var_dir / "postgres.startstop.lock"

    @property
    def users_lock(self) -> Path:
        return self.var_dir / "postgres.users.lock"

    @property
    def password_file(self) -> Path:
        return self.var_dir / "database_password"

    @property
    def server_dir(self) -> Path:
        """The server's folder. A symbolic link to a private folder if the server cannot enter VAR_DIR."""
        return self.var_dir / "postgres"

    @property
    def data(self) -> Path:
        return self.server_dir.resolve() / "data"

    @property
    def cluster_name(self) -> str:
        """Unique among the clusters of the host. It is part of the process title of each child of the postmaster."""
        return f"shortener-{hashlib.sha256(os.fsencode(self.data)).hexdigest()[:12]}"

    @property
    def log(self) -> Path:
        return self.server_dir.resolve() / "server.log"

    @property
    def client_socket_dir(self) -> Path:
        """The folder of the socket for clients. It is known before the server or its folder exists."""
        inside = self.server_dir / "socket"
        # libpq interprets a comma in the host as a list of hosts.
        if len(os.fsencode(inside / SOCKET_NAME)) <= LONGEST_SOCKET_PATH and "," not in str(inside):
            return inside
        # Derive the name from the secret: all processes of this VAR_DIR compute the same name, and no other user can
        # guess it and create the folder first.
        secret = hashlib.sha256(self.password().encode()).hexdigest()
        return SHORT_PARENT / f"shortener-{secret[:20]}"

    @property
    def server_socket_dir(self) -> Path:
        """The same folder with resolved parents: the server's account may be unable to traverse the link."""
        return self.client_socket_dir.parent.resolve() / self.client_socket_dir.name

    @property
    def socket(self) -> Path:
        return self.client_socket_dir / SOCKET_NAME

    def password(self) -> str:
        """The password of the role. Generated on first use; concurrent processes agree on one password."""
        with suppress(FileNotFoundError):
            return self.password_file.read_text()
        self.var_dir.mkdir(parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(prefix=".database_password.", dir=self.var_dir)
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_urlsafe(32))
                file.flush()
                os.fsync(file.fileno())
            # Unlike a rename, a link fails if the file exists: the first of several processes wins.
            with suppress(FileExistsError):
                os.link(draft, self.password_file)
        finally:
            Path(draft).unlink()
        return self.password_file.read_text()

    def make_server_dir(self, account: Account) -> None:
        """Create the server's folder at a path that its account can reach. Hold the start/stop lock."""
        if self.server_dir.exists():
            return
        self.server_dir.unlink(missing_ok=True)
        if account.can_enter(self.var_dir):
            self.server_dir.mkdir()
            folder = self.server_dir
        else:
            # Another installation may create it at the same time.
            with suppress(FileExistsError):
                PRIVATE_PARENT.mkdir(parents=True)
                PRIVATE_PARENT.chmod(0o711)
            # A random name: a new VAR_DIR must never inherit the cluster of an earlier one.
            folder = Path(tempfile.mkdtemp(dir=PRIVATE_PARENT, prefix=""))
            self.server_dir.symlink_to(folder)
        # Root owns the folder; the server's account can only traverse it and owns its contents.
        folder.chmod(0o711)

    def make_socket_dir(self, account: Account) -> None:
        """Create an empty, private folder. This removes any files of a dead server."""
        folder = self.server_socket_dir
        shutil.rmtree(folder, ignore_errors=True)
        # Fails if the path exists: never use another user's folder or link.
        folder.mkdir(mode=0o700)
        account.chown(folder)
