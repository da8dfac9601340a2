"""Every transcript of tests/cli, every example of README, GUIDE, --help, 'tamis help TOPIC' and the
manual page."""
import os, re, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
import transcript

# What the examples speak of, beside a filter and a list of URLs.
WORKSHOP = (
    "cp bad.tamis monday.tamis; cp bad.tamis tuesday.tamis; cp bad-urls.txt users.txt; cp "
    "bad-urls.txt gone.txt; "
            "cp bad-urls.txt list.txt; cp bad-urls.txt other.txt; (umask 077; head -c 16 /dev/zero "
            "> secret.key); "
            "tamis build --kind counting -o users.tamis users.txt; "
            "tamis build --kind window -o seen-today.tamis users.txt; "
            "tamis pack -q -o arrived.packed bad.tamis; "
            "tamis count -o counts.tamis bad-urls.txt")
GUARD = (
    "echo good.example > popular.txt; echo evil.example > evil.txt; tamis guard build guard "
    "evil.txt")


def named(lines, heading, end):
    """The names that the overview lists under a heading."""
    lines = lines[[line.startswith(heading) for line in lines].index(True):]
    lines = lines[:[line.startswith(end) for line in lines].index(True)]
    return [line[2:15].strip() for line in lines if line.startswith("  ")]


def after(heading, lines):
    """What stands under the last heading of this name, without its margin."""
    return "\n".join(line[2:] for line in lines[lines.index(heading) + 1:])


def examples():
    """The overview, each command and each topic: the command that shows it, and the example in
    it."""
    overview = transcript.run("tamis --help", ".")
    asked = ["tamis --help"]
    asked += [f"tamis {name} --help" for name in named(overview, "Usage:", "Topics:")]
    asked += [f"tamis help {name}" for name in named(overview, "Topics:", "Run 'tamis")]
    assert len(asked) > 20, asked
    return {ask: after("Example:", transcript.run(ask, ".")) for ask in asked}


def group_examples():
    """The help of words that begin commands of two words and are not commands themselves. The
    manual page does not have them."""
    names = [name.split() for name in named(transcript.run("tamis --help", "."), "Usage:",
                                            "Topics:")]
    groups = sorted({words[0] for words in names
                     if len(words) > 1} - {words[0] for words in names if len(words) == 1})
    assert "key" in groups, groups
    return {f"tamis {group} --help": after("Example:", transcript.run(f"tamis {group} --help", "."))
            for group in groups}


def manual_examples():
    lines = [re.sub(r"\\(.)", lambda m: "\\" if m[1] == "e" else m[1], line)
             for line in transcript.run("tamis help --man", ".")]
    return ["\n".join(lines[i + 3:lines.index(".fi", i)])
            for i, line in enumerate(lines) if line == "Example:"]


def run_example(ask, example):
    with tempfile.TemporaryDirectory() as directory:
        for name in ("bad-urls.txt", "more-urls.txt", "access-urls.txt"):
            with open(os.path.join(directory, name), "w") as f:
                f.write(f"http://a.example/\nhttp://{name}.example/\n")
        if ask != "tamis build --help":
            transcript.run(f"tamis build -o bad.tamis bad-urls.txt; {WORKSHOP}", directory)
        if ask.startswith("tamis guard"):
            transcript.run(GUARD, directory)
        if ask == "tamis help redis":  # needs servers: test_cluster.py
            return []
        if ask == "tamis guard serve --help":  # until it is stopped, at a free port
            example = example.replace("8080", "0")
            return transcript.run(f"timeout --preserve-status 2 {example}", directory)
        return transcript.run(example, directory)


def help_examples():
    shown = examples()
    wrong = 0
    for ask, example in {**shown, **group_examples()}.items():
        got = run_example(ask, example)
        if "tamis " not in example or (got and got[-1] in ("[1]", "[2]")):
            print(f"the example of '{ask}' fails: {example}: {got}")
            wrong += 1
    if sorted(manual_examples()) != sorted(shown.values()):
        print("the manual page has other examples:", set(manual_examples()) ^ set(shown.values()))
        wrong += 1
    print(f"{len(shown) - wrong} passed, {wrong} failed")
    return wrong > 0


# TEST_ONLY: some of tests/cli, by name, where all would take too long.
some = [str(transcript.SOURCE / "tests/cli" / f"{name}.t")
        for name in os.environ.get("TEST_ONLY", "").split()]
sys.exit((not some and help_examples()) or transcript.main(some))
