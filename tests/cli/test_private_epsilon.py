"""What a release costs, in rational numbers: for thresholds of all sizes ln((2^32 - T) / T) is no
more than the epsilon that was asked for and the reported one, and T is the least such
threshold, or one more."""
import fractions
import os
import pathlib
import subprocess
import sys

WHOLE = 2**32


def exp_bounds(x):
    """Rationals below and above e^x: the Taylor series of e^(x/32), and its tail bounded by a
    geometric one; to the 32nd."""
    x, term, total = x / 32, fractions.Fraction(1), fractions.Fraction(0)
    for i in range(1, 30):
        total += term
        term *= x / i
    above = total + 2 * term
    cut = 2**200  # rounded outwards, or the numbers grow beyond all measure
    low = fractions.Fraction(total.numerator * cut // total.denominator, cut)
    high = fractions.Fraction(-(-above.numerator * cut // above.denominator), cut)
    return low**32, high**32


program = pathlib.Path(os.environ["TAMIS_BUILD"], "tests/test_private")
out = subprocess.run([program, "thresholds"], stdout=subprocess.PIPE, check=True, text=True).stdout
rows = [line.split()[1:] for line in out.splitlines() if line.startswith("threshold ")]
failed = 0
for asked, threshold, told in rows:
    t = int(threshold)
    odds = fractions.Fraction(WHOLE - t, t)
    for name, epsilon in ("asked", asked), ("told", told):
        low, _ = exp_bounds(fractions.Fraction(float.fromhex(epsilon)))
        if odds > low:
            print(f"{name} {float.fromhex(epsilon)}: the threshold {t} costs more")
            failed += 1
    _, high = exp_bounds(fractions.Fraction(float.fromhex(asked)))
    if t > 2 and fractions.Fraction(WHOLE - t + 2, t - 2) <= high:
        print(f"asked {float.fromhex(asked)}: the threshold {t} is more noise than is needed")
        failed += 1
    if abs(float.fromhex(told) - float.fromhex(asked)) > 3 / t:
        print(f"asked {float.fromhex(asked)}: told {float.fromhex(told)}")
        failed += 1
print(f"{3 * len(rows) - failed} passed, {failed} failed")
sys.exit(failed != 0 or len(rows) < 100)
