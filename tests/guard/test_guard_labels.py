"""tamis guard build --labels-in-filter: the filter has a label for each expression. Versions are
compared with exact lists, and what cannot have labels is refused.

The lists follow from a fixed seed, but each filter has a random one and a rate of at most
1.25 * 2^-24. So the 130,000 lookups of strangers have 0.01 maybes on average. Three are allowed;
four have a probability of 4e-10."""
import hashlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from reader import Image  # noqa: E402
from serving import TAMIS, Server, main, prefix, sha  # noqa: E402


def run(*words, text="", status=0):
    done = subprocess.run([TAMIS, *map(str, words)], input=text, capture_output=True, text=True,
                          check=False)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stdout if status == 0 else done.stdout + done.stderr


def publish(room, lists, *options, status=0):
    """Publishes lists, a mapping from labels to hosts, in room/guard."""
    words = []
    for label, hosts in lists.items():
        path = pathlib.Path(room, label)
        path.write_text("".join(f"{host}\n" for host in sorted(hosts)), encoding="ascii")
        words.append(f"{label}={path}")
    said = run("guard", "build", "--json", pathlib.Path(room, "guard"), *words, *options,
               status=status)
    return json.loads(said) if status == 0 else said


def verdicts(room, hosts):
    text = "".join(f"http://{host}/\n" for host in hosts)
    done = subprocess.run([TAMIS, "guard", "check", "--json", pathlib.Path(room, "guard")],
                          input=text, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_version(room, lists, others):
    """Every host has the label of the first list with it, and all labels by the store."""
    of = {}
    for label, hosts in lists.items():
        for host in hosts:
            of.setdefault(host, []).append(label)
    for verdict, (host, labels) in zip(verdicts(room, of), of.items()):
        assert verdict["verdict"] == "listed" and verdict["labels"] == labels, (host, verdict)
        assert verdict["likely"] == labels[:1], (host, verdict)
    wrong = 0
    for verdict in verdicts(room, others):
        assert verdict["verdict"] == "clean" and "labels" not in verdict, verdict
        wrong += "likely" in verdict
    return wrong


def test_model(room):
    rng = random.Random(28)
    lists = {"malware": set(), "phishing": set(), "spam": set()}
    hosts = [f"host-{i}.example" for i in range(4000)]
    wrong = bases = deltas = 0
    for version in range(1, 13):
        for _ in range(3000 if version == 1 else 40):
            label = rng.choice(sorted(lists))
            lists[label] ^= {rng.choice(hosts)}
        about = publish(room, lists, "--labels-in-filter", "--lenient")
        assert about["version"] == version
        bases += about["base"] == version
        deltas += about["delta_bytes"] > 0
        listed = set().union(*lists.values())
        others = [f"never-{version}-{i}.example" for i in range(8000)]
        wrong += check_version(room, lists, [*others, *(h for h in hosts if h not in listed)])
    assert wrong <= 3 and bases >= 2 and deltas >= 6, (wrong, bases, deltas)


def test_labels_of_a_base(room):
    """The numbers in a base stand for the same labels as long as it stays: a label may follow, but
    another order, and a filter without labels, make a new base."""
    malware, phishing = ({f"{name}-{i}.example" for i in range(500)} for name in "mp")
    for lists, options, base in (
            ({"malware": malware, "phishing": phishing}, ["--labels-in-filter"], 1),
            ({"malware": malware, "phishing": phishing, "a": {"a.example"}},
             ["--labels-in-filter"], 1),
            ({"malware": malware, "a": {"a.example"}, "phishing": phishing},
             ["--labels-in-filter"], 3),
            ({"malware": malware, "phishing": phishing}, ["--labels-in-filter"], 4),
            ({"malware": malware, "phishing": phishing}, [], 5),
            ({"malware": malware, "phishing": phishing}, [], 5),
            ({"malware": malware, "phishing": phishing}, ["--labels-in-filter"], 7)):
        about = publish(room, lists, *options)
        assert about["base"] == base, about
        if options:
            check_version(room, lists, [])
        else:
            assert all("likely" not in v for v in verdicts(room, malware))
    # A host that moves to another list is in the delta, with its new label.
    moved = {"m-1.example", "m-2.example"}
    lists = {"malware": malware - moved, "phishing": phishing | moved}
    about = publish(room, lists, "--labels-in-filter")
    assert about["base"] == 7 and about["delta_bytes"] > 0 and about["removed_bytes"] == 0
    check_version(room, lists, [])


def test_file(room):
    """The base is a map, whose values the second reader finds, and explain prints its labels."""
    lists = {f"list-{i}": {f"host-{i}-{j}.example" for j in range(20)} for i in range(64)}
    publish(room, lists, "--labels-in-filter")
    path = pathlib.Path(room, "guard/1.filter")
    info = json.loads(run("info", "--json", path))
    assert (info["kind"], info["cell_bits"], info["encoding"]) == ("map", 6, "sha256"), info
    image = Image(path.read_bytes())
    for i in range(64):
        assert image.value_of(hashlib.sha256(f"host-{i}-7.example/".encode()).digest()) == i, i
    said = run("guard", "explain", "http://www.host-63-0.example/x", pathlib.Path(room, "guard"))
    assert "    filter maybe list-63, store listed: list-63\n" in said, said
    said = json.loads(run("guard", "explain", "--json", "http://host-5-0.example/",
                          pathlib.Path(room, "guard")))
    assert said["answers"][0]["likely"] == "list-5", said


def test_fewer_names(room):
    """A number in the filter that has no name stands for nothing, whatever somebody wrote into the
    manifest."""
    lists = {f"list-{i}": {f"host-{i}.example"} for i in range(4)}
    publish(room, lists, "--labels-in-filter")
    path = pathlib.Path(room, "guard/manifest")
    lines = [line for line in path.read_text(encoding="ascii").splitlines(keepends=True)
             if not line.startswith(("label list-2", "label list-3", "sum "))]
    text = "".join(lines)
    path.write_text(f"{text}sum {hashlib.sha256(text.encode()).hexdigest()}\n", encoding="ascii")
    got = [v.get("likely") for v in verdicts(room, [f"host-{i}.example" for i in range(4)])]
    assert got == [["list-0"], ["list-1"], None, None], got


def test_served(room):
    """A server delivers the map as the filter, and the names with its number."""
    publish(room, {"malware": {"evil.example"}, "phishing": {"bad.example"}},
            "--labels-in-filter")
    with Server(pathlib.Path(room, "guard")) as s:
        about = s.ask("/v1/update").json()
        assert about["labels"] == ["malware", "phishing"]
        image = s.ask(about["filter"]["url"]).body
        assert Image(image).value_of(bytes.fromhex(sha("bad.example"))) == 1
        assert s.confirm(prefix("bad.example"))["labels"] == [["phishing"]]


def test_refused(room):
    lists = {"malware": {f"m-{i}.example" for i in range(5000)}, "spam": {"a.example"}}
    good = pathlib.Path(room, "good")
    good.write_text("good.example\n", encoding="ascii")
    said = publish(room, lists, "--labels-in-filter", "--never", good, status=2)
    assert "--labels-in-filter and --never do not go together" in said, said
    assert not pathlib.Path(room, "guard").exists()
    # Labels alone would take 5,001 bits.
    for most in (1, 700, 1200, 2500):
        said = publish(room, lists, "--labels-in-filter", "--max-bytes", most, status=2)
        assert f"5001 entries with their labels needs more than {most} bytes" in said, said
        assert not list(pathlib.Path(room, "guard").iterdir())
    about = publish(room, lists, "--labels-in-filter", "--max-bytes", 8000)
    assert about["filter_bytes"] <= 8000 and 1e-4 < about["rate"] < 1 / 64, about
    assert all(v["likely"] == ["malware"] for v in verdicts(room, lists["malware"]))
    # At a quarter of this rate, a delta would give its label to some of the 5,000 others.
    lists["spam"] |= {f"s-{i}.example" for i in range(100)}
    assert publish(room, lists, "--labels-in-filter", "--max-bytes", 8000)["base"] == 1
    assert all(v["likely"] == ["malware"] for v in verdicts(room, lists["malware"]))
    assert all(v["likely"][-1:] == ["spam"] for v in verdicts(room, lists["spam"]))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="tamis-labels-") as place:
        sys.exit(main([f for name, f in list(globals().items()) if name.startswith("test_")],
                      place))
