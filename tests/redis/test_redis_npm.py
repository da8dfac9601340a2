"""The `redis` client of npm drives every call it has for these commands, in RESP2 and RESP3.
Version 5, because it runs on the Node of Debian 12 (18), which version 6 does not. Skipped without
npm."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from redis_client import BUILD, PATIENCE, SOURCE, Server, main  # noqa: E402


def client_package():
    """A folder where Node finds the client, or None without npm."""
    if not shutil.which("npm") or not shutil.which("node"):
        return None
    room = BUILD / "redis-npm"
    if not (room / "node_modules/redis").exists():
        room.mkdir(exist_ok=True)
        (room / "package.json").write_text('{"private": true}\n')
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error",
                               "redis@5"], cwd=room, capture_output=True,
                              text=True, timeout=PATIENCE)
        assert done.returncode == 0, f"npm cannot install the client: {done.stdout}{done.stderr}"
    return room


def test_every_call():
    room = client_package()
    if room is None:
        print("npm or node is missing")
        sys.exit(77)
    with Server() as server:
        for resp in ("2", "3"):
            done = subprocess.run(["node", SOURCE / "tests/redis/redis_npm.mjs", str(server.port),
                                   resp, str(room)], capture_output=True,
                                  text=True, timeout=PATIENCE)
            assert done.returncode == 0 and "all calls" in done.stdout, \
                f"RESP{resp}: {done.stdout}{done.stderr}"


if __name__ == "__main__":
    main([test_every_call])
