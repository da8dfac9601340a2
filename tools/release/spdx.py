"""A bill of materials as SPDX 2.3 in JSON (https://spdx.github.io/spdx-spec/v2.3/): the source with
each of its files, the other archives of a release, and what they contain or are linked with."""
import datetime
import hashlib
import json
import re
import subprocess

import archives
import parts

# Licences of what is linked, as SPDX names them. Those that Debian's copyright file splits by file
# are of the parts that are linked.
LICENCES = {
    "bzip2": "bzip2-1.0.6", "glibc": "LGPL-2.1-or-later",
    "gmp": "LGPL-3.0-or-later OR GPL-2.0-or-later", "hiredis": "BSD-3-Clause",
    "libidn2": "LGPL-3.0-or-later OR GPL-2.0-or-later", "libunistring":
    "LGPL-3.0-or-later OR GPL-2.0-or-later", "libzstd": "BSD-3-Clause OR GPL-2.0-only",
    "lmdb": "OLDAP-2.8", "nettle": "LGPL-3.0-or-later OR GPL-2.0-or-later",
    "xxhash": "BSD-2-Clause", "xz-utils": "LicenseRef-public-domain", "zlib": "Zlib"}


def sums(data):
    return [{"algorithm": name.upper(), "checksumValue": hashlib.new(name, data).hexdigest()}
            for name in ("sha1", "sha256")]


def package(name, version, licence, **more):
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{name}-{version}"),
            "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": "NOASSERTION", **more}


def source_files(release):
    """The files of the source, and the code by which SPDX verifies them together."""
    found, sha1 = [], []
    for name, path in archives.files_below(release.tree).items():
        data = path.read_bytes()
        sha1.append(hashlib.sha1(data).hexdigest())
        found.append({"SPDXID": f"SPDXRef-File-{hashlib.sha256(name.encode()).hexdigest()[:20]}",
                      "fileName": f"./{name}", "checksums": sums(data), "licenseConcluded": "MIT",
                      "licenseInfoInFiles": ["NOASSERTION"], "copyrightText": "NOASSERTION"})
    return found, hashlib.sha1("".join(sorted(sha1)).encode()).hexdigest()


def linked():
    """The source packages of Debian whose code is in the static command, by name."""
    found = {}
    for name in parts.LINKED:
        source, version = subprocess.run(
            ["dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", name], check=True,
            text=True, stdout=subprocess.PIPE).stdout.split()
        found[source] = package(
            source, version, LICENCES[source], supplier="Organization: Debian",
            externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                           "referenceLocator": f"pkg:deb/debian/{source}@{version}?arch=source"}])
    return found


def document(release):
    files, code = source_files(release)
    url = release.values["PROJECT_URL"]
    supplier = "Organization: The Tamis authors ({PROJECT_CONTACT})".format(**release.values)
    source = package("tamis", release.version, "MIT", supplier=supplier, homepage=url,
                     packageFileName=f"{release.name}-src.tar.xz",
                     checksums=sums((release.out / f"{release.name}-src.tar.xz").read_bytes()))
    source.update(filesAnalyzed=True, licenseInfoFromFiles=["NOASSERTION"],
                  packageVerificationCode={"packageVerificationCodeValue": code},
                  copyrightText="Copyright (c) 2026 The Tamis authors",
                  hasFiles=[file["SPDXID"] for file in files])
    libraries = linked()
    packages, relations = [source, *libraries.values()], []

    def relate(one, kind, other):
        relations.append({"spdxElementId": one, "relationshipType": kind,
                          "relatedSpdxElement": other})
    relate("SPDXRef-DOCUMENT", "DESCRIBES", source["SPDXID"])
    for name, path in archives.files_below(release.out).items():
        if name in (source["packageFileName"], f"{release.name}.spdx.json", "SHA256SUMS") or \
                name.startswith("recipes/"):
            continue
        made = package(name, release.version, "MIT AND BSD-2-Clause", supplier=supplier,
                       packageFileName=name, checksums=sums(path.read_bytes()))
        packages.append(made)
        relate(made["SPDXID"], "GENERATED_FROM", source["SPDXID"])
        if "-linux-" in name:
            for library in libraries.values():
                relate(made["SPDXID"], "STATIC_LINK", library["SPDXID"])
        elif not re.search(r"vectors|\.dsc$|\.xz$", name):
            relate(made["SPDXID"], "CONTAINS", libraries["xxhash"]["SPDXID"])
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": release.name,
        # Unique to these bytes of the source.
        "documentNamespace": f"{url}/spdx/{release.name}-{source['checksums'][1]['checksumValue']}",
        "creationInfo": {
            "created": datetime.datetime.fromtimestamp(release.epoch, datetime.timezone.utc)
            .strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Organization: The Tamis authors", "Tool: tools/release/spdx.py"]},
        "hasExtractedLicensingInfos": [{
            "licenseId": "LicenseRef-public-domain", "name": "Public domain",
            "extractedText": "liblzma is in the public domain."}],
        "documentDescribes": [source["SPDXID"]], "packages": packages, "files": files,
        "relationships": relations}


def write(release):
    (release.out / f"{release.name}.spdx.json").write_text(
        json.dumps(document(release), indent=1, sort_keys=True) + "\n")
