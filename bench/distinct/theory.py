"""The theory of `distinct`, which docs/ACCURACY.md derives: what a register knows about the number
of keys, the error and the bias that follow, and how probable it is that two tokens are equal.

    bench/distinct/theory.py

prints the constants of src/distinct/likelihood.c. `d` is the number of values below the greatest
one that a register remembers: 24 in this library. A register has d + 8 bits."""
import functools
import math

VALUES_PER_LEVEL = 4
MOST_VALUE = 63 * VALUES_PER_LEVEL
# From 1,000 keys per register on, the information about log n repeats itself with every doubling
# of n. These are eight points between one doubling and the next.
OCTAVE = [1e4 * 2 ** (i / 8) for i in range(8)]


def probability(value, geometric=False):
    """That a key has this value: the same for all values of a level, or, for comparison, in an
    exact geometric progression that halves with every four values."""
    if geometric:
        ratio = 2.0 ** (1 / VALUES_PER_LEVEL)
        return (ratio - 1) * ratio ** -value
    level = (value - 1) // VALUES_PER_LEVEL
    return 2.0 ** -(level + 3 if level < 62 else 64)


def terms(y):
    """What a value does that gets y keys on average: the probability that it has been received, and
    the first three derivatives of the logarithm of that probability by log n."""
    if y > 700:
        return 1.0, 0.0, 0.0, 0.0
    grown = math.expm1(y)
    first = y / grown
    second = first - first * first * (grown + 1)
    third = second - (grown + 1) * first * (2 * second + first * y)
    return -math.expm1(-y), first, second, third


@functools.lru_cache(None)
def known(d, keys, geometric=False):
    """What one register knows about log n when it gets `keys` keys on average: its information, and
    the bias of the most likely n, in proportion, for one register (Cox and Snell)."""
    means = [None] + [keys * probability(v, geometric) for v in range(1, MOST_VALUE + 1)]
    received = [None] + [terms(y) for y in means[1:]]
    above = [0.0] * (MOST_VALUE + 2)  # keys that get a greater value
    for v in range(MOST_VALUE, 0, -1):
        above[v - 1] = above[v] + means[v]
    # The register that has no value yet.
    empty = math.exp(-above[0])
    information, third, mixed = empty * above[0], -empty * above[0], empty * above[0] ** 2
    for greatest in range(1, MOST_VALUE + 1):
        share = math.exp(-above[greatest]) * received[greatest][0]
        if share < 1e-15:
            continue
        slopes = [received[greatest][i] - above[greatest] for i in (1, 2, 3)]
        covariance = 0.0
        for v in range(max(1, greatest - d), greatest):
            had, first, second, cubic = received[v]
            y = means[v]
            mean = [had * x - (1 - had) * y for x in (first, second, cubic)]
            slopes = [s + m for s, m in zip(slopes, mean)]
            covariance += had * first * second + (1 - had) * y * y - mean[0] * mean[1]
        information -= share * slopes[1]
        third += share * slopes[2]
        mixed += share * (slopes[0] * slopes[1] + covariance)
    of_log = (third + 2 * mixed) / (2 * information ** 2)
    return information, of_log + 1 / (2 * information)


def constants(d, geometric=False):
    """Information and bias for large n: the means over one doubling of n."""
    found = [known(d, keys, geometric) for keys in OCTAVE]
    return tuple(sum(f[i] for f in found) / len(found) for i in (0, 1))


def oscillation(d):
    """By how much the information for large n differs from its mean, in proportion."""
    mean = constants(d)[0]
    return max(abs(known(d, keys)[0] / mean - 1) for keys in OCTAVE)


def relative_error(p, n, d=24):
    """The standard error of the estimate of n keys from 2^p registers. The information is that of a
    random number of keys with the mean n, whose own variance is not an error."""
    m = 2.0 ** p
    return math.sqrt(max(0.0, 1 / (m * known(d, n / m)[0]) - 1 / n))


def bits_times_variance(d, geometric=False):
    return (d + 8) / constants(d, geometric)[0]


def equal_values():
    """The probability that two keys have the same value."""
    return sum(probability(v) ** 2 for v in range(1, MOST_VALUE + 1))


def equal_tokens():
    """The probability that two keys have the same token: 56 bits and the value."""
    return 2.0 ** -56 * equal_values()


if __name__ == "__main__":
    for width in (16, 20, 24):
        print(f"d = {width}: information {constants(width)[0]:.4f}, "
              f"oscillating by {oscillation(width):.1g}, bias {constants(width)[1]:.4f}, "
              f"bits x variance {bits_times_variance(width):.3f}")
    print(f"equal tokens: 2^{math.log2(equal_tokens()):.3f}")
