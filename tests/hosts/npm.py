"""Installs packages of npm in pinned versions, each into a folder of its own below the user's cache."""
import os
import pathlib
import shutil
import subprocess
import time

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "lored-hosts-1"
# Without a registry npm tries for minutes.
NPM = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1", "--fetch-timeout=60000"]


def install(name, package, until):
    """Installs a package unless it is there. Returns why that is not possible, or nothing."""
    folder = CACHE / name
    stamp = folder / ".installed"
    if stamp.is_file() and stamp.read_text() == package:
        return None
    if not shutil.which("npm"):
        return "npm is not installed"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"private": true}')
    env = {**os.environ, "PATH": f"{CACHE}/node/node_modules/node/bin:{os.environ['PATH']}"}
    argv = [*NPM, "--cache", str(CACHE / ".npm"), package]
    try:
        left = max(0, until - time.monotonic())
        done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, timeout=left)
    except subprocess.TimeoutExpired:
        return f"npm did not install {package} in time"
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        return f"npm cannot install {package}: {lines[0] if lines else done.returncode}"
    stamp.write_text(package)
    return None
