"""The pictures of docs/BENCHMARKS.md, each of which answers one question."""
import os

from plots import Axis, Bar, Curve, bars, draw
from reporting import count, num

# A kind has the same colour in every picture. fuse and growing never stand in the same one.
COLOURS = {"blocked": 0, "bloom": 1, "cuckoo": 2, "fuse": 3, "growing": 3, "ribbon": 4,
           "libbloom": 5}
KEYS = Axis("keys in the filter", True, "%.0s %c")
CHANGING = ("blocked", "bloom", "cuckoo", "growing", "ribbon")
# (what is measured, our kind, call, the peer): each is compared with the library that does the same
# thing best, and the first one also with what Debian packages.
PEERS = (("blocked, query", "blocked", "positive", "boost multiblock64"),
         ("blocked, add", "blocked", "add", "boost multiblock64"),
         ("bloom, query", "bloom", "positive", "libbloom"),
         ("bloom, query", "bloom", "positive", "boost filter<7>"),
         ("cuckoo, query", "cuckoo", "positive", "fastfilter cuckoo12"),
         ("cuckoo, add", "cuckoo", "add", "fastfilter cuckoo12"),
         ("fuse, query", "fuse", "positive", "binary fuse8"),
         ("ribbon, query", "ribbon", "positive", "BuRR, 7 columns"),
         ("ribbon, query of absent keys", "ribbon", "negative", "BuRR, 7 columns"))


def curve(kind, rows):
    style = "dashed" if kind == "libbloom" else "line"
    return Curve(kind, [(r["n"], r["ns"]) for r in rows if r is not None], style, COLOURS[kind])


def limit(run, mode):
    """The time of a random line in an array of the size of a blocked filter."""
    points = [(r["n"], r["limit_ns"]) for n in run.sizes
              if (r := run.one("blocked", "negative", mode, n)) is not None]
    return ("a plain loop that reads random lines", points) if points else None


def single(run, out):
    kinds = ("blocked", "bloom", "cuckoo", "fuse", "ribbon", "libbloom")
    rows = run.calls.all(group="single", op="negative", mode="independent")
    draw(out, "How long does a query take, one key at a time?", KEYS, Axis("ns per key"),
         [curve(kind, [r for r in rows if r["kind"] == kind]) for kind in kinds],
         limit(run, "bulk"))


def bulk(run, out, op, title, mode="bulk"):
    ours = [curve(kind, [run.one(kind, op, mode, n) for n in run.sizes]) for kind in CHANGING]
    peer = curve("libbloom", [run.one("libbloom", op, "single", n) for n in run.sizes])
    draw(out, title, KEYS, Axis("ns per key"), [*ours, peer], limit(run, mode))


def space(run, out):
    plans = run.context["plans"]

    def bound(kind):
        return sorted({(p["rate"], p["bound_bits"]) for p in plans if p["bound"] == kind})

    curves = [Curve(kind, [(p["rate"], p["bits_per_item"]) for p in plans if p["kind"] == kind],
                    "smooth", COLOURS[kind]) for kind in CHANGING]
    curves.append(Curve("bound, one by one", bound("dynamic"), "dashed", COLOURS["libbloom"]))
    draw(out, "How many bits does a key take?",
         Axis("false-positive rate", True, "10^{%L}", (1e-6, 0.1), True),
         Axis("bits per key", False, "%g", (0, None)), curves,
         ("no filter of a known set can be here", bound("static")))


def peers(run, out):
    """Ratios at the middle size, where a filter of 12 MB is in no core's own cache."""
    rows, sizes = [], sorted({r["n"] for r in run.calls.all(group="single")})
    if len(sizes) < 2:
        return
    for what, kind, op, peer in PEERS:
        ours, other = (run.calls.one("single", k, op, "independent", 1) for k in (kind, peer))
        if ours and other:
            ratio = other["ns"] / ours["ns"]
            rows.append(Bar(f"{what}: {peer.split(',')[0]}", ratio,
                            f"{ratio:.2f} ({num(ours['ns'])} to {num(other['ns'])} ns)"))
    bars(out, f"Single calls beside the best peer of each kind, {count(sizes[1])} keys",
         "time of the peer ÷ time of Tamis (in parentheses: ours to theirs)", rows,
         "Tamis is faster", "the peer is faster")


def write(run, folder):
    def path(name):
        return os.path.join(folder, f"bench-{name}.svg")
    single(run, path("single"))
    bulk(run, path("bulk"), "negative", "How long does a query take, in bulk?")
    bulk(run, path("add"), "add", "How long does an add take, in bulk?")
    space(run, path("space"))
    peers(run, path("peers"))
