from testing.service.fixtures import caddy as caddy
from testing.service.fixtures import make_database as make_database
from testing.service.fixtures import make_empty_database as make_empty_database
from testing.service.fixtures import make_service as make_service
