"""The command line: one parser, and exit codes that scripts can rely on.

0: done; 1: an error of the package, in one line on stderr; 2: wrong usage; 130: stopped with Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from .. import __version__
from ..errors import OnegpuError, UnsupportedError

EXIT_ERROR = 1
EXIT_INTERRUPTED = 130


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; each sets `run`, which takes the parsed arguments and returns the exit code."""
    # Imported here, so that importing the package on a page loads none of it.
    from ..fetch.cli import add_demo_parser, add_fetch_parser
    from .jobs import add_job_parsers
    from .models import add_info_parser, add_run_parser

    parser = argparse.ArgumentParser(
        prog="onegpu-web",
        description="Run image models on the GPU through WebGPU: on this machine, or in a browser with `demo`.",
        epilog="Models come into the cache with `onegpu-web fetch`.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_info_parser(commands)
    add_run_parser(commands)
    add_job_parsers(commands)
    add_demo_parser(commands)
    add_fetch_parser(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command (sys.argv by default) and return its exit code."""
    parsed = build_parser().parse_args(arguments)
    try:
        code: int = parsed.run(parsed)
        sys.stdout.flush()
    except OnegpuError as error:
        print(f"onegpu-web: {one_line(error)}", file=sys.stderr)
        return EXIT_ERROR
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_ERROR
    return code


def one_line(error: OnegpuError) -> str:
    """An error as one line: a shader's text is left out, missing operators are listed."""
    message = (str(error).splitlines() or [type(error).__name__])[0]
    if isinstance(error, UnsupportedError) and error.missing:
        return f"{message} {', '.join(error.missing)}"
    return message
