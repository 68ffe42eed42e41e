from django.contrib.auth.hashers import Argon2PasswordHasher


class Argon2(Argon2PasswordHasher):
    """Argon2id at OWASP's first recommendation (19 MiB, two passes, one lane).

    Django's own parameters take 100 MiB and several times as long for each login, which a flood of logins turns
    into an outage.
    """

    time_cost = 2
    memory_cost = 19 * 1024
    parallelism = 1
