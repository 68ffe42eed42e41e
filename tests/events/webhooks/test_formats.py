"""Messages to chats and mails: readable, and nobody can smuggle anything into them."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django.fixtures import Settings
from rest_framework.test import APIClient

from accounts.models import Member
from accounts.rights import Role
from accounts.services import NewAccount
from common.database import fetch
from events.types import EventType
from events.webhooks.fan_out import FanOut
from events.webhooks.leases import lease
from events.webhooks.models import Delivery, Format, Webhook
from events.webhooks.samples import KINDS, sample
from events.webhooks.sentences import sentences
from testing.accounts.accounts import account
from testing.accounts.workspaces import add_member, key_client_in, team
from testing.events.receivers import deliver, endpoint, happen, pass_time, received, receiver

pytestmark = pytest.mark.django_db(transaction=True)
LINK = {
    "title": "<!channel> *Sale* @everyone [x](https://evil.example/) & more",
    "shortUrl": "http://sho.rt/a_b-c",
}
OTHERS = (Format.SLACK, Format.DISCORD, Format.TEAMS)


def text_of(of_format: Format, message: Any) -> str:
    if of_format is Format.SLACK:
        assert message.keys() == {"text", "unfurl_links"}
        return message["text"]
    if of_format is Format.DISCORD:
        assert message["allowed_mentions"] == {"parse": []}
        return message["content"]
    [attachment] = message["attachments"]
    assert (message["type"], attachment["contentType"]) == (
        "message",
        "application/vnd.microsoft.card.adaptive",
    )
    assert (attachment["content"]["type"], attachment["content"]["version"]) == ("AdaptiveCard", "1.4")
    return "\n".join(block["text"] for block in attachment["content"]["body"])


def test_chats_get_escaped_lines_in_groups(api: APIClient, alice: NewAccount) -> None:
    escaped = r"\<\!channel\> \*Sale\* @everyone \[x\]\(https://evil.example/\) & more http://sho.rt/a_b-c"
    lines = {
        Format.SLACK: "&lt;!channel&gt; *Sale* @everyone [x](https://evil.example/) &amp; more http://sho.rt/a_b-c",
        Format.DISCORD: escaped,
        Format.TEAMS: escaped,
    }
    for of_format in OTHERS:
        with receiver() as server:
            webhook = endpoint(api, server, "link.created", "link.clicked", format=of_format.value)
            happen(alice.workspace, "link.created", link=LINK)
            happen(alice.workspace, "link.clicked", 3, code="k3TzP9q")
            happen(alice.workspace, "key.created", key={"name": "Not wanted"})
            for _ in range(3):
                deliver()
                pass_time("1 second")
            api.delete(f"/api/webhooks/{webhook['_id']}")
            requests = received(server)
        assert {request.headers.get("webhook-signature") for request in requests} == {None}
        shown = {line for request in requests for line in text_of(of_format, request.message).split("\n")}
        assert shown == {f"New link: {lines[of_format]}", "Clicks on k3TzP9q: 3"}


def test_clicks_take_turns_with_everything_else(api: APIClient, alice: NewAccount) -> None:
    with receiver() as server:
        endpoint(api, server, "link.created", "link.clicked", format="slack")
        happen(alice.workspace, "link.clicked", 400)
        deliver()
        happen(alice.workspace, "link.created", link=LINK)
        for _ in range(2):
            pass_time("1 second")
            deliver()
    texts = [request.message["text"].split(" ")[0] for request in received(server)]
    assert texts == ["Clicks", "New", "Clicks"]


def test_a_chat_gets_no_more_than_it_takes(api: APIClient, alice: NewAccount) -> None:
    with receiver() as server:
        endpoint(api, server, format="discord")
        happen(alice.workspace, "link.created", 20, link={"title": "x*" * 250, "shortUrl": "http://sho.rt/x"})
        deliver()
    [request] = received(server)
    assert len(request.message["content"]) <= 2000
    assert request.message["content"].split("\n")[1:] == ["… 19"]


def test_every_type_has_a_sentence_and_an_example(alice: NewAccount) -> None:
    assert set(KINDS) == set(EventType)
    for of_type in EventType:
        user = alice.user
        [line] = sentences([sample(of_type, user.public_id, user.created_at, user.public_id)])
        assert len(line) > 10
        assert "{" not in line


def test_mails_reach_members_in_their_language_until_they_leave(
    alice: NewAccount, settings: Settings, mailoutbox: list[Any]
) -> None:
    settings.SENDS_MAIL = True
    workspace, member = team(alice), account("member@example.com")
    add_member(workspace, member, Role.VIEWER)
    member.user.language = "de"
    member.user.save(update_fields=["language"])
    api = key_client_in(workspace, alice.api_key)
    ids = [str(one.user.public_id) for one in (alice, member)]
    endpoint(api, None, "link.expired", format="mail", memberIds=ids)
    happen(workspace, "link.expired", link={"title": "Spring", "shortUrl": "http://sho.rt/x"})
    deliver()
    happen(workspace, "link.expired", 2, link={"title": "Summer", "shortUrl": "http://sho.rt/y"})
    deliver()
    first, second = mailoutbox
    assert (first.to, second.to) == (["alice@example.com"], ["member@example.com"])
    assert first.body.startswith("Link has expired: Spring http://sho.rt/x\n")
    assert second.body.startswith("Link ist abgelaufen: Spring http://sho.rt/x\n")
    # Those that follow share a mail.
    Member.objects.filter(workspace=workspace, user=member.user).delete()
    pass_time("10 minutes")
    deliver()
    assert [mail.to for mail in mailoutbox[2:]] == [["alice@example.com"]]
    assert mailoutbox[2].body.count("Summer") == 2
    Member.objects.filter(workspace=workspace).update(user=member.user)
    happen(workspace, "link.expired", link={"title": "Autumn", "shortUrl": "http://sho.rt/z"})
    pass_time("10 minutes")
    deliver()
    pass_time("10 minutes")
    deliver()
    assert [mail.to for mail in mailoutbox[3:]] == [["member@example.com"]]


def test_a_mail_server_that_refuses_is_tried_again(
    api: APIClient, alice: NewAccount, settings: Settings
) -> None:
    settings.SENDS_MAIL = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    endpoint(api, None, "link.expired", format="mail", memberIds=[str(alice.user.public_id)])
    happen(alice.workspace, "link.expired", link={"title": "Spring", "shortUrl": "http://sho.rt/x"})
    deliver()
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.error) == ("pending", "The mail server did not accept the mail.")
    # That says nothing about the webhook.
    assert Webhook.objects.get().failing_since is None


def test_a_mail_that_the_service_cannot_send_is_an_attempt(
    api: APIClient, alice: NewAccount, settings: Settings, mailoutbox: list[Any]
) -> None:
    settings.SENDS_MAIL = True
    backend, settings.EMAIL_BACKEND = settings.EMAIL_BACKEND, "missing.Backend"
    endpoint(api, None, name="Two\r\nlines", format="mail", memberIds=[str(alice.user.public_id)])
    happen(alice.workspace, "link.created", link=LINK)
    deliver()
    delivery, webhook = Delivery.objects.get(), Webhook.objects.get()
    assert (delivery.attempts, delivery.error) == (1, "The service failed: ModuleNotFoundError.")
    assert (delivery.leased_until, webhook.failing_since) == (None, None)
    settings.EMAIL_BACKEND = backend
    pass_time("1 hour")
    deliver()
    assert [mail.subject for mail in mailoutbox] == ["[sho.rt] Two lines"]


def test_the_lease_of_mails_is_long_enough_for_each(
    alice: NewAccount, api: APIClient, settings: Settings
) -> None:
    settings.SENDS_MAIL, settings.EMAIL_TIMEOUT = True, 10
    endpoint(api, None, format="mail", memberIds=[str(alice.user.public_id)])
    happen(alice.workspace, "link.created", link=LINK)
    FanOut().step()
    [leased] = lease(8, [Format.MAIL], slow=True, threads=8)
    [[seconds]] = fetch("SELECT extract(epoch FROM leased_until - now()) FROM events_delivery")
    assert (leased.attempts, round(seconds / 15)) == (1, 5)
