from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from analytics.geo_download import GeodataError, addresses, update


class Command(BaseCommand):
    help = "Fetches this month's file of cities into VAR_DIR; what is running takes it into use by itself."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            content = update(settings.GEODATA_FILE, addresses(settings.GEODATA_URL, datetime.now(UTC).date()))
        except GeodataError as error:
            raise CommandError(str(error)) from None
        metadata = content.reader.metadata()
        built = datetime.fromtimestamp(metadata.build_epoch, UTC).date()
        self.stdout.write(f"{settings.GEODATA_FILE}: {metadata.database_type} of {built}.")
        if content.attribution:
            self.stdout.write("To be shown with cities: {text}, {url}".format(**content.attribution))
