"""The pictures of the benchmarks can be read: at most six series, names that do not overlap,
colours with enough contrast in light and dark mode, and every picture that docs/BENCHMARKS.md
shows."""
import itertools, os, pathlib, random, re, shutil, sys, tempfile, types
import xml.dom.minidom

SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE", pathlib.Path(__file__).parents[2]))
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "bench" / name) for name in ("common", "filters", "calls")]
import pictures  # noqa: E402
import plots  # noqa: E402
import tables  # noqa: E402

if shutil.which("gnuplot") is None:
    print("skipped: there is no gnuplot (Debian: gnuplot-nox)")
    sys.exit(77)


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_contrast():
    """As WCAG demands for text, AA: 4.5 to 1. The grey also stands on the shaded area."""
    for mode in (0, 1):
        for colour in (*plots.COLOURS, plots.INK):
            found = contrast(colour[mode], plots.PAPER[mode])
            assert found >= 4.5, (colour[mode], found)
        assert contrast(plots.COLOURS[5][mode], plots.SHADE[mode]) >= 4.5
    assert len({c for pair in plots.COLOURS for c in pair}) == 2 * plots.MOST


def test_apart():
    """Names keep their distance and their order, and stay in the picture."""
    chance = random.Random(5)
    for n in range(1, 7):
        for _ in range(200):
            places = [chance.random() ** 3 * 1.2 - 0.1 for _ in range(n)]
            moved = plots.apart(places, 0.062)
            order = sorted(range(n), key=lambda i: places[i])
            for a, b in itertools.pairwise(order):
                assert moved[b] - moved[a] > 0.06, (places, moved)
            assert all(0 <= y <= 1 for y in moved.values())
            if all(b - a > 0.07 for a, b in itertools.pairwise(sorted(places))) \
                    and all(0.04 < y < 0.96 for y in places):
                assert all(abs(moved[i] - places[i]) < 1e-9 for i in range(n))


def numbers(path):
    """The text of a picture, and its colours, which dark mode replaces, every one."""
    text = path.read_text(encoding="utf-8")
    document = xml.dom.minidom.parseString(text)
    assert document.documentElement.getAttribute("role") == "img"
    assert text.count("<title>Gnuplot") == 0 and "prefers-color-scheme: dark" in text
    style = text[text.index("<style>"):text.index("</style>")]
    body = text.replace(style, "")
    for name, colour in set(re.findall(r"""\b(stroke|fill)\s*=\s*['"](#[0-9a-f]{6})['"]""", body)):
        assert f'[{name}="{colour}"]' in style, (path.name, name, colour)
    return re.sub(r"<[^>]*>", " ", body)


def test_names(room):
    curves = [plots.Curve(f"it's <{i}>", [(10, i + 1), (1000, (i + 1) ** 2)]) for i in range(6)]
    x, y = plots.Axis("keys & more"), plots.Axis("ns")
    plots.draw(str(room / "a.svg"), "Title's <own> & \"other\"", x, y, curves,
               ("nothing below", [(10, 0.5), (1000, 0.7)]))
    said = numbers(room / "a.svg")
    for i in range(6):
        assert f"it's &lt;{i}>" in said, said
    assert "nothing below" in said and "keys &amp; more" in said
    assert "Title's &lt;own> &amp; \"other\"" in said, said
    many = [*curves, plots.Curve("seven", [(10, 1), (20, 2)], "line", None)]
    try:
        plots.draw(str(room / "b.svg"), "Too many", x, y, many)
    except (ValueError, IndexError):
        pass
    else:
        raise AssertionError("seven series are drawn")
    assert not (room / "b.svg").exists()
    plots.draw(str(room / "c.svg"), "Nothing", x, y, [plots.Curve("empty", [])])
    assert not (room / "c.svg").exists()


def test_page(room):
    """Each picture of the page is made from a run, with our losses as well."""
    rows = [{"group": group, "kind": kind, "op": op, "mode": mode, "n": n, "rate": 0.01,
             "key_type": "int", "keyed": False, "shared": False, "threads": 1, "input": "batch",
             "ns": ns * (1 + i), "min_ns": ns, "limit_ns": 2.0 + i, "libbloom_ns": None}
            for (group, modes) in (("tables", ("single", "bulk")), ("single", ("independent",)))
            for ns, kind in enumerate(
                [*pictures.COLOURS, *dict.fromkeys(peer for *_, peer in pictures.PEERS)], 3)
            for op in ("add", "positive", "negative") for mode in modes
            for i, n in enumerate((10 ** 6, 10 ** 7, 10 ** 8))]
    tabled = [r for r in rows if r["group"] == "tables"]
    plans = [{"kind": kind, "rate": rate, "bits_per_item": 10 - rate, "bound_bits": 8 - rate,
              "bound": bound} for kind, bound in (("blocked", "dynamic"), ("ribbon", "static"))
             for rate in (0.1, 0.01, 1e-4, 1e-6)]

    def one(kind, op, mode, keys):
        return next((r for r in tabled if (r["kind"], r["op"], r["mode"], r["n"])
                     == (kind, op, mode, keys)), None)
    run = types.SimpleNamespace(sizes=[10 ** 6, 10 ** 7, 10 ** 8], one=one,
                                calls=tables.Calls(rows), context={"plans": plans})
    pictures.write(run, str(room))
    page = (SOURCE / "docs/BENCHMARKS.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"\]\((bench-\w+\.svg)\)", page))
    assert shown == {path.name for path in room.glob("bench-*.svg")}, shown
    for name in shown:
        assert (SOURCE / "docs" / name).exists(), name
        numbers(SOURCE / "docs" / name)
    peers = numbers(room / "bench-peers.svg")
    for what, *_, peer in pictures.PEERS:
        assert f"{what}: {peer.split(',')[0]}".replace("<", "&lt;") in peers
    assert "the peer is faster" in peers and "Tamis is faster" in peers


for test in (test_contrast, test_apart):
    test()
for test in (test_names, test_page):
    with tempfile.TemporaryDirectory() as folder:
        test(pathlib.Path(folder))
print("the pictures can be read")
