"""The pictures of the benchmarks: one question each, with at most six series, whose names stand
beside them instead of in a legend. gnuplot draws; this module places the names, and adds what
gnuplot's SVG lacks: a title for screen readers and the colours of dark mode."""
import collections
import math
import os
import re
import subprocess
import tempfile

MOST = 6
WIDTH, HEIGHT = 760, 420

# After Okabe and Ito, whose colours differ for people with any of the colour deficiencies; darker
# where text of that colour would be hard to read on white (at least 4.5 to 1 on its background).
# Each has a counterpart for dark mode.
COLOURS = [("#0068a4", "#56b4e9"), ("#b84500", "#ff8c4c"), ("#00705a", "#2fcfa6"),
           ("#96447f", "#e79bc9"), ("#7a5f00", "#e3bf2a"), ("#555555", "#b4b4b4")]
INK, PAPER, GRID, SHADE = (("#222222", "#e6e6e6"), ("#ffffff", "#14171a"), ("#dddddd", "#363b40"),
                           ("#eeeeee", "#262a2e"))

# style: line (with a dot at each point), smooth (without), dashed, or points. Curves of one colour
# belong together; a name that is empty is not written.
Curve = collections.namedtuple("Curve", "name points style colour", defaults=("line", None))
Bar = collections.namedtuple("Bar", "name value text")
# A scale: its name, whether it is logarithmic, how gnuplot writes its numbers, its ends (None:
# those of the points), whether it falls, and which numbers are written (empty: as is usual).
Axis = collections.namedtuple("Axis", "name log format ends falls numbers",
                              defaults=(True, "%g", (None, None), False, ()))
STYLES = {"line": "linespoints pt 7 ps 0.5 lw 2.4", "smooth": "lines lw 2.4",
          "dashed": "lines lw 1.8 dt (8,5)", "points": "points pt 7 ps 0.75"}


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def words(text):
    """A text in which gnuplot gives no character a meaning."""
    return quoted(text) + " noenhanced"


def ends(axis, values):
    """From where to where a scale reaches: a little beyond the values."""
    low, high = (given if given is not None else found
                 for given, found in zip(axis.ends, (min(values), max(values))))
    if not axis.log:
        return low, high if axis.ends[1] is not None else low + 1.04 * (high - low)
    room = 1.12 if axis.ends == (None, None) else 1
    return low / room, high * room


def share(axis, span, value):
    """Where on a scale a value is, from 0 to 1."""
    low, high, value = (math.log(x) if axis.log else x for x in (*span, value))
    return (value - low) / (high - low)


def apart(places, gap):
    """Moves places so that they are `gap` apart, between 0 and 1, and none more than is needed."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    new = [min(max(places[i], gap / 2), 1 - gap / 2) for i in order]
    for _ in range(200):
        for a in range(len(new) - 1):
            push = gap - (new[a + 1] - new[a])
            if push > 1e-9:
                new[a] -= push / 2
                new[a + 1] += push / 2
        new = [min(max(y, gap / 2), 1 - gap / 2) for y in new]
    return {i: y for i, y in zip(order, new)}


def tics(letter, axis, span):
    """Numbers at 1, 2 and 5 times powers of ten on a vertical logarithmic scale of less than three
    powers, where gnuplot would write one or two numbers only."""
    low, high = span
    found = axis.numbers
    if not found and (letter == "x" or not axis.log or high > 1000 * low):
        return
    found = found or [m * 10.0 ** e for e in range(math.floor(math.log10(low)), 9)
                      for m in (1, 2, 5)]
    found = [t for t in found if low * 0.999 <= t <= high * 1.001]
    yield f"set {letter}tics ({', '.join(format(t, '.6g') for t in found)})"
    yield f"unset m{letter}tics"


def labels(curves, y, span):
    """The name of each curve, to the right of where it ends; of a single point, beside it."""
    lonely = sorted((c.points[0], c) for c in curves if len(c.points) == 1)
    for i, ((x, at), c) in enumerate(lonely):  # at two heights by turns: they may be close
        yield (f"set label {words(c.name)} at {x:.6g},{at:.6g} left offset 0.6,{0.7 + i % 2 * 1.2}"
               f" front textcolor rgb '{c.colour}' font ',14'")
    named = [c for c in curves if c.name and len(c.points) > 1]
    places = [share(y, span, max(c.points)[1] if not c.falls else min(c.points)[1])
              for c in named]
    for i, place in apart(places, 0.062).items():
        yield (f"set label {words(named[i].name)} at graph 1.015,{place:.4f} left front "
               f"textcolor rgb '{named[i].colour}' font ',14'")


class Drawn(collections.namedtuple("Drawn", "name points style colour falls")):
    """A curve with the colour it has got."""


def coloured(curves, x):
    """Each name has a colour, which curves without a name take over from the one before."""
    out, used = [], -1
    for c in curves:
        if c.colour is None:
            used += 1
        number = used if c.colour is None else c.colour
        out.append(Drawn(c.name, sorted(c.points), c.style, COLOURS[number][0], x.falls))
    return out


def settings(title, x, y, right):
    yield f"set title {words(title)} font ',16' textcolor rgb '{INK[0]}'"
    yield f"set xlabel {words(x.name)}\nset ylabel {words(y.name)}"
    yield f"set rmargin {right}\nunset key\nset border 3 lc rgb '{INK[0]}'\nset tics nomirror"
    yield f"set tics textcolor rgb '{INK[0]}'\nset grid lt 1 lc rgb '{GRID[0]}' lw 0.7"
    for axis, letter in ((x, "x"), (y, "y")):
        if axis.log:
            yield f"set logscale {letter}"
        yield f"set format {letter} {quoted(axis.format)}"


def draw(out, title, x, y, curves, shade=None):
    """Writes a picture of curves. `shade` is (text, points): what lies below it is shaded."""
    curves = coloured([c for c in curves if c.points], x)
    if len({c.colour for c in curves}) > MOST:
        raise ValueError(f"{out}: more than {MOST} series")
    if not curves:
        return
    points = [p for c in curves for p in c.points] + list(shade[1] if shade else ())
    spans = [ends(axis, [p[i] for p in points]) for i, axis in enumerate((x, y))]
    widest = max((len(c.name) for c in curves if len(c.points) > 1), default=0)
    script = list(settings(title, x, y, 4 + widest))
    for letter, axis, span in zip("xy", (x, y), spans):
        script.append(f"set {letter}range [{span[axis.falls]:.6g}:{span[not axis.falls]:.6g}]")
    script += [*tics("x", x, spans[0]), *tics("y", y, spans[1])]
    script += labels(curves, y, spans[1])
    blocks, parts = [], []
    if shade:
        blocks.append(sorted(shade[1]))
        parts.append(f"data index 0 using 1:2 with filledcurves y1={spans[1][0]:.6g} "
                     f"fc rgb '{SHADE[0]}' title {quoted(shade[0])} noenhanced")
        script.append(f"set label {words(shade[0])} at graph 0.98,0.05 right front "
                      f"textcolor rgb '{COLOURS[5][0]}' font ',13'")
    for c in curves:
        parts.append(f"data index {len(blocks)} using 1:2 with {STYLES[c.style]} "
                     f"lc rgb '{c.colour}' title {quoted(c.name)} noenhanced")
        blocks.append(c.points)
    write(out, title, script, parts, blocks, HEIGHT)


def bars(out, title, x, rows, better, worse):
    """Writes a picture of ratios: a bar to the right of 1 where we are better, to the left where we
    are worse, with the ratio as text. The scale is logarithmic."""
    if not rows:
        return
    far = 2.4 * max(max(r.value, 1 / r.value) for r in rows)
    y = Axis("", False, "")
    script = list(settings(title, Axis(x), y, 3))
    script += ["unset ytics", "set border 1", "unset grid", "set lmargin 4",
               *tics("x", Axis(x, numbers=(0.2, 0.5, 1, 2, 5)), (1 / far, far)),
               f"set xrange [{1 / far:.6g}:{far:.6g}]", f"set yrange [{-len(rows) - 0.2}:0.9]",
               "set style fill solid 0.9 noborder",
               f"set arrow from 1,graph 0 to 1,graph 1 nohead lc rgb '{INK[0]}' lw 1.2",
               f"set label {words(worse)} at graph 0.01,graph 0.97 left textcolor rgb "
               f"'{COLOURS[1][0]}' font ',13'",
               f"set label {words(better)} at graph 0.99,graph 0.97 right textcolor rgb "
               f"'{COLOURS[0][0]}' font ',13'"]
    blocks, parts = [[], []], []
    for i, row in enumerate(rows):
        at, wins = -i - 0.5, row.value >= 1
        blocks[not wins].append((min(1, row.value), at, min(1, row.value), max(1, row.value),
                                 at - 0.3, at + 0.3))
        here = max(1, row.value) if wins else min(1, row.value)
        script.append(f"set label {words(row.text)} at {here:.6g},{at} "
                      f"{'left' if wins else 'right'} offset {0.5 if wins else -0.5},0 front "
                      f"textcolor rgb '{COLOURS[not wins][0]}' font ',13'")
        script.append(f"set label {words(row.name)} at 1,{at} {'right' if wins else 'left'} "
                      f"offset {-0.6 if wins else 0.6},0 front textcolor rgb '{INK[0]}' "
                      f"font ',13'")
    kept = [b for b in (0, 1) if blocks[b]]
    for i, b in enumerate(kept):
        parts.append(f"data index {i} using 1:2:3:4:5:6 with boxxyerror fc rgb "
                     f"'{COLOURS[b][0]}' title {quoted((better, worse)[b])}")
    write(out, title, script, parts, [blocks[b] for b in kept], 110 + 34 * len(rows))


def write(out, title, script, parts, blocks, height):
    with tempfile.NamedTemporaryFile("w", suffix=".dat", encoding="utf-8") as data, \
            tempfile.NamedTemporaryFile("r", suffix=".svg", encoding="utf-8") as svg:
        for points in blocks:
            data.write("".join(" ".join(f"{v:.6g}" for v in p) + "\n" for p in points) + "\n\n")
        data.flush()
        head = [f"set terminal svg size {WIDTH},{height} font 'sans-serif,14' "
                f"background rgb '{PAPER[0]}'", f"set output {quoted(svg.name)}",
                f"data = {quoted(data.name)}"]
        subprocess.run(["gnuplot"], input="\n".join([*head, *script, "plot " + ", ".join(parts)])
                       + "\n", text=True, check=True)
        text = finished(svg.read(), title)
    with open(out, "w", encoding="utf-8") as f:
        f.write(text)
    return os.path.basename(out)


def finished(svg, title):
    """gnuplot's SVG with the title, without the marks that nothing uses, and with a second set of
    colours. Programs that know no media queries show the first set."""
    svg = re.sub(r"rgb\(\s*(\d+),\s*(\d+),\s*(\d+)\)",
                 lambda m: f"#{int(m[1]):02x}{int(m[2]):02x}{int(m[3]):02x}", svg)
    svg = re.sub(r"(['\"])black\1", rf"\1{INK[0]}\1", svg)
    svg = re.sub(r"<(path|use)[^>]*id='(gpPt\d+)'[^>]*/>\s*",
                 lambda m: m[0] if svg.count(m[2] + "'") > 1 else "", svg)
    svg = re.sub(r"<filter.*?</filter>\s*", "", svg, flags=re.S)
    svg = re.sub(r"<g [^>]*>\s*</g>\s*", "", svg)
    svg = re.sub(r"<desc>.*?</desc>\s*", "", svg, flags=re.S)
    text = title.replace("&", "&amp;").replace("<", "&lt;")
    svg = svg.replace("<title>Gnuplot</title>", f"<title>{text}</title>")
    svg = svg.replace("<svg ", '<svg role="img" ', 1)
    rules = "".join(f'[{a}="{light}"]{{{a}:{dark}}}'
                    for light, dark in (*COLOURS, INK, PAPER, GRID, SHADE)
                    for a in ("stroke", "fill", "color") if light in svg)
    style = f"<style>@media (prefers-color-scheme: dark) {{ {rules} }}</style>\n"
    return svg.replace("<g id=\"gnuplot_canvas\">", style + "<g id=\"gnuplot_canvas\">", 1)
