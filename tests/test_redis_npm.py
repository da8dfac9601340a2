"""The `redis` client of npm, 6.x, drives every call it has for these commands, in RESP2 and RESP3. Skipped without npm, Node 20 or
a way to get the client."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from redis_client import BUILD, PATIENCE, SOURCE, Server, main  # noqa: E402


def client_package():
    """A folder where Node finds the client, or why there is none."""
    if not shutil.which("npm") or not shutil.which("node"):
        return None, "npm or node is missing"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    if int(re.match(r"v(\d+)", version)[1]) < 20:
        return None, f"node is too old: {version}"
    room = BUILD / "redis-npm"
    if not (room / "node_modules/redis").exists():
        room.mkdir(exist_ok=True)
        (room / "package.json").write_text('{"private": true}\n')
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", "redis@6"], cwd=room, capture_output=True,
                              text=True, timeout=PATIENCE)
        if done.returncode != 0:
            return None, "npm cannot install the client"
    return room, None


def test_every_call():
    room, missing = client_package()
    if room is None:
        print(missing)
        sys.exit(77)
    with Server() as server:
        for resp in ("2", "3"):
            done = subprocess.run(["node", SOURCE / "tests/redis_npm.mjs", str(server.port), resp, str(room)], capture_output=True,
                                  text=True, timeout=PATIENCE)
            assert done.returncode == 0 and "all calls" in done.stdout, f"RESP{resp}: {done.stdout}{done.stderr}"


if __name__ == "__main__":
    main([test_every_call])
