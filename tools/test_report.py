"""test_report.py [--skips-allowed] FOLDER OUT STAGE...: sums up what `ctest --output-junit
FOLDER/STAGE.xml` wrote for each stage of a test run, writes all of it to OUT as one JUnit file, and
ends with the line `N passed, N failed, N skipped`.

Exit status 1 when a test failed, when a stage left no results, or when a test was skipped, unless
--skips-allowed."""
import os
import sys
import xml.etree.ElementTree as xml


def read_stage(path, stage):
    """The suite of one stage. A stage without results failed: ctest died, or found no tests."""
    try:
        suite = xml.parse(path).getroot()
    except (OSError, xml.ParseError) as why:
        suite = xml.Element("testsuite", tests="1", failures="1", skipped="0")
        case = xml.SubElement(suite, "testcase", name=stage, status="fail")
        xml.SubElement(case, "failure", message=f"no results: {why}")
    suite.set("name", stage)
    return suite


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    # ctest calls a test that was not run "notrun", whatever the reason: also when its program is
    # missing.
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        return "skipped" if "SKIP_RETURN_CODE" in reason(case) else "failed"
    return "passed"


def reason(case):
    skipped = case.find("skipped")
    return skipped.get("message", "") if skipped is not None else ""


def main(words):
    skips_allowed = "--skips-allowed" in words
    folder, out, *stages = [word for word in words if word != "--skips-allowed"]
    whole = xml.Element("testsuites")
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for stage in stages:
        suite = read_stage(os.path.join(folder, stage + ".xml"), stage)
        whole.append(suite)
        for case in suite.iter("testcase"):
            result = outcome(case)
            counts[result] += 1
            if result != "passed":
                print(f"{result}: {case.get('name')} ({stage})")
    if not any(counts.values()):
        counts["failed"] = 1  # nothing ran
    for result, attribute in (("failed", "failures"), ("skipped", "skipped")):
        whole.set(attribute, str(counts[result]))
    whole.set("tests", str(sum(counts.values())))
    xml.ElementTree(whole).write(out, encoding="utf-8", xml_declaration=True)
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    return counts["failed"] > 0 or (counts["skipped"] > 0 and not skips_allowed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
