"""`python -m onegpu_web` and the command `onegpu-web`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
