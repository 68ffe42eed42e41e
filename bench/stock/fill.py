"""python -m bench.stock.fill N: create the tables, a user and its links. Prints the token and the ids of the links."""

import json
import os
import sys

import django
from django.core.management import call_command


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "bench.stock.settings"
    django.setup()
    from django.contrib.auth.models import User
    from rest_framework.authtoken.models import Token

    from bench.stock.models import Link

    call_command("migrate", verbosity=0)
    user = User.objects.create_user("bench")
    links = Link.objects.bulk_create(
        Link(owner=user, url=f"https://www.example.com/page/{number}", title=f"Page {number}")
        for number in range(int(sys.argv[1]))
    )
    token = Token.objects.create(user=user).key
    print(json.dumps({"credential": token, "ids": [link.pk for link in links]}))


if __name__ == "__main__":
    main()
