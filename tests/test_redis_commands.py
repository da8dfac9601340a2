"""What a server knows about the module's commands: their names in errors, statistics, ACL and replication, their documentation, and the
names of the settings."""
import os
import pathlib
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from redis_client import Error, Server, main  # noqa: E402

FAMILIES = ("bf", "cf", "cms", "topk", "tamis")
COMMANDS = 38 + 1 + 17  # RedisBloom's, BF.MERGE, TAMIS.*


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
        for words in ("BF.RESERVE b 0.1 1 EXPANSION 1 NONSCALING x", "CF.RESERVE c 100 BUCKETSIZE", "CMS.INCRBY m a 1 b",
                      "TOPK.RESERVE t 1 1", "TAMIS.TOP t 1 2 3"):
            assert c.call(*words.split()) == Error(f"ERR wrong number of arguments for '{words.split()[0].lower()}' command")
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


def test_acl():
    """A user's rules name commands in any case, and are shown in lower case."""
    with Server() as server:
        c, other = server.client(), server.client()
        c.do("BF.ADD", "k", "x")
        c.do("ACL", "SETUSER", "reader", "on", "nopass", "~k", "+BF.EXISTS", "+bf.card")
        other.do("AUTH", "reader", "any")
        assert other.do("bf.exists", "k", "x") == 1 and other.do("BF.CARD", "k") == 1
        assert other.call("BF.ADD", "k", "y") == Error("NOPERM this user has no permissions to run the 'bf.add' command") or \
            other.call("BF.ADD", "k", "y") == Error("NOPERM User reader has no permissions to run the 'bf.add' command")
        assert isinstance(other.call("BF.EXISTS", "other", "x"), Error)
        rules = [line for line in c.text("ACL", "LIST") if line.startswith("user reader")][0]
        assert set(rules.split("-@all")[1].split()) == {"+bf.exists", "+bf.card"}, rules


if __name__ == "__main__":
    main([test_lower_case, test_acl])
