"""Sets a checkout up: system packages, .venv, prettier, models and Pyodide. `make setup` runs it.

Every step is skipped when it is done already, so that a set-up checkout needs neither network nor more than a second.
A step that cannot be done says what is missing and how to get it. Uses the standard library alone, and runs on any
Python 3.8 or newer so that it can say so when there is none that suits.
"""

import argparse
import ctypes
import glob
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
OLDEST = (3, 11)
# Newest first among those that the project is tested on; newer ones only where there is none of these.
TESTED = ((3, 13), (3, 12), (3, 11))
UNTESTED = ((3, 14), (3, 15))


class SetupError(Exception):
    """A step cannot be done; the message says what is missing and how to get it."""


def main() -> int:
    """Runs all steps; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", help="interpreter for .venv (default: the newest suitable one on this machine)")
    args = parser.parse_args()
    try:
        install_system_packages()
        make_venv(args.python)
        install_python_packages()
        install_prettier()
        fetch_files()
    except SetupError as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nsetup: interrupted; run it again to go on", file=sys.stderr)
        return 130
    return 0


# ----- System packages


def missing_packages() -> list:
    """Debian packages whose files are not on this machine."""
    missing = []
    if not (shutil.which("chromium-headless-shell") or shutil.which("chromium")):
        missing.append("chromium-headless-shell")
    if not has_vulkan_loader():
        missing.append("libvulkan1")
    # lavapipe is asked for even where there is a GPU: its results are the ones that the tests are made for.
    if not (glob.glob("/usr/share/vulkan/icd.d/lvp_icd*.json") or glob.glob("/etc/vulkan/icd.d/lvp_icd*.json")):
        missing.append("mesa-vulkan-drivers")
    if not Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf").is_file():
        missing.append("fonts-dejavu-core")
    return missing


def has_vulkan_loader() -> bool:
    """Whether wgpu will find the Vulkan loader."""
    try:
        ctypes.CDLL("libvulkan.so.1")
    except OSError:
        return False
    return True


def install_system_packages() -> None:
    """Installs what the tests need from Debian, if anything is missing."""
    missing = missing_packages()
    if missing:
        apt_install(missing)
        left = missing_packages()
        if left:
            raise SetupError(f"apt installed {' '.join(missing)}, but {' '.join(left)} is still not found")


def apt_install(packages: list) -> None:
    """apt-get install, through sudo unless root."""
    names = " ".join(packages)
    by_hand = f"install {names} (on Debian and Ubuntu, as root: apt-get install {names})"
    if shutil.which("apt-get") is None:
        raise SetupError(f"these system packages are missing and there is no apt-get: {by_hand}")
    if os.geteuid() != 0 and shutil.which("sudo") is None:
        raise SetupError(f"these system packages are missing, and this is neither root nor is there sudo: {by_hand}")
    # env, because sudo drops the variable.
    apt = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-o", "Acquire::Retries=2"]
    sudo = [] if os.geteuid() == 0 else ["sudo"]
    say(f"installing Debian packages: {names}")
    for command in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        if subprocess.call([*sudo, *apt, *command], stdout=subprocess.DEVNULL) != 0:
            raise SetupError(f"apt-get {command[0]} failed (see above; it needs the network): {by_hand}")


# ----- Python


def make_venv(wanted: str) -> None:
    """Makes .venv unless there is one that works and was made by the interpreter asked for."""
    python = venv_python()
    if version_of(str(python)) and not wanted:
        return
    base = find_python(wanted)
    if version_of(str(python)) and version_of(str(python)) == version_of(base):
        return
    say(f"making .venv with {base} ({version_text(version_of(base))})")
    if subprocess.call([base, "-m", "venv", "--clear", str(VENV)]) != 0:
        raise SetupError(f"{base} -m venv failed (see above)")


def venv_python() -> Path:
    """.venv's interpreter."""
    return VENV / "bin" / "python"


def find_python(wanted: str) -> str:
    """An interpreter that can make a venv; on Debian its venv module is installed if only that is missing."""
    if wanted:
        candidates = [shutil.which(wanted) or wanted]
    else:
        candidates = [path for version in (*TESTED, *UNTESTED) for path in interpreters(version)]
    for path in candidates:
        if version_of(path) and makes_venvs(path):
            return path
    debian = [path for path in candidates if version_of(path) and path.startswith("/usr/bin/")]
    if debian:
        apt_install([f"python{version_text(version_of(debian[0]))}-venv"])
        if makes_venvs(debian[0]):
            return debian[0]
    what = wanted or "an interpreter"
    raise SetupError(
        f"{what} must be Python {version_text(OLDEST)} or newer with its venv module; "
        "on Debian 12 or newer: apt-get install python3 python3-venv, or name one: make setup PYTHON=/path/to/python"
    )


def interpreters(version: tuple) -> list:
    """Interpreters of that version: on the PATH, then pyenv's (whose shims on the PATH work only when switched on)."""
    name = f"python{version_text(version)}"
    on_path = [os.path.join(folder, name) for folder in os.get_exec_path()]
    pyenv = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    own = sorted(glob.glob(f"{pyenv}/versions/{version_text(version)}.*/bin/{name}"), reverse=True)
    return [path for path in [*on_path, *own] if os.access(path, os.X_OK)]


def version_of(python: str) -> tuple:
    """(major, minor) of an interpreter that runs and is new enough, otherwise an empty tuple."""
    try:
        command = [python, "-c", "import sys; print(*sys.version_info[:2])"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    version = tuple(int(part) for part in done.stdout.split()) if done.returncode == 0 else ()
    return version if version >= OLDEST else ()


def makes_venvs(python: str) -> bool:
    """Whether the modules that a venv with pip needs are there; Debian packages them apart."""
    command = [python, "-c", "import ensurepip, ssl, venv"]
    return subprocess.call(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0


def version_text(version: tuple) -> str:
    """(3, 13) as 3.13."""
    return ".".join(str(part) for part in version)


def install_python_packages() -> None:
    """Installs the project, editable, with everything that its tests need."""
    python = venv_python()
    # The path is part of it: an editable install names the checkout, which may have been moved.
    wanted = digest((ROOT / "pyproject.toml").read_bytes(), str(ROOT).encode())
    if is_done("python", wanted):
        return
    say("installing Python packages into .venv")
    command = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    if subprocess.call([*command, "--editable", f"{ROOT}[dev]"]) != 0:
        raise SetupError("pip install failed (see above); it needs the network, or an index in pip's settings")
    mark_done("python", wanted)


# ----- Node, models, Pyodide


def install_prettier() -> None:
    """Installs the formatter of the page's files, pinned by package-lock.json."""
    npm = shutil.which("npm")
    if npm is None:
        raise SetupError("npm is missing: install Node.js 20 or newer")
    wanted = digest((ROOT / "package-lock.json").read_bytes())
    if is_done("prettier", wanted) and (ROOT / "node_modules" / ".bin" / "prettier").exists():
        return
    say("installing prettier into node_modules")
    if (
        subprocess.call(
            [npm, "ci", "--loglevel=error", "--prefer-offline", "--fetch-retries=1", "--no-audit", "--no-fund"],
            cwd=str(ROOT),
            stdout=subprocess.DEVNULL,
        )
        != 0
    ):
        raise SetupError("npm ci failed (see above); it needs the network, or a registry named in npm's settings")
    mark_done("prettier", wanted)


def fetch_files() -> None:
    """Fills the cache; the command reports what it does and what is missing."""
    if subprocess.call([str(VENV / "bin" / "onegpu-web"), "fetch"], cwd=str(ROOT)) != 0:
        raise SetupError("models and Pyodide are not complete (see above); what was fetched is kept")


# ----- Stamps


def digest(*parts: bytes) -> str:
    """A checksum of what a step depends on."""
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def is_done(step: str, wanted: str) -> bool:
    """Whether the step was done for the same inputs. The stamps lie in .venv and go with it."""
    stamp = VENV / f"setup-{step}.stamp"
    return stamp.is_file() and stamp.read_text() == wanted


def mark_done(step: str, wanted: str) -> None:
    """Remembers it."""
    (VENV / f"setup-{step}.stamp").write_text(wanted)


def say(text: str) -> None:
    """A line about what takes time."""
    print(f"setup: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
