"""100,000 mutated payloads of each type, and a soak of ten minutes: all families, written at once
by several clients, saved, rewritten and reloaded meanwhile, with a replica that is equal in the
end. TAMIS_SOAK says how many seconds."""
import os
import random
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from redis_client import Error, Server, main, used_memory, wait_for  # noqa: E402
from redis_values import fill, state, synced  # noqa: E402

SECONDS = float(os.environ.get("TAMIS_SOAK", "600"))


def test_payloads():
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                        "redis/test_redis_hostile.py")
    subprocess.run([sys.executable, path, "mutated"], env={"TAMIS_FUZZ": "100000", **os.environ},
                   check=True)


def work(server, number, end, problems):
    try:
        client = server.client()
        rng, rounds = random.Random(number), 0
        while time.monotonic() < end:
            tag = f"-{number}-{rng.randrange(5)}"
            keys = client.do("KEYS", f"*{tag}")
            if keys:
                client.do(rng.choice(("DEL", "UNLINK")), *keys)
            fill(client, tag, rng.randrange(1, 80))
            rounds += 1
        assert rounds > 0
    except Exception as problem:  # noqa: BLE001
        problems.append(problem)


def test_soak():
    end, problems = time.monotonic() + SECONDS, []
    with Server("--appendonly", "yes", "--auto-aof-rewrite-percentage", "50",
                "--auto-aof-rewrite-min-size", "1mb") as one, Server() as two:
        primary, replica = one.client(), two.client()
        replica.do("REPLICAOF", "127.0.0.1", one.port)
        workers = [threading.Thread(target=work, args=(one, n, end, problems)) for n in range(4)]
        for worker in workers:
            worker.start()
        while any(worker.is_alive() for worker in workers):
            time.sleep(1)
            reply = primary.call("BGSAVE")
            assert reply == "Background saving started" or isinstance(reply, Error), reply
            assert used_memory(primary) < 200 << 20
        for worker in workers:
            worker.join()
        assert not problems, problems
        synced(primary, replica)
        before = state(primary)
        assert state(replica) == before
        assert b"unexpected_error_replies:0" in replica.do("INFO", "stats") \
            and "CRITICAL" not in two.log()
        wait_for(lambda: b"aof_rewrite_in_progress:0" in primary.do("INFO", "persistence"),
                 "no end of the rewrite")
        primary.do("DEBUG", "LOADAOF")
        after = state(primary)
        different = [key for key in before.keys() | after.keys()
                     if before.get(key) != after.get(key)]
        assert not different, different


if __name__ == "__main__":
    main([test_payloads, test_soak])
