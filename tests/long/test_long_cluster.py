"""100 million keys over three masters: built from a stream, every one found, as many others taken
for members as the set itself says. Prints times, rates and memory. TAMIS_KEYS says how many
keys."""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from cluster_servers import cluster, tamis  # noqa: E402
from redis_client import TAMIS, main, used_memory  # noqa: E402

KEYS = int(float(os.environ.get("TAMIS_KEYS", "1e8")))


def stream(first, last, *words):
    """The numbers as lines into the command; its output, its status and the seconds it took."""
    begin = time.monotonic()
    numbers = subprocess.Popen(["seq", str(first), str(last)], stdout=subprocess.PIPE)
    done = subprocess.run([TAMIS, *words], stdin=numbers.stdout, capture_output=True, text=True)
    numbers.stdout.close()
    numbers.wait()
    assert done.stderr == "", done.stderr
    return done.stdout, done.returncode, time.monotonic() - begin


def test_many():
    with cluster(3, 0) as c:
        url = c.url("big")
        _, status, seconds = stream(1, KEYS, "build", "--items", str(KEYS), "-o", url)
        assert status == 0
        print(f"{KEYS:,} keys built in {seconds:.1f} s: {KEYS / seconds:,.0f} a second")
        facts = json.loads(tamis("info", "--json", url))
        assert facts["shards"] == 12 and facts["masters"] == 3 and facts["overfull"] == 0
        assert abs(facts["items_by_bits"] / KEYS - 1) < 0.01, facts["items_by_bits"]
        assert all(len(keys) == 4 for keys in c.shards("big").values())
        out, status, seconds = stream(1, KEYS, "check", "-vc", url)
        assert (out, status) == ("0\n", 1), out
        print(f"all found in {seconds:.1f} s: {KEYS / seconds:,.0f} a second")
        others = max(KEYS // 10, 100000)
        out, status, seconds = stream(2 * KEYS, 2 * KEYS + others - 1, "check", "-c", url)
        rate, said = int(out) / others, facts["fpr_now"]
        print(f"of {others:,} others {rate:.4%} maybe, {said:.4%} foretold, "
              f"{facts['fpr_worst']:.4%} in the worst shard; {seconds:.1f} s")
        # Six and a half deviations: a false alarm in 1e10.
        assert abs(rate - said) < 6.5 * (said * (1 - said) / others) ** 0.5, (rate, said)
        memory = [used_memory(s.client()) for s in c.masters()]
        print(f"{facts['bytes']:,} bytes, {8 * facts['bytes'] / KEYS:.2f} bits a key; memory of "
              f"the masters:",
              ", ".join(f"{m / 2**20:.0f} MiB" for m in memory))


if __name__ == "__main__":
    main([test_many])
