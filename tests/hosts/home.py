"""A home folder of its own with a project, lore's programs and a host in it; and the processes that run there."""
import ctypes
import fcntl
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

# Time limit of one command, in seconds: hosts take 2 to 10 on an idle machine.
COMMAND_SECONDS = 120
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
PR_SET_CHILD_SUBREAPER = 36
libc = ctypes.CDLL(None, use_errno=True)


def isolate():
    """Makes what this process starts stay below it, and takes all networks but loopback away where that is allowed."""
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWNET | (CLONE_NEWUSER if uid else 0)):
        return
    if uid:
        pathlib.Path("/proc/self/setgroups").write_text("deny")
        pathlib.Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        pathlib.Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    with socket.socket() as any_socket:
        set_flags, is_up = 0x8914, 0x1
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sH14x", b"lo", is_up))


def descendants():
    """Returns the ids of all processes below this one."""
    children = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = pathlib.Path("/proc", entry, "stat").read_text()
        except OSError:
            continue
        children.setdefault(int(stat.rsplit(")", 1)[1].split()[1]), []).append(int(entry))
    found = [os.getpid()]
    for pid in found:
        found += children.get(pid, [])
    return found[1:]


def end_all():
    """Ends what this process has started, and what that left behind: daemons, servers of hosts."""
    for number, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, 10)):
        for pid in descendants():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if not os.waitpid(-1, os.WNOHANG)[0]:
                    time.sleep(0.02)
            except ChildProcessError:
                return


class Home:
    """The folder, with the environment of everything that runs in it."""

    def __init__(self, cache, lore, lored, port):
        self.cache, self.port = cache, port
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lore-host-"))
        self.home, self.project, programs = (self.folder / name for name in ("home", "home/project", "bin"))
        for folder in (self.project, programs, self.folder / "tmp"):
            folder.mkdir(parents=True)
        for name, program in (("lore", lore), ("lored", lored)):
            (programs / name).symlink_to(program)
        self.env = {
            "HOME": str(self.home), "TMPDIR": str(self.folder / "tmp"), "LANG": "C.UTF-8", "TERM": "dumb", "USER": "user",
            "SHELL": "/bin/sh", "PATH": f"{programs}:{cache}/node/node_modules/node/bin:/usr/local/bin:/usr/bin:/bin",
            "LORE_HOME": str(self.folder / "lore"), "LORE_DAEMON": str(programs / "lored"),
            # On a slow machine a hook has more time than with people.
            "LORE_HOOK_TIMEOUT_MS": "5000",
            # Where the network could not be taken away, programs find none.
            "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1,localhost",
        }
        (self.project / "README.md").write_text("A gateway.\n")
        if shutil.which("git"):
            subprocess.run(["git", "init", "-q", self.project], env=self.env, check=True)

    def put(self, value, cache_of=""):
        """Returns a value with the places put into its texts."""
        if isinstance(value, dict):
            return {key: self.put(one, cache_of) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.put(one, cache_of) for one in value]
        if not isinstance(value, str):
            return value
        places = {"port": self.port, "project": self.project, "cache": self.cache, "folder": self.cache / cache_of}
        for name, place in places.items():
            value = value.replace("{%s}" % name, str(place))
        return value

    def add(self, name, host):
        """Writes the files of a host, and sets lore up in it as a user does."""
        for path, content in self.put(host.files).items():
            path = self.home / path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
        self.run(["lore", "setup", name])
        if host.is_set_up_twice:
            self.run(["lore", "setup", name, "--project", "."])

    def run(self, argv, env=None):
        """Runs a command in the project, and returns what it prints.

        Raises RuntimeError if it fails or takes too long."""
        process = subprocess.Popen(argv, cwd=self.project, env={**self.env, "PWD": str(self.project), **(env or {})},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)
        try:
            out, err = process.communicate(timeout=COMMAND_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            raise RuntimeError(f"{argv[:3]} took more than {COMMAND_SECONDS} s: {(out + err)[-500:]}") from None
        if process.returncode:
            raise RuntimeError(f"{argv[:3]} ended with {process.returncode}: {(out + err)[-500:]}")
        return out

    def lore(self, operation, **arguments):
        """Calls an operation of the daemon."""
        return json.loads(self.run(["lore", "call", operation, json.dumps(arguments)]))
