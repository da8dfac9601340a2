"""The files of redis/monitoring: promtool accepts the alerts, and each fires as it should
(tamis_rules_test.yml); redis_exporter of Debian with the script exports every field of INFO that is
a number; the dashboard and the alerts use only metrics that it exports."""
import json
import os
import re
import socket
import subprocess
import sys
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from redis_client import SOURCE, Server, free_port, main, wait_for  # noqa: E402
from test_redis_stats import figures, surveyed  # noqa: E402

FOLDER = SOURCE / "redis/monitoring"
SCRIPT = FOLDER / "tamis.lua"


def test_rules():
    for words in (("check", "rules", FOLDER / "tamis.rules.yml"),
                  ("test", "rules", SOURCE / "tests/redis/tamis_rules_test.yml")):
        done = subprocess.run(["promtool", *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0 and "SUCCESS" in done.stdout, (words, done)
    # Every alert is in the test.
    alerts = re.findall(r"- alert: (\w+)", (FOLDER / "tamis.rules.yml").read_text())
    tested = (SOURCE / "tests/redis/tamis_rules_test.yml").read_text()
    assert len(alerts) > 5 and all(f'alertname="{alert}"' in tested for alert in alerts), alerts


def used(text):
    """The metrics that expressions use: names, and the keys of redis_script_values."""
    names = set(re.findall(r"\bredis_[a-z_]+", text))
    keys = re.findall(r'key=(~?)"([^"]*)"', text)
    return names, {(exact == "", pattern) for exact, pattern in keys}


def expressions():
    dashboard = json.loads((FOLDER / "tamis-dashboard.json").read_text())
    texts = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    texts += [variable["query"]["query"] for variable in dashboard["templating"]["list"]
              if isinstance(variable["query"], dict)]
    rules = (FOLDER / "tamis.rules.yml").read_text()
    texts += re.findall(r"expr: (?:>-\n)?(.*?)\n +(?:for|labels):", rules, re.S)
    assert len(texts) > 20, texts
    return " ".join(texts)


def exported(server):
    """What Debian's exporter serves about a server."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        ["prometheus-redis-exporter", f"-redis.addr=redis://127.0.0.1:{server.port}",
         f"-script={SCRIPT}", f"-web.listen-address=127.0.0.1:{port}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    page = []

    def answers():
        assert process.poll() is None, "the exporter has ended"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as reply:
                page.append(reply.read().decode())
        except OSError:
            return False
        return True
    try:
        wait_for(answers, "no exporter")
    finally:
        process.kill()
        process.wait()
    return page[0]


def test_metrics():
    with Server("--maxmemory", "100mb") as server:
        c = server.client()
        c.do("BF.ADD", "name:of a key", "a")
        c.do("TAMIS.CREATE", "t", "blocked", "ITEMS", 100, "RATE", 0.01)
        c.call("TAMIS.LOAD", "x", "bad")
        surveyed(c)
        page = exported(server)
        there = dict(re.findall(r'^redis_script_values{key="([^"]*)"} (\S+)$', page, re.M))
        said = {f"bf_{name}": value for name, value in figures(c).items()
                if isinstance(value, int)}
        assert there.keys() == said.keys(), there.keys() ^ said.keys()
        for name, value in there.items():
            if "age" not in name and name != "bf_surveys":
                assert float(value) == said[name], (name, value)
        metrics = set(re.findall(r"^(redis_[a-z_]+)", page, re.M))
        names, keys = used(expressions())
        assert names <= metrics, names - metrics
        for is_exact, pattern in keys:
            assert pattern in there if is_exact else \
                any(re.fullmatch(pattern, name) for name in there), pattern
        # Whatever INFO reports is on the dashboard or is the age of something that is.
        unused = {name for name in there if not any(
            name == pattern if is_exact else re.fullmatch(pattern, name)
            for is_exact, pattern in keys)}
        assert unused == {"bf_surveys", "bf_refused_last_age_seconds", "bf_biggest_key_db"}, unused


def test_forged_names():
    """The name of a key cannot pass for a figure."""
    with Server() as server:
        c = server.client()
        c.call("TAMIS.LOAD", "x", "bad")
        for number, name in enumerate(("bf_refused_loads:0", "42", "x\r\nbf_refused_loads:0")):
            c.do("BF.RESERVE", name, 0.01, 100000 * (number + 1))
            surveyed(c)
            reply = c.text("EVAL", SCRIPT.read_text(), 0)
            there = list(zip(*[iter(reply)] * 2))
            assert [v for n, v in there if n == "bf_refused_loads"] == ["1"], name
            assert all(n != "bf_biggest_key" for n, _ in there), name


def test_permissions():
    """The commands that docs/REDIS.md lists are enough for the script."""
    line = re.search(r"ACL SETUSER exporter on >\S+ (.*)", (SOURCE / "docs/REDIS.md").read_text())
    with Server() as server:
        c = server.client()
        c.do("ACL", "SETUSER", "exporter", "on", ">word", *line[1].split())
        c.do("AUTH", "exporter", "word")
        reply = c.do("EVAL", SCRIPT.read_text(), 0)
        assert b"bf_keys" in reply and len(reply) % 2 == 0
        assert "NOPERM" in c.call("BF.ADD", "a", "b").text


def test_dashboard():
    """Panels have their own numbers and places, and name a data source."""
    panels = json.loads((FOLDER / "tamis-dashboard.json").read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = set()
    for panel in panels:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                 for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken and at["x"] + at["w"] <= 24, panel["title"]
        taken |= cells
        assert panel["datasource"]["uid"] == "${datasource}" and panel["title"]
        assert all(t["datasource"]["uid"] == "${datasource}" for t in panel["targets"])


if __name__ == "__main__":
    main([test_rules, test_metrics, test_permissions, test_dashboard])
