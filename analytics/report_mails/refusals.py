from pages.refusals import Refusal

NOT_FOUND = Refusal(
    404,
    "not_found",
    "Link not valid",
    "Open the link of the latest mail, or choose your mails in the settings of the dashboard.",
)
