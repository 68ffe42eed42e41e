"""Links that come from elsewhere bring a number of clicks, of which this service has recorded none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("links", "0006_created_links")]

    operations = [
        migrations.AddField(
            model_name="clickcounter",
            name="imported",
            field=models.BigIntegerField(db_default=0),
        ),
    ]
