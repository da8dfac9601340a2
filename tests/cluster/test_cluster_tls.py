"""rediss:// addresses: every command over TLS, on one server and on a cluster; certificates that
are expired, made by strangers or for other hosts; servers that do not speak TLS, and addresses that
do not."""
import atexit
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from cluster_servers import lines, move, tamis  # noqa: E402
from redis_client import BUILD, SOURCE, TAMIS, main, wait_for  # noqa: E402
from secure_servers import Certificates, SecureServer, secure_cluster  # noqa: E402

ROOM = pathlib.Path(tempfile.mkdtemp(prefix="tamis-tls-"))
atexit.register(shutil.rmtree, ROOM, ignore_errors=True)
KEYS = [f"key {i}" for i in range(20000)]
FILES = None
TRUST = ()


def fails(*words, why, not_in=(), **more):
    said = tamis(*words, given="", status=2, **more)
    assert all(text in said for text in ([why] if isinstance(why, str) else why)), (words, said)
    assert not any(text in said for text in not_in) and said.count("\n") <= 2, (words, said)


def test_key_that_others_may_read():
    """As the other secrets of a user; the reason does not depend on the server."""
    key = ROOM / "open.key"
    shutil.copyfile(FILES / "client.key", key)
    with SecureServer(*FILES.at_server(clients="yes")) as server:
        certified = (*TRUST, "--cert", FILES / "client.crt", "--key", key)
        for mode in (0o640, 0o604):
            key.chmod(mode)
            fails("info", *certified, server.url("a"),
                  why=f"{key}: others may read this key (mode {mode:04o})")
        key.chmod(0o600)
        tamis("build", *certified, "--items", 9, "-o", server.url("a"), given="a\n")


def test_commands():
    """Every command gives over TLS what it gives without, and its options may be in the
    address."""
    with SecureServer(*FILES.at_server(clients="yes")) as server:
        certified = (*TRUST, "--cert", FILES / "client.crt", "--key", FILES / "client.key")
        plain = f"redis://127.0.0.1:{server.port}/"

        def at(name, trust=f"cacert={FILES / 'ca.crt'}"):
            return server.url(name) + f"?{trust}&cert={FILES / 'client.crt'}" \
                + f"&key={FILES / 'client.key'}"
        keys = ROOM / "keys"
        keys.write_text(lines(KEYS))
        tamis("build", *certified, "--kind", "cuckoo", "--items", 40000, "-o", server.url("a"),
              keys)
        tamis("add", at("a"), given="one more\n")
        tamis("remove", *certified, server.url("a"), given=lines(KEYS[:10000]))
        left = lines(KEYS[10000:] + ["one more"])
        assert tamis("check", "-c", at("a"), given=left) == "10001\n" \
            == tamis("check", "-c", plain + "a", given=left)
        tamis("count", "-o", at("often"), given="x\ny\nx\n")
        tamis("count", "--kind", "top", "-o", at("list"), given="x\ny\nx\n")
        assert tamis("freq", at("often"), "x", "y").split()[0::3] == ["2", "1"]
        assert "x" in tamis("top", "-n", 1, at("list"))
        tamis("build", "--items", 9, "-o", at("b"), given="b\n")
        tamis("build", "--items", 9, "-o", at("c"), given="c\n")
        tamis("merge", "-o", at("both"), at("b"), at("c"))
        assert tamis("check", at("both"), given="b\nc\nd\n") == "b\nc\n"
        assert tamis("distinct", "-o", at("d"), given="1\n2\n1\n") == "2\n" \
            == tamis("distinct", at("d"), at("d"))
        tamis("build", "--kind", "window", "--items", 9, "-o", at("w"), given="b\n")
        tamis("rotate", at("w"))
        info = tamis("info", at("a"))
        assert info.startswith(server.url("a") + ":") and info == tamis(
            "info", plain + "a").replace(plain + "a", server.url("a"))
        assert tamis("info", "--json", at("a")).count(FILES / "ca.crt") == 0
        # By default the system's certificates count, which a variable of OpenSSL replaces.
        fails("info", at("a", trust="db=0"), why=["not trusted", "--cacert"])
        assert tamis("info", at("a", trust="db=0"), env={"SSL_CERT_FILE": FILES / "ca.crt"}) == info
        # The sets of a merge are reached by one connection.
        fails("merge", "-o", at("e"), at("b"), at("c", trust="sni=localhost"),
              why="is at another address")


def test_big():
    """More than fits into the buffers of a connection, while the server does not read."""
    with SecureServer(*FILES.at_server()) as server:
        items = [f"{i:06d}" + "x" * 1000 for i in range(40000)]
        tamis("build", *TRUST, "--items", 50000, "-o", server.url("s"))
        add = subprocess.Popen([TAMIS, "add", *TRUST, server.url("s")], stdin=subprocess.PIPE)
        client = server.client()
        wait_for(lambda: b"cmd=hmget " in client.do("CLIENT", "LIST").lower(), "it does not begin")
        sleeper = threading.Thread(target=lambda: client.do("DEBUG", "SLEEP", 1))
        sleeper.start()
        add.communicate(lines(items).encode())
        sleeper.join()
        assert add.returncode == 0
        assert tamis("check", "-c", *TRUST, server.url("s"), given=lines(items)) == "40000\n"
        # An item that takes many records of TLS in both directions.
        long = "y" * 3_000_000
        tamis("count", "--kind", "top", "-o", server.url("t"), *TRUST, given=long + "\n")
        assert long[:40] in tamis("top", *TRUST, server.url("t"))


def test_killed():
    """A server that dies while lines are sent to it is an error, and does not kill the command."""
    with SecureServer(*FILES.at_server()) as server:
        tamis("build", *TRUST, "--items", 50000, "-o", server.url("s"))
        add = subprocess.Popen([TAMIS, "add", "--timeout", "1", *TRUST, server.url("s")],
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        client = server.client()
        wait_for(lambda: b"cmd=hmget " in client.do("CLIENT", "LIST").lower(), "it does not begin")
        client.send("DEBUG", "SLEEP", 60)
        killer = threading.Timer(0.5, server.stop)
        killer.start()
        said = add.communicate((("x" * 1000 + "\n") * 40000).encode())[1].decode()
        killer.join()
        assert add.returncode == 2 and "gave up after" in said, (add.returncode, said)


def test_idle():
    """A connection that the server closes while it is idle is opened again; tickets for later
    sessions, which servers send unasked, do not make the command open it again."""
    with SecureServer(*FILES.at_server()) as server:
        url = server.url("s")
        tamis("build", *TRUST, "--kind", "counting", "--items", 10, "-o", url, given="a\nb\nc\nd\n")
        remove = subprocess.Popen([TAMIS, "remove", *TRUST, url], stdin=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        client = server.client()

        def connections():
            stats = client.do("INFO", "stats")
            return int(stats.split(b"total_connections_received:")[1].split()[0])
        seen, calls = [], 0
        for item, kill in ((b"a\n", False), (b"b\n", False), (b"c\n", True), (b"d\n", True)):
            wait_for(lambda n=calls: (b"cmd=tamis.remove " if n else b"cmd=hmget ")
                     in client.do("CLIENT", "LIST").lower() and (not n or f"calls={n},".encode() in
                                                                 client.do("INFO", "commandstats")
                                                                 .split(b"cmdstat_tamis.remove:")[1]
                                                                 .split()[0]), "it does not wait")
            if kill:
                client.do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            seen.append(connections())
            remove.stdin.write(item)
            remove.stdin.flush()
            calls += 1
        said = remove.communicate()[1]
        assert (remove.returncode, said) == (0, b""), said
        assert seen[0] == seen[1] == seen[2] < connections(), (seen, connections())


def test_certificates():
    """What is verified of the server, and what the server verifies."""
    for name, why in (("expired", "has expired"), ("elsewhere", "is not for localhost; --sni"),
                      ("alone", ["not trusted (self-signed certificate)", "--cacert"]),
                      ("stranger", "not trusted")):
        with SecureServer(*FILES.at_server(name)) as server:
            fails("check", *TRUST, server.url("s"), why=why)
            if name == "alone":
                with_itself = ("--cacert", FILES / "alone.crt")
                fails("check", *with_itself, server.url("s"), why="there is no such set")
                # Not even its own certificate makes it a server of another name.
                fails("check", *with_itself, "--sni", "db.example", server.url("s"),
                      why="is not for db.example")
            if name == "elsewhere":
                fails("check", *TRUST, "--sni", "elsewhere.example", server.url("s"),
                      why="there is no such set")
                fails("check", *TRUST, server.url("s") + "?sni=elsewhere.example",
                      why="there is no such set")
                fails("check", *TRUST, server.url("s", host="127.0.0.1"), why="not for 127.0.0.1")
                # To OpenSSL this would mean every host below it.
                fails("check", *TRUST, "--sni", ".example", server.url("s"),
                      why="'.example' is not the name of a host")
    # Version 1.2 refuses a client before the end of the handshake, and 1.3 after it.
    for version in ("TLSv1.2", "TLSv1.3"):
        with SecureServer(*FILES.at_server(clients="yes"), "--tls-protocols", version) as server:
            fails("check", *TRUST, server.url("s"), why="requires a client certificate")
            fails("check", *TRUST, "--cert", FILES / "stranger.crt", "--key",
                  FILES / "stranger.key", server.url("s"), why="refuses the client certificate")
            fails("check", *TRUST, "--cert", FILES / "client.crt", "--key", FILES / "client.key",
                  server.url("s"), why="there is no such set")
    with SecureServer(*FILES.at_server(clients="yes")) as server:
        url = server.url("s")
        for _ in range(5):  # the server may close the connection before or after its reason is read
            fails("check", *TRUST, url, why="requires a client certificate: name it with --cert")
        FILES.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", FILES / "rsa.key",
                      "-out", FILES / "rsa.crt", "-days", 2, "-subj", "/CN=client")
        for cert, key, why in (("client.crt", "stranger.key", "is not the key of the certificate"),
                               ("rsa.crt", "client.key", "is not the key of the certificate"),
                               ("client.crt", "rsa.key", "is not the key of the certificate"),
                               ("client.crt", "none", "none: cannot read: No such file"),
                               ("none", "client.key", "none: cannot read: No such file"),
                               ("client.key", "client.key", "has no certificate in PEM format"),
                               ("client.crt", "client.crt", "has no private key in PEM format")):
            fails("check", *TRUST, "--cert", FILES / cert, "--key", FILES / key, url, why=why)
        # OpenSSL would ask for the password on the terminal.
        FILES.openssl("ec", "-in", FILES / "client.key", "-aes128", "-passout", "pass:x", "-out",
                      FILES / "locked.key")
        fails("check", *TRUST, "--cert", FILES / "client.crt", "--key", FILES / "locked.key", url,
              why="without a password")
        for option in ("--cert", "--key"):
            fails("check", *TRUST, option, FILES / "client.crt", url, why="both --cert and --key")
        fails("check", "--cacert", FILES / "none", url, why="none: cannot read: No such file")
        fails("check", "--cacert", FILES / "ca.key", url, why="has no certificate in PEM format")
        fails("check", "--cacert", "", url, why="--cacert: its value is empty")


def test_wrong_ports():
    """The likely mistake is named, and nothing is sent without TLS instead."""
    with SecureServer(*FILES.at_server()) as server:
        fails("check", f"redis://localhost:{server.secure_port}/s",
              why=["if it expects TLS", "rediss://"])
        # Redis waits for the end of a line that does not come, or answers with an error.
        said = tamis("check", *TRUST, f"rediss://localhost:{server.port}/s", given="", status=2)
        assert "speak TLS at this port" in said and "redis:// instead" in said, said
    for answer in (b"-ERR unknown command\r\n", b"", b"\x15\x03\x01\x00\x02\x02\x46"):
        liar = socket.create_server(("127.0.0.1", 0))

        def talk(reply=answer, at=liar):
            connection = at.accept()[0]
            connection.recv(4096)
            connection.sendall(reply)
            connection.shutdown(socket.SHUT_RDWR)
        threading.Thread(target=talk, daemon=True).start()
        fails("check", *TRUST, f"rediss://127.0.0.1:{liar.getsockname()[1]}/s",
              why="protocol version" if answer[:1] == b"\x15" else "speak TLS at this port")
        liar.close()
    # A server that says nothing at all, and one that does not exist.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        fails("check", *TRUST, f"rediss://127.0.0.1:{silent.getsockname()[1]}/s",
              why="no answer to the start of TLS")
        fails("check", f"redis://127.0.0.1:{silent.getsockname()[1]}/s", why="no answer")
        gone = silent.getsockname()[1]
    fails("check", *TRUST, f"rediss://127.0.0.1:{gone}/s", why="Connection refused")
    # Options of TLS never go with an address that does not use it.
    for option in ("--cacert", "--cert", "--key", "--sni"):
        fails("check", option, "x", f"redis://127.0.0.1:{gone}/s", why="write rediss://")
        fails("check", option, "x", ROOM / "x.tamis", why=f"{option} requires a set at a redis")
        fails("check", f"redis://127.0.0.1:{gone}/s?{option[2:]}=x", why="write rediss://")
    fails("check", "--password-file", "x", ROOM / "x.tamis", why="requires a set at a redis")
    fails("build", "--key", "x", "-o", ROOM / "x.tamis", why="is --key-file")


def test_cluster():
    """Redirections and the table of slots lead to TLS ports, with the same certificates and
    credentials."""
    with secure_cluster(FILES, options=("--tls-replication", "yes")) as cluster:
        for server in cluster.servers:
            server.client().do("ACL", "SETUSER", "me", "on", ">pass word", "~*", "+@all")
            server.client().do("ACL", "SETUSER", "nobody", "on", ">pass word", "~*", "+@all",
                               "-tamis.mhas")
        first = cluster.servers[0]
        url = first.url("s", user="me:pass%20word@")
        tamis("build", *TRUST, "--items", 40000, "--shards", 3, "-o", url, given=lines(KEYS))
        assert tamis("check", "-c", *TRUST, url, given=lines(KEYS)) == "20000\n"
        assert "3 masters" in tamis("info", *TRUST, url)
        add = subprocess.Popen([TAMIS, "add", "--ack", *TRUST, url], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
        slot = first.client().do("CLUSTER", "KEYSLOT", "s:{0}")

        def owner():
            for begin, end, master, *_ in first.client().do("CLUSTER", "SLOTS"):
                if begin <= slot <= end:
                    return next(s for s in cluster.servers
                                if master[1] in (s.port, s.secure_port))
        source = owner()
        target = next(s for s in cluster.servers if s is not source)
        moved, asked = cluster.errors("MOVED"), cluster.errors("ASK")
        done = 0

        def some(n):
            nonlocal done
            add.stdin.write(lines(f"more {i}" for i in range(done, done + n)).encode())
            add.stdin.flush()
            done += n
            while int(add.stdout.readline()) < done:
                pass
        some(1000)
        for _ in move(slot, source, target, target.secure_port):
            some(1000)  # by ASK
        wait_for(lambda: owner() is target, "the slot does not arrive")
        some(1000)  # by MOVED
        add.stdin.close()
        assert add.wait() == 0
        assert cluster.errors("ASK") > asked and cluster.errors("MOVED") > moved
        assert tamis("check", "-c", *TRUST, url,
                     given=lines(f"more {i}" for i in range(done))) == f"{done}\n"
        fails("check", *TRUST, first.url("s", user="me:wrong@"), why="WRONGPASS",
              not_in=("me:", "wrong@"))
        said = tamis("check", *TRUST, first.url("s", user="nobody:pass%20word@"), given="a\n",
                     status=2)
        assert "NOPERM" in said and "tamis.mhas" in said and "docs/REDIS.md" in said, said
        # The nodes announce IP addresses, which this name in all certificates replaces.
        assert "3 masters" in tamis("info", *TRUST, "--sni", "localhost", url)
        fails("info", *TRUST, "--sni", "elsewhere.example", url, why="not for elsewhere.example")
        # At the ports without TLS the same cluster announces those.
        plain = f"redis://me:pass%20word@127.0.0.1:{first.port}/s"
        assert tamis("check", "-c", plain, given=lines(KEYS)) == "20000\n"


def test_announced_ports():
    """A cluster whose nodes announce ports without TLS: an error, and never a connection without
    it. Since Redis 7.2 they announce the ports that have it."""
    with SecureServer(*FILES.at_server(), "--cluster-enabled", "yes") as server:
        server.client().do("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        server.client().do("CONFIG", "SET", "cluster-announce-ip", "127.0.0.1")
        wait_for(lambda: b"cluster_state:ok" in server.client().do("CLUSTER", "INFO"), "no cluster")
        said = tamis("check", *TRUST, "--timeout", 1, server.url("s"), given="a\n", status=2)
        about = server.client().do("INFO", "server").decode()
        if re.search(r"redis_version:(7\.[2-9]|[89]\.|\d\d)", about):
            assert "there is no such set" in said, said
            return
        assert f"127.0.0.1:{server.port}: " in said and "speak TLS at this port" in said, said
        commands = server.client().do("INFO", "commandstats")
        assert b"hmget" not in commands, commands


def test_announced_hosts():
    """Nodes are verified by the host that the cluster announces, or by --sni."""
    FILES.sign("named", "DNS:localhost")
    with SecureServer(*FILES.at_server("named"), "--cluster-enabled", "yes", "--tls-cluster",
                      "yes", "--cluster-announce-ip", "127.0.0.1") as server:
        client = server.client()
        client.do("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_for(lambda: b"cluster_state:ok" in client.do("CLUSTER", "INFO"), "no cluster")
        missing = ("check", *TRUST, "--timeout", 1, server.url("s"))
        said = tamis(*missing, given="a\n", status=2)
        assert f"127.0.0.1:{server.secure_port}: the server's certificate is not for 127.0.0.1" \
            in said, said
        fails(*missing, "--sni", "localhost", why="there is no such set")
        client.do("CONFIG", "SET", "cluster-announce-hostname", "localhost")
        client.do("CONFIG", "SET", "cluster-preferred-endpoint-type", "hostname")
        fails(*missing, why="there is no such set")


def test_without_openssl():
    """Where the library is missing, or cannot be used, the error says so."""
    with SecureServer(*FILES.at_server()) as server:
        broken = ROOM / "lib"
        broken.mkdir()
        name = next(line.split()[-1] for line in subprocess.run(
            ["ldd", shutil.which("redis-server")], capture_output=True, text=True,
            check=True).stdout.replace("=>", "\n").splitlines() if "libssl" in line)
        (broken / os.path.basename(name)).write_bytes(b"not a library")
        fails("check", *TRUST, server.url("s"), env={"LD_LIBRARY_PATH": broken},
              why="OpenSSL cannot be loaded: ")
        # Without it, everything else works.
        fails("check", f"redis://127.0.0.1:{server.port}/s", env={"LD_LIBRARY_PATH": broken},
              why="there is no such set")
        # A build without its headers.
        (ROOM / "lacks.c").write_text(f"""
            #include "{SOURCE}/cluster/cluster.h"
            #include <stdio.h>
            int main(void)
            {{
                struct cluster_address a;
                const struct cluster_options o = {{0}};
                if (cluster_parse("{server.url("s")}", &a) != NULL) return 1;
                struct cluster *c = cluster_open(&a, &o);
                puts(cluster_why(c));
                cluster_close(c);
                return 0;
            }}""")
        flags = os.environ.get("TEST_CFLAGS", "").split()
        subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", *flags, f"-I{SOURCE}/include",
                        ROOM / "lacks.c", *(SOURCE / "cluster").glob("*.c"), BUILD / "libtamis.a",
                        "-lhiredis", "-lm", "-pthread", "-o", ROOM / "lacks"], check=True)
        said = subprocess.run([ROOM / "lacks"], capture_output=True, text=True, check=True).stdout
        assert said == ("this tamis was built without OpenSSL, so rediss:// addresses are not "
                        "available\n"), said


def test_memory():
    """Commands that do not use TLS do not load OpenSSL."""
    with SecureServer(*FILES.at_server()) as server:
        tamis("build", *TRUST, "--items", 9, "-o", server.url("s"), given="a\n")
        for url, loads in ((f"redis://127.0.0.1:{server.port}/s", False), (server.url("s"), True)):
            process = subprocess.Popen([TAMIS, "check", "-q", *(TRUST if loads else ()), url],
                                       stdin=subprocess.PIPE)
            client = server.client()
            wait_for(lambda c=client: b"cmd=hmget " in c.do("CLIENT", "LIST").lower(), "no query")
            maps = pathlib.Path(f"/proc/{process.pid}/maps").read_text()
            assert ("libssl" in maps) == loads and "libc.so" in maps, url
            process.communicate(b"a\n")
            assert process.returncode == 0
            client.close()


def run(tests):
    global FILES, TRUST
    FILES = Certificates(ROOM)
    TRUST = ("--cacert", FILES / "ca.crt")
    main(tests)


if __name__ == "__main__":
    if not shutil.which("redis-server"):
        print("redis-server is missing")
        sys.exit(77)
    run([test_commands, test_key_that_others_may_read, test_big, test_killed, test_idle,
         test_certificates, test_wrong_ports, test_cluster, test_announced_ports,
         test_announced_hosts, test_without_openssl, test_memory])
