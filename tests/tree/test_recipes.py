"""docs/RECIPES.md: every block is run and prints what the page shows, with servers of PostgreSQL
and nginx of its own. `test_recipes.py --accept` writes the output anew."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the source tree may be read-only
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import transcript  # noqa: E402

PAGE = transcript.SOURCE / "docs/RECIPES.md"
PORT = "8088"  # of the page; the test takes a free one
NGINX_LUA = pathlib.Path("/usr/lib/nginx/modules/ngx_http_lua_module.so")


def why_not():
    """What is missing here, or None."""
    for program in ("nginx", "curl", "node", "npm", "psql"):
        if not shutil.which(program) and not shutil.which(program, path="/usr/sbin"):
            return f"there is no {program}"
    if not NGINX_LUA.exists():
        return "nginx has no Lua"
    if not (transcript.BUILD / "web/package.json").exists():
        return "built without the npm package"
    return None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


def stop_nginx(room):
    """It runs on if a command before its end has failed."""
    file = pathlib.Path(room, "nginx.pid")
    end = time.monotonic() + 60
    while file.exists() and time.monotonic() < end:
        try:
            os.kill(int(file.read_text(encoding="ascii")), signal.SIGTERM)
        except (FileNotFoundError, ProcessLookupError, ValueError):
            return
        time.sleep(0.1)


def run_page(text, room):
    port = free_port()
    assert text.count(PORT) > 3 and port not in text
    try:
        found, wrong = transcript.markdown(text.replace(PORT, port).rstrip("\n").split("\n"), room,
                                           PAGE)
    finally:
        stop_nginx(room)
    return "\n".join(found).replace(port, PORT) + "\n", wrong


def check_figures(text):
    """The table of the first recipe has the rows of the program that measures it."""
    done = subprocess.run([sys.executable, transcript.SOURCE / "bench/recipes/passwords.py", "1e6"],
                          check=True, stdout=subprocess.PIPE, text=True)
    rows = [line.split("|")[1].strip() for line in done.stdout.splitlines()[2:]]
    assert len(rows) == 6 and "all found" in done.stdout, done.stdout
    begin = text.index("bench/recipes/passwords.py")
    for row in rows:
        assert f"| {row} |" in text[begin:begin + 1500], row


def main():
    from postgres_server import Server  # needs what why_not asks for
    text = PAGE.read_text(encoding="utf-8")
    check_figures(text)
    os.umask(0o022)  # the workers of nginx run as another user if this is root
    with Server() as server, tempfile.TemporaryDirectory() as room:
        os.environ.update(
            PGHOST="127.0.0.1", PGPORT=str(server.port), PGUSER="tamis", PGDATABASE="postgres",
            TAMIS_BUILD=str(transcript.BUILD), LD_LIBRARY_PATH=str(transcript.BUILD),
            PATH=f"{os.environ['PATH']}:/usr/sbin", no_proxy="*")
        found, wrong = run_page(text, room)
    if "--accept" in sys.argv:
        PAGE.write_text(found, encoding="utf-8")
    print(f"{wrong} wrong")
    sys.exit(wrong != 0 and "--accept" not in sys.argv)


if why_not():
    print("skipped:", why_not())
    sys.exit(77)
main()
