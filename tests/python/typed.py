"""A program that uses the package, and states the types that it expects. check_types.py has mypy
check it; it is never run."""
import pathlib

import tamis


def filters(names: list[str], path: pathlib.Path) -> int:
    with tamis.Filter(items=1000, fpr=0.01, kind="blocked", key=bytes(16)) as seen:
        new: bool = seen.add("a") and b"b" not in seen and 3 not in seen
        seen.update(names)
        seen |= tamis.Filter(bytes="2MB")
        both: tamis.Filter = seen | seen.copy()
        seen.save(path, packed=True)
        image: bytes = seen.to_bytes() + bytes(both)
        again: tamis.Filter = tamis.Filter.from_bytes(image, key=None)
        rate: float = again.info.fpr + seen.fpr
    assert new and rate < 1
    return len(both) + seen.nbytes


def sketches(lines: list[str]) -> float:
    top = tamis.Top(bytes="1MiB")
    top.update(lines)
    best: list[tamis.Entry] = top.most_common(10)
    counts = tamis.Counts(error=1e-4)
    after: int = counts.add("x", 2)
    estimate: tamis.Estimate = counts.estimate("x")
    distinct = tamis.Distinct(error=0.01)
    total: int = int(distinct) + counts["x"] + after + best[0].count + estimate.upper
    plan: tamis.Plan = tamis.plan(items=5_000_000, fpr=0.01)
    return total + plan.bits_per_item


def maps(names: list[str]) -> int:
    groups = tamis.Map({"ann": 3}, fpr=0.001, value_bits=4)
    found: int | None = groups.get("bob")
    other: int | str = groups.get("bob", "nobody")
    again: tamis.Map = tamis.Map(names, range(len(names))).copy()
    values, flags = again.lookup(names)
    value: int = groups["ann"] + again.value_bits
    return value if found is None and other == "nobody" else len(again)


def sealed(keys: list[str]) -> bool:
    try:
        exact: tamis.Filter = tamis.exact(keys, ["never"])
        return "a" in tamis.seal(keys, fpr=1 / 256) and exact.sealed
    except tamis.CorruptError as why:
        place: int | None = why.offset
        return place is None and isinstance(why, ValueError)
