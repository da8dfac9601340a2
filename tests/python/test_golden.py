"""The golden files: opened as the class that fits, answered as the text files state, and saved
again byte for byte (docs/FORMAT.md, "Conformance vectors")."""
import pathlib
import os
import pickle

import pytest

import tamis

SOURCE = pathlib.Path(os.environ.get("TAMIS_SOURCE", pathlib.Path(__file__).parents[2]))
GOLDEN = SOURCE / "tests" / "golden"
CLASSES = {"tally": tamis.Counts, "count": tamis.Counts, "signed": tamis.Counts, "top": tamis.Top,
           "distinct": tamis.Distinct, "window": tamis.Window, "map": tamis.Map}


def parts(name):
    """The lines of each image in a text file, as lists of words, with its secret key or None."""
    found, current = {}, None
    for line in (GOLDEN / name).read_text().splitlines():
        words = line.split(" ")
        if words[0] == "image":
            key = bytes.fromhex(words[2]) if len(words) > 2 else None
            current = found.setdefault(words[1], (key, []))[1]
        else:
            current.append(words)
    return found


ANSWERS, MORE = parts("answers.txt"), parts("more-answers.txt")
COUNTS, DISTINCT, LISTS = parts("counts.txt"), parts("distinct.txt"), parts("lists.txt")
SECRETS = {name: key for source in (MORE, ANSWERS) for name, (key, _) in source.items()}
IMAGES = sorted(p.name for p in GOLDEN.iterdir() if p.suffix in (".tamis", ".packed"))


def raw(word):
    return b"" if word == "-" else bytes.fromhex(word)


def class_of(name):
    """counting is a filter, count-min is not."""
    if name.startswith("counting"):
        return tamis.Filter
    return CLASSES.get(name.split("-")[0].split(".")[0], tamis.Filter)


def opened(name, **options):
    return tamis.open(GOLDEN / name, key=SECRETS.get(name), **options)


@pytest.mark.parametrize("name", IMAGES)
def test_opened_and_saved_again(name, tmp_path):
    whole = (GOLDEN / name).read_bytes()
    it = opened(name)
    assert type(it) is class_of(name)
    assert it.kind == next(kind for kind in sorted(tamis.kinds, key=len, reverse=True)
                           if name.startswith(kind))
    packed = name.endswith(".packed")
    it.save(tmp_path / "again", packed=packed)
    assert (tmp_path / "again").read_bytes() == whole
    if not packed:
        assert bytes(it) == it.to_bytes() == bytes(memoryview(it)) == whole
        assert bytes(opened(name, mmap=True)) == whole
        assert bytes(tamis.view(whole, key=SECRETS.get(name))) == whole
    assert bytes(tamis.load(whole, key=SECRETS.get(name))) == bytes(it)
    assert bytes(it.copy()) == bytes(it)
    again = pickle.loads(pickle.dumps(it))
    assert bytes(again) == bytes(it)
    assert repr(it) and it.info.bytes == it.nbytes == len(bytes(it))


@pytest.mark.parametrize("name", [n for n in IMAGES if SECRETS.get(n)])
def test_secret_keys(name):
    whole = (GOLDEN / name).read_bytes()
    for key in (None, bytes(16)):
        with pytest.raises(tamis.KeyMissingError):
            tamis.load(whole, key=key)
        with pytest.raises(tamis.KeyMissingError):
            tamis.open(GOLDEN / name, key=key)
    keyless = tamis.open(GOLDEN / name, keyless=True)
    assert keyless.keyed
    with pytest.raises(tamis.KeyMissingError):
        bytes(32) in keyless
    with pytest.raises(tamis.KeyMissingError):
        keyless.unlock(bytes(16))
    keyless.unlock(SECRETS[name])
    assert bytes(keyless) == bytes(opened(name))
    for word in (ANSWERS if name in ANSWERS else MORE)[name][1][:20]:
        assert (raw(word[1]) in keyless) == (word[2] == "1")


def caller_hashes(it):
    """These filters take hashes, which this package does not."""
    return "caller" in str(it.info.hash).lower()


@pytest.mark.parametrize("name", sorted({*ANSWERS, *MORE}))
def test_answers(name):
    it = opened(name)
    lines = [words for source in (ANSWERS, MORE) if name in source for words in source[name][1]]
    if caller_hashes(it):
        return
    keys = [raw(words[1]) for words in lines]
    expected = [words[2] == "1" for words in lines]
    assert [key in it for key in keys] == expected
    assert list(it.contains(keys)) == expected
    assert it.select(keys) == [i for i, yes in enumerate(expected) if yes]


@pytest.mark.parametrize("name", sorted(COUNTS))
def test_counts(name):
    it = opened(name)
    lines = COUNTS[name][1]
    keys, expected = [raw(key) for key, _ in lines], [int(count) for _, count in lines]
    if caller_hashes(it):
        return
    uppers = list(it.upper(keys))
    # 2**63 - 1 means "or more": a counter of the key is saturated.
    assert all(upper in (count, 2**63 - 1) for upper, count in zip(uppers, expected))
    assert it.info.saturated or uppers == expected
    for key, count in zip(keys, expected):
        e = it.estimate(key)
        assert e.lower <= e.count <= e.upper and e.lower <= count <= e.upper


@pytest.mark.parametrize("name", sorted(LISTS))
def test_lists(name):
    it = opened(name)
    listed = {(e.raw, e.length, e.upper, e.lower) for e in it.most_common()}
    assert listed == {(None if text == "?" else raw(text), int(length), int(count), int(lower))
                      for _, text, length, count, lower in LISTS[name][1]}


@pytest.mark.parametrize("name", sorted(DISTINCT))
def test_distinct(name):
    it = opened(name)
    value, low, high = DISTINCT[name][1][0]
    number = it.count
    assert f"{number.value:.6f}" == value
    assert (number.low, number.high) == (float(low), float(high))
