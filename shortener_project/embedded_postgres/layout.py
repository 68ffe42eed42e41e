"""What lies where under VAR_DIR, and the password that opens it."""

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
# Not the TMPDIR of the moment: every process of this VAR_DIR has to come to the same answer.
SHORT_PARENT = Path("/tmp")  # noqa: S108 -- the folder in it has a secret name and is made new, mode 0700
PRIVATE_HOMES = Path("/var/lib/shortener")


@dataclass(frozen=True)
class Layout:
    """All paths of one cluster. `var_dir` must be resolved, so that every process spells them alike."""

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
    def home(self) -> Path:
        """The folder of everything that belongs to the server: a link to a private one if it must be."""
        return self.var_dir / "postgres"

    @property
    def data(self) -> Path:
        return self.home.resolve() / "data"

    @property
    def cluster_name(self) -> str:
        """Unique among the clusters of the host; stands in the title of each child of the postmaster."""
        return f"shortener-{hashlib.sha256(os.fsencode(self.data)).hexdigest()[:12]}"

    @property
    def log(self) -> Path:
        return self.home.resolve() / "server.log"

    @property
    def client_socket_dir(self) -> Path:
        """Where clients find the socket: known before the server, or even its home, exists."""
        inside = self.home / "socket"
        # libpq takes a comma in a host for a list of hosts.
        if len(os.fsencode(inside / SOCKET_NAME)) <= LONGEST_SOCKET_PATH and "," not in str(inside):
            return inside
        # Named after the secret: the same for every process of this VAR_DIR, and nobody else can guess it,
        # so nobody else can take the name first.
        secret = hashlib.sha256(self.password().encode()).hexdigest()
        return SHORT_PARENT / f"shortener-{secret[:20]}"

    @property
    def server_socket_dir(self) -> Path:
        """The same folder as the server's account reaches it: not by way of a link below a closed parent."""
        return self.client_socket_dir.parent.resolve() / self.client_socket_dir.name

    @property
    def socket(self) -> Path:
        return self.client_socket_dir / SOCKET_NAME

    def password(self) -> str:
        """The password of the role, made on first use; any number of processes at once agree on one."""
        with suppress(FileNotFoundError):
            return self.password_file.read_text()
        self.var_dir.mkdir(parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(prefix=".database_password.", dir=self.var_dir)
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_urlsafe(32))
                file.flush()
                os.fsync(file.fileno())
            # A link fails where a rename would replace: the first of several processes wins.
            with suppress(FileExistsError):
                os.link(draft, self.password_file)
        finally:
            Path(draft).unlink()
        return self.password_file.read_text()

    def make_home(self, account: Account) -> None:
        """Make the home where the server's account can reach it. Call it under the start/stop lock."""
        if self.home.exists():
            return
        self.home.unlink(missing_ok=True)
        if account.can_enter(self.var_dir):
            self.home.mkdir()
            place = self.home
        else:
            if not PRIVATE_HOMES.exists():
                PRIVATE_HOMES.mkdir(parents=True)
                PRIVATE_HOMES.chmod(0o711)
            # A random name: a fresh VAR_DIR must never inherit the cluster of an older one.
            place = Path(tempfile.mkdtemp(dir=PRIVATE_HOMES, prefix=""))
            self.home.symlink_to(place)
        # Ours, and only to be passed through: the account owns what lies inside, not the folder itself.
        place.chmod(0o711)

    def make_socket_dir(self, account: Account) -> None:
        """A new, empty, private folder: whatever a dead server left in the old one goes with it."""
        folder = self.server_socket_dir
        shutil.rmtree(folder, ignore_errors=True)
        # Fails if anything is still there: a folder, or a link, of somebody else is never used.
        folder.mkdir(mode=0o700)
        account.take(folder)
