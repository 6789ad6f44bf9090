"""Models, pictures and Pyodide: where they come from, the cache that keeps them, and the site that serves them.

``catalog`` names every file with its package, licence and checksum; ``path(name)`` gives the cached file.
"""

from onegpu_web.fetch import catalog
from onegpu_web.fetch.cache import path

__all__ = ["catalog", "path"]
