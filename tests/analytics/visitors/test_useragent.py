"""User-Agent headers of people, tools and bots, with the expected result of parsing."""

import crawleruseragents
import pytest

from analytics.visitors.useragent import TOOLS, Agent, is_crawler, parse_agent
from testing.cases import for_each
from tests.analytics.visitors.user_agents import CRAWLERS, PEOPLE, TOOL_AGENTS

LISTED_AS_CRAWLERS = [
    instance for entry in crawleruseragents.CRAWLER_USER_AGENTS_DATA for instance in entry["instances"]
]
# False positives of the crawler list: Facebook's in-app browser, and a model of OPPO telephones.
LISTED_BUT_PEOPLE = (" MetaIAB Facebook", "Build/AP3A.240617.008")


@for_each(("user_agent", "form_factor", "browser", "operating_system"), PEOPLE)
def test_browsers_of_people(user_agent: str, form_factor: str, browser: str, operating_system: str) -> None:
    assert parse_agent(user_agent) == Agent(form_factor, browser, operating_system, is_crawler=False)


@for_each(("user_agent", "form_factor", "browser", "operating_system"), TOOL_AGENTS)
def test_tools_are_not_crawlers(
    user_agent: str, form_factor: str, browser: str, operating_system: str
) -> None:
    assert parse_agent(user_agent) == Agent(form_factor, browser, operating_system, is_crawler=False)


@for_each("user_agent", CRAWLERS)
def test_crawlers_previews_and_monitors_are_crawlers(user_agent: str) -> None:
    assert is_crawler(user_agent) is True
    assert parse_agent(user_agent).is_crawler is True


def test_public_list_is_crawlers_except_tools_and_false_positives() -> None:
    missed = [agent for agent in LISTED_AS_CRAWLERS if not is_crawler(agent)]

    assert [
        agent
        for agent in missed
        if agent != "curl" and not any(token in agent for token in (*TOOLS, *LISTED_BUT_PEOPLE))
    ] == []


@for_each("tool", TOOLS)
def test_no_tool_is_a_crawler(tool: str) -> None:
    assert is_crawler(f"{tool}1.2.3") is False


@pytest.mark.parametrize("name", LISTED_BUT_PEOPLE)
def test_the_public_list_still_needs_its_exceptions(name: str) -> None:
    assert any(name in agent for agent in LISTED_AS_CRAWLERS)
