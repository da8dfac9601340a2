"""What a server knows about the module's commands: their names in errors, statistics, ACL and
replication, their documentation, and the names of the settings."""
import os
import pathlib
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from redis_client import Error, MODULE, SOURCE, Server, main  # noqa: E402

FAMILIES = ("bf", "cf", "cms", "topk", "tdigest", "tamis")
COMMANDS = 52 + 1 + 20  # RedisBloom's, BF.MERGE, TAMIS.*


def names(c):
    return [name for name in c.text("COMMAND", "LIST") if name.lower().split(".")[0] in FAMILIES]


def test_lower_case():
    """As RedisBloom's commands do, these have names in lower case, and answer to any."""
    with Server("--appendonly", "yes", "--appendfsync", "always") as server:
        c = server.client()
        every = names(c)
        assert len(every) == COMMANDS and all(name == name.lower() for name in every), every
        for name in every:
            text = f"ERR wrong number of arguments for '{name}' command"
            assert c.call(name) == Error(text) and c.call(name.upper()) == Error(text), name
            for word in (name, name.upper()):
                assert c.text("COMMAND", "INFO", word)[0][0] == name
        # Also where a handler counts its arguments.
        for words in ("BF.RESERVE b 0.1 1 EXPANSION 1 NONSCALING x", "CF.RESERVE c 100 BUCKETSIZE",
                      "CMS.INCRBY m a 1 b",
                      "TOPK.RESERVE t 1 1", "TDIGEST.CREATE d COMPRESSION", "TAMIS.TOP t 1 2 3"):
            assert c.call(*words.split()) \
                == Error(f"ERR wrong number of arguments for '{words.split()[0].lower()}' command")
        c.do("CONFIG", "RESETSTAT")
        for word in ("BF.ADD", "bf.add", "Bf.Add"):
            assert c.do(word, "k", word) == 1
        assert "cmdstat_bf.add:calls=3," in c.text("INFO", "commandstats")
        assert c.do("COMMAND", "GETKEYS", "CMS.MERGE", "d", 2, "a", "b") == [b"d", b"a", b"b"]
        assert c.do("COMMAND", "GETKEYS", "cms.merge", "d", 2, "a", "b") == [b"d", b"a", b"b"]
        assert c.do("EVAL", "return redis.call('bF.aDd', KEYS[1], 'script')", 1, "k") == 1
        # What is replicated by name or verbatim is understood again.
        c.do("cf.insertnx", "made", "items", "x")
        c.do("tamis.create", "t", "blocked", "items", 10, "rate", 0.1)
        before = {key: c.do("DUMP", key) for key in ("k", "made", "t")}
        server.restart()
        c = server.client()
        assert {key: c.do("DUMP", key) for key in before} == before


def test_name_taken():
    """Beside RedisBloom, or a second time, the module is not loaded, and the log has the reason."""
    with Server("--enable-module-command", "yes") as server:
        c = server.client()
        c.do("BF.ADD", "k", "x")
        assert isinstance(c.call("MODULE", "LOAD", MODULE), Error)
        assert "a module named bf is loaded already" in server.log()
        assert c.do("BF.EXISTS", "k", "x") == 1


def test_acl():
    """A user's rules name commands in any case, and are shown in lower case."""
    with Server() as server:
        c, other = server.client(), server.client()
        c.do("BF.ADD", "k", "x")
        c.do("ACL", "SETUSER", "reader", "on", "nopass", "~k", "+BF.EXISTS", "+bf.card")
        other.do("AUTH", "reader", "any")
        assert other.do("bf.exists", "k", "x") == 1 and other.do("BF.CARD", "k") == 1
        assert other.call("BF.ADD", "k", "y") in (
            Error("NOPERM this user has no permissions to run the 'bf.add' command"),
            Error("NOPERM User reader has no permissions to run the 'bf.add' command"))
        assert isinstance(other.call("BF.EXISTS", "other", "x"), Error)
        rules = [line for line in c.text("ACL", "LIST") if line.startswith("user reader")][0]
        assert set(rules.split("-@all")[1].split()) == {"+bf.exists", "+bf.card"}, rules


# In RedisBloom's manual; CF.COMPACT, which it does not mention, by its releases. BF.MERGE and
# TAMIS.* are Tamis' own.
SINCE = {"bf": "1.0.0", "cf": "1.0.0", "cms": "2.0.0", "topk": "2.0.0", "tdigest": "2.4.0",
         "tamis": "1.0.0",
         "bf.card": "2.4.4", "cf.compact": "2.2.0", "bf.merge": "1.0.0"}


def pairs(flat):
    return dict(zip(flat[::2], flat[1::2]))


def line(arguments):
    """The notation of the manual, from what COMMAND DOCS lists."""
    words = []
    for a in map(pairs, arguments):
        if a["type"] == "oneof":
            text = " | ".join(line([x]) for x in a["arguments"])
        elif a["type"] == "block":
            text = line(a["arguments"])
        else:
            text = a["token"] if a["type"] == "pure-token" else a["name"]
        assert (a["type"] == "key") == (a["name"] in ("key", "destination", "source")) \
            == ("key_spec_index" in a), a
        flags = a.get("flags", [])
        if "multiple" in flags:
            text += f" [{text} ...]"
        if "token" in a and a["type"] != "pure-token":
            text = f"{a['token']} {text}"
        words.append(f"[{text}]" if "optional" in flags else text)
    return " ".join(words)


def manual():
    """The arguments of every command in docs/REDIS.md."""
    rows = re.findall(r"^\| `([A-Z]+\.[A-Z_]+)` \| `(.*?)` \|",
                      pathlib.Path(SOURCE, "docs/REDIS.md").read_text(), re.M)
    return {name.lower(): arguments.replace("\\|", "|") for name, arguments in rows}


# Written by hand, since the manual comes from the table of the code: name, type, token, flags. A
# list is a block.
BY_HAND = {
    "bf.insert": [("key", "key"), ("capacity", "integer", "CAPACITY", "optional"),
                  ("error", "double", "ERROR", "optional"),
                  ("expansion", "integer", "EXPANSION", "optional"),
                  ("nocreate", "pure-token", "NOCREATE", "optional"),
                  ("nonscaling", "pure-token", "NONSCALING", "optional"),
                  ("item", "string", "ITEMS", "multiple")],
    "cf.reserve": [("key", "key"), ("capacity", "integer"),
                   ("bucketsize", "integer", "BUCKETSIZE", "optional"),
                   ("maxiterations", "integer", "MAXITERATIONS", "optional"),
                   ("expansion", "integer", "EXPANSION", "optional")],
    "topk.incrby": [("key", "key"), ("item-increment", "block",
                                     [("item", "string"), ("increment", "integer")], "multiple")],
    "cms.merge": [("destination", "key"), ("numkeys", "integer"), ("source", "key", "multiple"),
                  ("weight", "integer", "WEIGHTS", "optional", "multiple")],
    "tdigest.merge": [("destination", "key"), ("numkeys", "integer"), ("source", "key", "multiple"),
                      ("compression", "integer", "COMPRESSION", "optional"),
                      ("override", "pure-token", "OVERRIDE", "optional")],
    "tdigest.byrevrank": [("key", "key"), ("reverse_rank", "integer", "multiple")],
    "tdigest.trimmed_mean": [("key", "key"), ("low_cut_percentile", "double"),
                             ("high_cut_percentile", "double")],
    "tamis.card": [("key", "key", "multiple"),
                   ("withinterval", "pure-token", "WITHINTERVAL", "optional")],
}


def listed(arguments):
    """What COMMAND DOCS lists, in the form of BY_HAND."""
    rows = []
    for a in map(pairs, arguments):
        inner = [listed(a["arguments"])] if "arguments" in a else []
        rows.append((a["name"], a["type"], *([a["token"]] if "token" in a else []), *inner,
                     *a.get("flags", [])))
    return rows


def test_docs():
    """COMMAND DOCS has the arguments of the manual, with their types, and since when there is the
    command."""
    with Server() as server:
        c = server.client()
        wanted = manual()
        assert sorted(wanted) == sorted(names(c))
        for name, arguments in wanted.items():
            docs = pairs(c.text("COMMAND", "DOCS", name)[1])
            assert line(docs["arguments"]) == arguments, (name, line(docs["arguments"]))
            assert docs["since"] == SINCE.get(name, SINCE[name.split(".")[0]]), \
                (name, docs["since"])
            assert docs["summary"], name
        for name, arguments in BY_HAND.items():
            found = listed(pairs(c.text("COMMAND", "DOCS", name)[1])["arguments"])
            assert found == arguments, (name, found)
        types = {a["name"]: a["type"] for a in map(pairs,
                                                   pairs(c.text("COMMAND", "DOCS", "bf.reserve")[
                                                       1])["arguments"])}
        assert types == {"key": "key", "error_rate": "double", "capacity": "integer",
                         "expansion": "integer", "nonscaling": "pure-token"}
        merge = [pairs(a) for a in pairs(c.text("COMMAND", "DOCS", "cms.merge")[1])["arguments"]]
        assert [a.get("key_spec_index") for a in merge] == [0, None, 1, None], merge


SETTINGS = {"bf-error-rate": "0.01", "bf-initial-size": "100", "bf-expansion-factor": "2",
            "cf-bucket-size": "2", "cf-initial-size": "1024",
            "cf-max-iterations": "20", "cf-expansion-factor": "1", "cf-max-expansions": "32",
            "tamis-max-bytes": str(8 << 30), "tamis-strict": "no"}


def allows_short_names(c):
    """Redis 8 does; Valkey does not."""
    hello = pairs(c.text("HELLO"))
    return hello["server"] == "redis" and int(hello["version"].split(".")[0]) >= 8


def test_settings():
    """Settings have RedisBloom's names behind the module's, and alone where the server allows it;
    also in a file, and when rewritten."""
    with Server() as server:
        c = server.client()
        prefixes = ("bf.", "") if allows_short_names(c) else ("bf.",)
        for prefix in prefixes:
            for name, value in SETTINGS.items():
                assert c.text("CONFIG", "GET", prefix + name) == [prefix + name, value], \
                    (prefix, name)
        for prefix in prefixes:
            c.do("CONFIG", "SET", prefix + "bf-error-rate", "0.05")
            for other in prefixes:
                assert c.text("CONFIG", "GET", other + "bf-error-rate") \
                    == [other + "bf-error-rate", "0.05"]
            c.do("CONFIG", "SET", prefix + "bf-error-rate", "0.2")
        if "" not in prefixes:
            assert isinstance(c.call("CONFIG", "SET", "bf-error-rate", "0.05"), Error)
    for prefix in prefixes:
        with Server() as server:
            path = pathlib.Path(server.room, "redis.conf")
            path.write_text(
                f"loadmodule {MODULE}\n{prefix}bf-error-rate 0.125\n{prefix}tamis-max-bytes "
                f"1gb\n{prefix}tamis-strict yes\n")
            server.file, server.module = (path,), False
            for rate in ("0.125", "0.03"):
                server.restart()
                c = server.client()
                for other in prefixes:
                    assert c.text("CONFIG", "GET", other + "bf-error-rate") \
                        == [other + "bf-error-rate", rate]
                    assert c.text("CONFIG", "GET", other + "tamis-max-bytes")[1] == str(1 << 30)
                assert c.do("SET", "k", "v") and isinstance(c.call("BF.EXISTS", "k", "x"), Error)
                c.do("CONFIG", "SET", prefixes[-1] + "bf-error-rate", "0.03")
                c.do("CONFIG", "REWRITE")


if __name__ == "__main__":
    main([test_lower_case, test_acl, test_docs, test_settings])
