# Before a test changes the setting that these routes depend on.
import shortener_project.urls  # noqa: F401 # for its side effect
