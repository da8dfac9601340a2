"""Every transcript of tests/cli, every example of README, GUIDE, --help, 'tamis help TOPIC' and the
manual page."""
import os, re, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
import transcript
from list_server import Lists, answer

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


def examples_in(lines):
    """The examples of a page: the lines of the shell below each description."""
    found = []
    for line in lines[lines.index("Examples:") + 1:]:
        if line == "":
            break
        if line.startswith("    "):
            found[-1].append(line[4:])
        else:
            assert line.startswith("  ") and line[-1] in ":?", line
            found.append([])
    return ["\n".join(example) for example in found]


def examples():
    """The overview, each command and each topic: the command that shows it, and its examples."""
    overview = transcript.run("tamis --help", ".")
    asked = ["tamis --help"]
    asked += [f"tamis {name} --help" for name in named(overview, "Usage:", "Topics:")]
    asked += [f"tamis help {name}" for name in named(overview, "Topics:", "Run 'tamis")]
    assert len(asked) > 20, asked
    return {ask: examples_in(transcript.run(ask, ".")) for ask in asked}


def group_examples():
    """The help of words that begin commands of two words and are not commands themselves. The
    manual page does not have them."""
    names = [name.split() for name in named(transcript.run("tamis --help", "."), "Usage:",
                                            "Topics:")]
    groups = sorted({words[0] for words in names
                     if len(words) > 1} - {words[0] for words in names if len(words) == 1})
    assert "key" in groups, groups
    return {f"tamis {group} --help": examples_in(transcript.run(f"tamis {group} --help", "."))
            for group in groups}


def manual_examples():
    lines = [re.sub(r"\\(.)", lambda m: "\\" if m[1] == "e" else m[1], line)
             for line in transcript.run("tamis help --man", ".")]
    return ["\n".join(lines[i + 1:lines.index(".EE", i)])
            for i, line in enumerate(lines) if line == ".EX"]


def prepare(ask, directory):
    for name in ("bad-urls.txt", "more-urls.txt", "access-urls.txt"):
        with open(os.path.join(directory, name), "w") as f:
            f.write(f"http://a.example/\nhttp://{name}.example/\n")
    with open(os.path.join(directory, "categories.txt"), "w") as f:
        f.write("http://a.example/\t1\nhttp://c.example/\t2\n")
    if ask != "tamis build --help":
        transcript.run(f"tamis build -o bad.tamis bad-urls.txt; {WORKSHOP}", directory)
    if ask.startswith("tamis guard"):
        transcript.run(GUARD, directory)


def run_example(example, directory):
    if "redis://" in example:  # needs servers: test_cluster.py
        return []
    if "guard serve" in example:  # until it is stopped, at a free port
        example = example.replace("8080", "0")
        return transcript.run(f"timeout --preserve-status 2 {example}", directory)
    if "guard fetch" in example:  # from a server that is there
        with Lists() as lists:
            lists.answers["/bad.txt"] = answer(200, b"evil.example\n")
            with open(os.path.join(directory, "sources.txt"), "w") as f:
                f.write(f"malware {lists.url('/bad.txt')}\n")
            example = example.replace("https://lists.example/bad.txt", lists.url("/bad.txt"))
            return transcript.run(example, directory)
    return transcript.run(example, directory)


def help_examples():
    shown = examples()
    done = wrong = 0
    for ask, all_examples in {**shown, **group_examples()}.items():
        with tempfile.TemporaryDirectory() as directory:
            prepare(ask, directory)
            for example in all_examples:
                got = run_example(example, directory)
                done += 1
                if "tamis " not in example or (got and got[-1] in ("[1]", "[2]")):
                    print(f"an example of '{ask}' fails: {example}: {got}")
                    wrong += 1
    everything = [example for page in shown.values() for example in page]
    if sorted(manual_examples()) != sorted(everything):
        print("the manual page has other examples:", set(manual_examples()) ^ set(everything))
        wrong += 1
    print(f"{done - wrong} passed, {wrong} failed")
    return wrong > 0


# TEST_ONLY: some of tests/cli, by name, where all would take too long.
some = [str(transcript.SOURCE / "tests/cli" / f"{name}.t")
        for name in os.environ.get("TEST_ONLY", "").split()]
sys.exit((not some and help_examples()) or transcript.main(some))
