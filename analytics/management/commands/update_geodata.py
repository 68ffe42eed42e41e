import sys
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.checks import Tags
from django.core.management.base import BaseCommand, CommandError

from analytics.visitors.geo import Content
from analytics.visitors.geo_download import GeodataError, candidate_urls, update
from common.long_commands import STATUS, Progress


class Command(BaseCommand):
    help = "Downloads this month's city database to VAR_DIR. Running processes load it automatically."
    # The other checks load the URL configuration.
    requires_system_checks = [Tags.files]

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            content = _download()
        except GeodataError as error:
            raise CommandError(str(error)) from None
        except KeyboardInterrupt:
            is_there = settings.GEODATA_FILE.exists()
            state = "is complete: the previous version or the new one" if is_there else "does not exist"
            self.stdout.write(
                f"Interrupted. {settings.GEODATA_FILE} {state}. Run update_geodata to download again."
            )
            sys.exit(STATUS)
        metadata = content.reader.metadata()
        built = datetime.fromtimestamp(metadata.build_epoch, UTC).date()
        self.stdout.write(f"{settings.GEODATA_FILE}: {metadata.database_type} of {built}.")
        if content.attribution:
            self.stdout.write(
                "The licence requires this attribution wherever cities are shown: {text}, {url}".format(
                    **content.attribution
                )
            )


def _download() -> Content:
    urls = candidate_urls(settings.GEODATA_URL, datetime.now(UTC).date())
    with Progress(sys.stderr, "update_geodata", unit="downloaded", is_bytes=True) as progress:

        def report(size: int, total: int | None) -> None:
            progress.set_total(total)
            progress.advance(size)

        return update(settings.GEODATA_FILE, urls, report)
