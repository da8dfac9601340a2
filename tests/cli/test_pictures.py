"""The pictures of 'tamis plan' show what its figures say. The SVG can be read by programs, every
curve is to the right of the bound, every mark is where its plan is, and bars are as long as
their numbers."""
import json, math, os, re, shutil, subprocess, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401
import xml.etree.ElementTree as xml

TAMIS = os.environ["TAMIS"]
ONE_BY_ONE = {"bloom", "partitioned", "blocked", "counting", "pair", "window", "cuckoo"}
SVG = "{http://www.w3.org/2000/svg}"


def tamis(*arguments, **environment):
    return subprocess.run([TAMIS, *arguments], capture_output=True, text=True, check=True,
                          env={**os.environ, "LC_ALL": "C", **environment}).stdout


def points(path):
    return [tuple(map(float, pair)) for pair in re.findall(r"[ML]([\d.]+) ([\d.]+)", path.get("d"))]


def x_of_bound(bound, y):
    """Where the bound is at this height."""
    for (x0, y0), (x1, y1) in zip(bound, bound[1:]):
        if y0 <= y <= y1:
            return x0 + (x1 - x0) * (y - y0) / (y1 - y0)
    return None


def read_svg(*arguments):
    text = tamis("plan", *arguments, "--svg", "-")
    if shutil.which("xmllint"):
        subprocess.run(["xmllint", "--noout", "-"], input=text, text=True, check=True)
    root = xml.fromstring(text)
    assert root.tag == SVG + "svg" and root.get("role") == "img"
    assert root.get("aria-labelledby") == "title desc" and "prefers-color-scheme: dark" in text
    plans = json.loads(tamis("plan", *arguments, "--json"))
    described = root.find(SVG + "desc").text
    assert all(f"{plan['kind']}: {plan['bytes']:,} bytes" in described for plan in plans)
    paths = {path.find(SVG + "title").text: points(path) for path in root.iter(SVG + "path")
             if path.find(SVG + "title") is not None}
    return root, paths, plans


def position(root, value, text_of, axis):
    """Where a value is, by the labels of an axis, which are read as anybody would."""
    known = []
    for label in root.iter(SVG + "text"):
        amount = text_of(label.text)
        if amount is not None and label.get("class") is None and label.get("text-anchor") \
                == {"x": "middle", "y": "end"}[axis]:
            known.append((math.log(amount), float(label.get(axis))))
    (v0, p0), (v1, p1) = min(known), max(known)
    return p0 + (math.log(value) - v0) / (v1 - v0) * (p1 - p0)


def size(text):
    found = re.fullmatch(r"([\d.]+) ([kMGT]?)B", text)
    return float(found[1]) * 1000 ** " kMGT".index(found[2] or " ") if found else None


def rate(text):
    found = re.fullmatch(r"([\d.e-]+) %", text)
    return float(found[1]) / 100 if found else None


def curves_and_marks():
    for arguments in (("--items", "1M", "--fpr", "1%"), ("--items", "300", "--fpr", "1e-4"),
                      ("--items", "1G", "--bytes", "2GB"),
                      ("--items", "1M", "--fpr", "1e-9")):
        root, paths, plans = read_svg(*arguments)
        bounds = {"static": paths.pop("lower bound, sealed"),
                  "dynamic": paths.pop("lower bound, keys one by one")}
        above = max(x0 - x_of_bound(bounds["static"], y) for x0, y in bounds["dynamic"]
                    if x_of_bound(bounds["static"], y) is not None)
        assert above > 10, (arguments, above)
        assert set(paths) == {plan["kind"] for plan in plans}, paths.keys()
        for kind, curve in paths.items():
            assert len(curve) > 5, (arguments, kind)
            # less wrong, bigger
            assert all(y1 >= y0 - 0.2 for (_, y0), (_, y1) in zip(curve, curve[1:])), kind
            bound = bounds["dynamic" if kind in ONE_BY_ONE else "static"]
            gaps = [x - x_of_bound(bound, y) for x, y in curve if x_of_bound(bound, y) is not None]
            assert gaps and min(gaps) > -0.3, (arguments, kind, min(gaps))
        marks = {mark.find(SVG + "title").text.split(":")[0]: mark
                 for mark in root.iter(SVG + "circle")}
        assert len(marks) >= len(plans) - 1, marks.keys()
        for plan in plans:
            if plan["kind"] not in marks:
                continue
            mark = marks[plan["kind"]]
            assert abs(float(mark.get("cx")) - position(root, plan["bytes"], size, "x")) < 0.5, \
                (arguments, plan)
            # The labels of this axis stand 4 below their lines.
            assert abs(float(mark.get("cy")) + 4 - position(root, plan["fpr"], rate, "y")) < 0.5, \
                (arguments, plan)


def bars():
    for arguments in (("--items", "1M", "--fpr", "1%"), ("--items", "1M", "--bytes", "1MB"),
                      ("--fpr", "1%", "--bytes", "1MB")):
        plans = json.loads(tamis("plan", *arguments, "--json"))
        lines = tamis("plan", *arguments, "--plot", COLUMNS="123").split("\n")
        most = max(plan["bits_per_item"] for plan in plans)
        for plan in plans:
            bar = next(line for line in lines if re.match(plan["kind"] + " +[#-]#*-* ", line))
            assert (plan["bound_bits"] is None) == (plan["kind"] == "growing"), plan
            needed = min(plan["bound_bits"] or 0, plan["bits_per_item"])
            assert abs(bar.count("#") - needed / most * 100) <= 0.51, (plan, bar)
            assert abs(bar.count("#")
                       + bar.count("-") - plan["bits_per_item"] / most * 100) <= 0.51, (plan, bar)
            assert bar.endswith(f" {plan['bits_per_item']:.2f}")


def tables():
    """The strip of a table, in tenths, has the fill as its mean: from almost empty to almost
    full."""
    for items in (50, 600, 1200, 9000):
        with tempfile.TemporaryDirectory() as room:
            path = os.path.join(room, "rows.tamis")
            subprocess.run([TAMIS, "build", "-q", "--overfill", "--kind", "partitioned", "--items",
                            "100", "--k", "2", "--m", "1000", "-o",
                            path], input="".join(f"{i}\n" for i in range(items)), text=True,
                           check=True)
            lines = tamis("info", "--plot", path, COLUMNS="63").split("\n")
            cells = next(line for line in lines if line.startswith("  table")).split()[1]
            fill = json.loads(tamis("info", "--json", path))["fill"]
            # A digit is rounded down, by half a tenth on the average; the last one stands for 0.9
            # to 1.
            assert len(cells) == 40 and abs(sum(map(int, cells)) / 400 + 0.05 - fill) < 0.06, \
                (cells, fill)


tests = [curves_and_marks, bars, tables]
for test in tests:
    test()
print(f"{len(tests)} passed, 0 failed")
sys.exit(0)
