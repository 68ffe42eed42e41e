from __future__ import annotations

from threading import BoundedSemaphore

from django.contrib.auth.hashers import Argon2PasswordHasher

# Per process. Bounds the memory, and leaves CPU time for the other threads.
AT_ONCE = 2
_slots = BoundedSemaphore(AT_ONCE)


class Argon2(Argon2PasswordHasher):
    """Argon2id with OWASP's first recommendation (19 MiB, two passes, one lane).

    Django's own parameters take 100 MiB and several times as long for each login, so a flood of logins would become
    an outage. `accounts.credentials.hashing` keeps the number of waiting threads small.
    """

    time_cost = 2
    memory_cost = 19 * 1024
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        with _slots:
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with _slots:
            return super().verify(password, encoded)
