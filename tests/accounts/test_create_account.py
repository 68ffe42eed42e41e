import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from accounts.api_keys import is_well_formed
from accounts.models import ApiKey, User
from accounts.services import NewAccount
from testing.accounts.accounts import key_client
from testing.cases import for_each


def create(*arguments: str) -> list[str]:
    """The lines that the command prints."""
    out = StringIO()
    call_command("create_account", *arguments, stdout=out)
    return out.getvalue().splitlines()


def refusal(*arguments: str) -> str:
    before = User.objects.count()
    with pytest.raises(CommandError) as refused:
        create(*arguments)
    assert (User.objects.count(), ApiKey.objects.count()) == (before, before)
    return str(refused.value)


def logs_in(client: APIClient, email: str, password: str) -> bool:
    return client.post("/api/auth/login", {"email": email, "password": password}).status_code == 200


def test_last_word_of_the_output_is_the_key(db: None) -> None:
    key = create("grace@example.com")[-1].split()[-1]
    assert is_well_formed(key)
    assert key_client(key).get("/api/urls").status_code == 200


def test_generated_password_is_printed_and_logs_in(db: None, anonymous: APIClient) -> None:
    lines = create("grace@example.com")
    assert [line.split(":")[0] for line in lines] == ["E-mail", "Password", "API key"]
    assert lines[0].split() == ["E-mail:", "grace@example.com"]
    password = lines[1].split()[-1]
    assert len(password) >= 16
    assert logs_in(anonymous, "grace@example.com", password)


def test_generated_passwords_differ(db: None) -> None:
    assert create("grace@example.com")[1] != create("hedy@example.com")[1]


def test_chosen_password_logs_in_and_is_not_printed(db: None, anonymous: APIClient) -> None:
    lines = create("grace@example.com", "--password", "a long pass phrase")
    assert [line.split(":")[0] for line in lines] == ["E-mail", "API key"]
    assert "a long pass phrase" not in "\n".join(lines)
    assert logs_in(anonymous, "grace@example.com", "a long pass phrase")


def test_password_from_standard_input_is_not_on_the_command_line(
    db: None, anonymous: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("a long pass phrase \nanother line\n"))
    out, errors = StringIO(), StringIO()
    call_command("create_account", "grace@example.com", "--password", "-", stdout=out, stderr=errors)
    assert [line.split(":")[0] for line in out.getvalue().splitlines()] == ["E-mail", "API key"]
    assert errors.getvalue() == ""
    assert logs_in(anonymous, "grace@example.com", "a long pass phrase ")


def test_password_on_the_command_line_works_with_a_warning(db: None) -> None:
    out, errors = StringIO(), StringIO()
    call_command(
        "create_account", "grace@example.com", "--password", "a long pass phrase", stdout=out, stderr=errors
    )
    assert out.getvalue().startswith("E-mail:   grace@example.com\n")
    assert errors.getvalue() == (
        "Other users and the shell's history may have the password. --password - reads standard input.\n"
    )


def test_no_password_on_standard_input_is_refused(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(""))
    assert "password" in refusal("grace@example.com", "--password", "-").lower()


@pytest.mark.parametrize("password", ["", "x" * 129])
def test_password_that_cannot_log_in_is_refused(password: str, db: None) -> None:
    """The login accepts 1 to 128 characters."""
    assert "password" in refusal("grace@example.com", "--password", password).lower()


def test_longest_password_logs_in(db: None, anonymous: APIClient) -> None:
    create("grace@example.com", "--password", "x" * 128)
    assert logs_in(anonymous, "grace@example.com", "x" * 128)


@pytest.mark.parametrize(
    ("password", "reason"),
    [
        ("short", "at least 10 characters"),
        ("password123", "too common"),
        ("grace.hopper@example", "too similar to the email"),
        ("Hopperton1", "too similar to the last name"),
    ],
)
def test_weak_password_is_refused(password: str, reason: str, db: None) -> None:
    names = ("--first-name", "Gracelynn", "--last-name", "Hopperton")
    assert reason in refusal("grace.hopper@example.com", "--password", password, *names)


@pytest.mark.parametrize("plan", ["free", "pro", "enterprise"])
def test_plan_is_the_requested_one(plan: str, db: None) -> None:
    key = create("grace@example.com", "--plan", plan)[-1].split()[-1]
    assert User.objects.get().plan == plan
    assert key_client(key).get("/api/urls/stats").json()["plan"] == plan


def test_plan_is_free_and_no_rights_are_granted_by_default(db: None) -> None:
    create("grace@example.com")
    user = User.objects.get()
    assert (user.plan, user.is_active, user.is_staff, user.is_superuser) == ("free", True, False, False)


@pytest.mark.parametrize("plan", ["gold", "Pro", "FREE", ""])
def test_unknown_plan_is_refused(plan: str, db: None) -> None:
    assert "--plan" in refusal("grace@example.com", "--plan", plan)


def test_superuser_may_use_the_admin(db: None) -> None:
    create("grace@example.com", "--superuser", "--plan", "enterprise")
    user = User.objects.get()
    assert (user.is_staff, user.is_superuser, user.plan) == (True, True, "enterprise")


def test_names_are_stored(db: None) -> None:
    create("grace@example.com", "--first-name", "Grace", "--last-name", "Hopper")
    user = User.objects.get()
    assert (user.first_name, user.last_name) == ("Grace", "Hopper")


@pytest.mark.parametrize("option", ["--first-name", "--last-name"])
def test_too_long_name_is_refused_in_one_line(option: str, db: None) -> None:
    assert "\n" not in refusal("grace@example.com", option, "x" * 101)


def test_email_is_stored_in_lower_case(db: None) -> None:
    assert create("Grace.Hopper@Example.COM")[0].split()[-1] == "grace.hopper@example.com"
    assert User.objects.get().email == "grace.hopper@example.com"


@pytest.mark.parametrize("email", ["alice@example.com", "ALICE@example.com", "Alice@Example.COM"])
def test_second_account_with_the_same_email_is_refused_in_one_line(email: str, alice: NewAccount) -> None:
    assert refusal(email) == f"An account for {email} already exists."


@for_each(
    "email",
    ["", " ", "alice", "alice@", "@example.com", "alice@example", "a b@example.com", "alice@example.com\n",
     "alice@exam ple.com", "alice@@example.com", "alice@example..com", "alice@-example.com", "a\0@example.com",
     "<a@example.com>", "a@example.com, b@example.com"],
)  # fmt: skip
def test_invalid_email_is_refused_in_one_line(email: str, db: None) -> None:
    assert refusal(email) == "email: Enter a valid email address."


def test_email_may_have_254_characters_and_no_more(db: None) -> None:
    domain = "@" + ".".join(["d" * 60] * 3) + ".com"
    longest = "a" * (254 - len(domain)) + domain
    create(longest)
    assert User.objects.get().email == longest
    assert refusal("a" + longest).startswith("email: ")


@pytest.mark.parametrize("arguments", [[], ["--password", "a long pass phrase"]])
@pytest.mark.usual_passwords
def test_password_is_hashed_with_argon2id_at_the_chosen_cost(arguments: list[str], db: None) -> None:
    create("grace@example.com", *arguments)
    assert re.match(r"argon2\$argon2id\$v=19\$m=19456,t=2,p=1\$", User.objects.get().password)
