"""The groups of calls of the benchmark at tiny sizes: every promised row is in bench.json, also
those of a peer that is loaded; a peer that loses keys is found out; callgrind's instructions get
into the rows; and the tables show an older run beside this one. No time is tested."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE",
                                     pathlib.Path(__file__).parent.parent.parent)).resolve()
BENCH = pathlib.Path(os.environ.get("TAMIS_BUILD", SOURCE / "build")).resolve() / "bench"
GROUPS = ("single", "urls", "updates", "bulk", "columns", "encodings", "threads", "shared",
          "windows", "plans", "memory")
FIELDS = {"group", "kind", "op", "mode", "key_type", "n", "threads", "repetitions", "bytes", "rate",
          "ns", "min_ns", "instructions", "shared", "counter", "operations", "allocations",
          "fpr"}

# Two peers: a set that has room for every key, and a sketch that counts nothing. With LOSES it
# forgets a key.
PEER = r"""
#include "peer.h"
#include <stdlib.h>
#include <string.h>
struct set { uint64_t slots, *words; };
static uint64_t word_of(const void *key, size_t len)
{
    uint64_t x;
    memcpy(&x, (const char *)key + len - 8, 8);
    if (len > 8) { uint64_t y; memcpy(&y, (const char *)key + len - 16, 8); x += y << 1; }
    return x | 1;
}
static uint64_t *slot_of(struct set *s, uint64_t x)
{
    uint64_t i = x * UINT64_C(0x9e3779b97f4a7c15) % s->slots;
    while (s->words[i] != 0 && s->words[i] != x) i = (i + 1) % s->slots;
    return s->words + i;
}
static bool add(void *it, const void *key, size_t len)
{
    const uint64_t x = word_of(key, len);
    uint64_t *slot = slot_of(it, x);
    const bool seen = *slot == x;
    *slot = x;
    return seen;
}
static bool query(void *it, const void *key, size_t len)
{
    const uint64_t x = word_of(key, len);
#ifdef LOSES
    if (x % 3 == 0) return false;
#endif
    return *slot_of(it, x) == x;
}
BENCH_LOOPS(set, add, query)
static void *create(uint64_t n, double fpr)
{
    struct set *s = malloc(sizeof *s);
    if (fpr != 0.01) abort();
    s->slots = 4 * n + 1;
    s->words = calloc(s->slots, sizeof *s->words);
    return s;
}
static void destroy(void *it)
{
    free(((struct set *)it)->words);
    free(it);
}
static void *create_sum(uint64_t bytes, double fpr)
{
    return fpr == 0 ? calloc(1, bytes) : NULL;
}
static bool sum(void *it, const void *key, size_t len)
{
    *(uint64_t *)it += word_of(key, len);
    return false;
}
BENCH_LOOP(sum, adds, sum)
static const struct bench_peer peers[2] = {
    {"set", 0, create, destroy, NULL, NULL, set_adds, set_adds_chained, set_queries,
     set_queries_chained},
    {"sum", 1, create_sum, free, NULL, NULL, sum_adds, NULL, NULL, NULL}};
const struct bench_peer *bench_peer_at(unsigned i)
{
    return i < 2 ? peers + i : NULL;
}
"""


def bench(room, *words, peer=None, name="bench.json"):
    environment = {**os.environ, "TMPDIR": str(room), "TAMIS_BENCH_PEER": peer or ""}
    return subprocess.run([str(BENCH), "--check", "--out", str(room / name), *words],
                          capture_output=True, text=True, env=environment)


def compile_peer(room, name, *flags):
    source, out = room / "peer.c", room / name
    source.write_text(PEER)
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-Wall", "-Wextra", "-Werror", "-shared",
                    "-fPIC", *flags, f"-I{SOURCE}/bench/common", str(source), "-o", str(out)],
                   check=True)
    return str(out)


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def check_rows(rows):
    for r in rows:
        assert set(r) == FIELDS, r
        assert all(isinstance(r[f], str) and r[f] for f in ("group", "kind", "op", "mode")), r
        assert r["n"] > 0 and r["threads"] in (1, 2), r
        assert r["instructions"] is None or r["instructions"] > 0, r
        assert (r["counter"] is None) == (r["instructions"] is None), r
        assert (r["fpr"] is not None) == (r["op"] == "negative"), r
        assert r["kind"] != "set" or r["op"] != "negative" or r["fpr"] == 0, r
        if r["group"] == "memory":
            assert r["ns"] is None and r["bytes"] > 0 and r["allocations"] >= 0, r
        else:
            assert r["repetitions"] >= 3 and 0 < r["min_ns"] <= r["ns"] and r["operations"] > 0, r
    names = [tuple(r[f] for f in ("group", "kind", "op", "mode", "key_type", "n", "threads",
                                  "rate")) for r in rows]
    assert len(set(names)) == len(names), "a row twice"
    assert {r["group"] for r in rows} == set(GROUPS), "a group is missing"


def check_promises(rows):
    def has(**wanted):
        assert any(all(r[k] == v for k, v in wanted.items()) for r in rows), f"no row: {wanted}"

    sizes = sorted({r["n"] for r in rows if r["group"] == "single"})
    assert len(sizes) >= 2, sizes
    for n in sizes:
        has(group="single", kind="nothing", op="call", n=n)
        for mode in ("independent", "dependent"):
            for op in ("positive", "negative"):
                for kind in ("blocked", "bloom", "cuckoo", "fuse", "ribbon", "set"):
                    has(group="single", kind=kind, op=op, mode=mode, n=n)
            for kind in ("blocked", "bloom", "set"):
                has(group="single", kind=kind, op="add", mode=mode, n=n)
    for kind in ("cuckoo", "fuse", "ribbon"):
        has(group="single", kind=kind, op="add", mode="independent", n=sizes[0])
    for kind in ("blocked", "set"):
        for op in ("add", "positive"):
            has(group="urls", kind=kind, op=op, key_type="url54")
    for kind in ("count-min", "tally", "top"):
        for op in ("add", "add counted", "upper"):
            for mode in ("independent", "bulk"):
                has(group="updates", kind=kind, op=op, mode=mode, bytes=1 << 20)
    for op, mode in (("add", "independent"), ("add", "bulk"), ("merge", "sketches"),
                     ("estimate", "sketch")):
        has(group="updates", kind="distinct", op=op, mode=mode)
    has(group="updates", kind="sum", op="add")
    for kind in ("blocked", "bloom"):
        for op in ("add", "positive", "negative"):
            has(group="bulk", kind=kind, op=op, n=sizes[0])
            for threads in (1, 2):
                has(group="threads", kind=kind, op=op, threads=threads)
    for key_type in ("int", "text20"):
        for mode in ("many", "column", "column, selection"):
            has(group="columns", op="positive", mode=mode, key_type=key_type)
    for encoding in ("unstated", "text", "int64", "fixed 8"):
        for way in ("bulk", "single"):
            has(group="encodings", op="add", mode=f"{encoding}, {way}")
    for way in ("bulk", "single"):
        for threads in (1, 2):
            has(group="shared", op="add", mode=f"shared, {way}", threads=threads, shared=True)
    for generations in (4, 13, 61):
        for op in ("positive", "negative", "top after rotation"):
            has(group="windows", op=op, mode=f"{generations} generations")
    for op in ("rotate", "rotate_to", "rotate_to, nothing due"):
        has(group="windows", op=op)
    for kind in ("auto", "bloom", "compact", "blocked"):
        has(group="plans", kind=kind, op="solve", rate=0.01)
    has(group="plans", op="create and close", mode="solved plan")
    for op in ("handle", "view"):
        has(group="memory", kind="blocked", op=op)


def check_context(context):
    for field in ("processor", "compiler", "date", "commands", "version", "groups"):
        assert context[field], field
    assert context["groups"] == list(GROUPS), context["groups"]


def check_peers(room):
    run = bench(room, "urls", peer=compile_peer(room, "loses.so", "-DLOSES"), name="bad.json")
    assert run.returncode == 1 and "positive answers instead of" in run.stderr, run.stderr
    run = bench(room, "urls", peer=str(room / "none.so"), name="bad.json")
    assert run.returncode == 1 and "TAMIS_BENCH_PEER" in run.stderr, run.stderr
    assert bench(room, "nonsense").returncode == 2
    for words, message in ((("nonsense",), b"groups: tables single"),
                           (("cli", "single"), b"groups: tables single"),
                           (("single", "--docs"), b"needs the group 'tables', or all of 'calls'")):
        door = subprocess.run(["sh", str(SOURCE / "run"), "bench", *words], capture_output=True)
        assert door.returncode == 2 and message in door.stderr, door.stderr


def check_instructions(room, path):
    """Only two groups, because callgrind is slow."""
    if not shutil.which("valgrind"):
        return
    subprocess.run([sys.executable, str(SOURCE / "bench/calls/instructions.py"), "--bench",
                    str(BENCH), "--into", str(path), "encodings", "memory"],
                   check=True, stdout=subprocess.DEVNULL)
    rows = load(path)
    for r in rows:
        if r["group"] == "encodings":
            assert 10 < r["instructions"] < 2000, r
    check_rows(rows)


def check_report(room, path):
    report = [sys.executable, str(SOURCE / "bench/filters/report.py")]
    out = subprocess.run([*report, "--before", str(path), str(path)], check=True,
                         capture_output=True, text=True).stdout
    assert "blocked, single query, present, 1 M, ns" in out, out
    (room / "BENCHMARKS.md").write_text("as before")
    subprocess.run([*report, "--docs", str(room), str(path)], check=True, capture_output=True)
    assert (room / "BENCHMARKS.md").read_text() == "as before"
    text = (room / "CALLS.md").read_text()
    assert "None" not in text and "nan" not in text and "Not in this run" not in text, text
    (room / "CALLS.md").write_text("as before")
    few, context = room / "few.json", path.with_name(path.stem + "_context.json")
    few.write_text(json.dumps([r for r in load(path) if r["group"] != "plans"]))
    shutil.copy(context, room / "few_context.json")
    docs = subprocess.run([*report, "--docs", str(room), str(few)], capture_output=True, text=True)
    assert docs.returncode == 1 and "groups are missing" in docs.stderr, docs.stderr
    assert (room / "CALLS.md").read_text() == "as before"
    sys.path[:0] = [str(SOURCE / "bench/common"), str(SOURCE / "bench/calls")]
    import tables
    rows = load(path)
    older = [dict(r, ns=r["ns"] and r["ns"] / 2) for r in rows]
    parts = tables.parts(tables.Calls(rows, older))
    for name in set(parts) - {"call_targets", "peers", "slower"}:
        assert "→" in parts[name], name
    page = (SOURCE / "docs/CALLS.md").read_text().splitlines()
    lost = [line for line in tables.PAGE.splitlines() if "{" not in line and line not in page]
    assert not lost, f"docs/CALLS.md lacks {lost}"
    assert parts["peers"] == "Peers in this run: libbloom, set, sum.", parts["peers"]
    assert "take over 3 % more" in parts["slower"], parts["slower"]
    assert "→" not in "".join(tables.parts(tables.Calls(rows)).values())
    assert tables.parts(tables.Calls([]))["single"] == tables.NOTHING


if not BENCH.exists():
    print("skipped: built without the benchmark")
    sys.exit(77)
with tempfile.TemporaryDirectory() as name:
    room = pathlib.Path(name)
    peers = compile_peer(room, "peer.so")
    run = bench(room, *GROUPS, peer=peers)
    assert run.returncode == 0, run.stderr
    path = room / "bench.json"
    check_rows(load(path))
    check_promises(load(path))
    check_context(load(room / "bench_context.json"))
    check_peers(room)
    check_instructions(room, path)
    check_report(room, path)
print("every row is there")
