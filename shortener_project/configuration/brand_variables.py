"""The environment variables for the company's name, logo and colour."""

from __future__ import annotations

from shortener_project.configuration.brand import MAX_NAME_CHARACTERS
from shortener_project.configuration.declaration import Group

brand = Group("Appearance")
BRAND_NAME = brand.brand_name(
    "BRAND_NAME",
    "Name of the company on the dashboard, the admin, the sign-in pages and the pages of links (refusals, passwords, "
    "previews), and in the subject and signature of mails.",
    values=f"at most {MAX_NAME_CHARACTERS} characters",
)
BRAND_LOGO = brand.logo(
    "BRAND_LOGO",
    "Logo on the same pages, and in QR codes without a `logo` in the request. Each QR code keeps a copy.",
    values="path of a PNG or JPEG file of at most 100 KB and 1024 pixels across",
)
BRAND_COLOR = brand.color(
    "BRAND_COLOR",
    "Colour of buttons and links on the same pages, and of the header of the admin. They use a darker or lighter "
    "shade where its contrast is below 4.5:1. QR codes without a colour in the request also get it, if every "
    "reader can read it on white.",
)
