from tests.service.conftest import caddy as caddy
from tests.service.conftest import make_database as make_database
from tests.service.conftest import make_empty_database as make_empty_database
from tests.service.conftest import make_service as make_service
