# Lists of bad URLs: a URL, a host, a line of a hosts file, or a rule. Any other line is reported
# with its number.
$ printf '%s\n' '# a comment' 'http://evil.example/login?x=1' 'bad.example' '0.0.0.0 hosts.example' '||rule.example^' '' > malware.txt
$ printf '%s\n' 'bad.example' 'phish.example/folder/' 'more.example' 'most.example' 'two words' '||*.x^$third-party' '@@||good.example^' '93.184.216.34 somewhere.example' > list
$ tamis guard build g malware.txt phishing=list
tamis: list: line 5: left out: white space inside; write %20 in a URL
tamis: list: line 6: left out: a filter rule with options, or other than ||host^
tamis: list: line 7: left out: an exception from a filter rule
tamis: list: line 8: left out: the address is not one that leads nowhere, like 0.0.0.0
g: version 1
  listed    7 expressions from 8 lines; 4 left out
  filter    ... bytes, ... bits per expression
  wrong     5.96e-06 % (1 in 16,777,216) of expressions; 4.77e-05 % (1 in 2,097,152) of pages with 8
            expressions, 0.000179 % (1 in 559,241) of pages with 30
  asked     0.0 unnecessary requests in 102,000 page views
  store     12,288 bytes
$ ls g
1.filter
1.store
manifest
$ tamis info g/1.filter | grep '^  keys'
  keys      sha256, 32 bytes each
$ tamis check g/1.filter malware.txt
tamis: g/1.filter: the keys of this filter are SHA-256 hashes, not lines; to check URLs against a version of the guard, use 'tamis guard check'
[2]

# Verdicts, their labels, and the way they took.
$ tamis guard check g 'http://evil.example/login?x=1' 'https://sub.bad.example:8443/a/b?c' hosts.example rule.example
listed      http://evil.example/login?x=1  (malware: evil.example/login?x=1)
listed      https://sub.bad.example:8443/a/b?c  (malware, phishing: bad.example/)
listed      hosts.example  (malware: hosts.example/)
listed      rule.example  (malware: rule.example/)
$ tamis guard check g http://phish.example/folder/page.html
listed      http://phish.example/folder/page.html  (phishing: phish.example/folder/)
$ tamis guard check g http://phish.example/folde http://evil.example/login http://xbad.example/
clean       http://phish.example/folde  (the filter answered no)
clean       http://evil.example/login  (the filter answered no)
clean       http://xbad.example/  (the filter answered no)
[1]
$ printf 'http://nothing.example/\n\nhttp://bad.example/\n' | tamis guard check g
clean       http://nothing.example/  (the filter answered no)
listed      http://bad.example/  (malware, phishing: bad.example/)
$ printf 'http://nothing.example/\n' | tamis guard check g -
clean       http://nothing.example/  (the filter answered no)
[1]
$ tamis guard check g -q bad.example
$ tamis guard check g -q nothing.example
[1]
$ tamis guard check g 'http://[' mailto:a@bad.example bad.example
no URL      http://[  (there is no IPv6 address between the brackets)
no URL      mailto:a@bad.example  (only http, https and ftp URLs can be checked)
listed      bad.example  (malware, phishing: bad.example/)
[2]
$ tamis guard check g --json BAD.example nothing.example 'http:///'
{"url": "BAD.example", "verdict": "listed", "expression": "bad.example/", "labels": ["malware", "phishing"], "expressions": 1, "maybes": 1, "asked": 1}
{"url": "nothing.example", "verdict": "clean", "expressions": 1, "maybes": 0, "asked": 0}
{"url": "http:///", "verdict": "no URL", "reason": "the URL has no host", "expressions": 0, "maybes": 0, "asked": 0}
[2]
$ printf 'a.example/\377\n' | tamis guard check g --json | grep -o '"url.*"verdict'
"url": "a.example/\u00ff", "url_hex": "612e6578616d706c652fff", "verdict

# A name that cannot be mapped as a browser maps it is a doubt, unless a parent of it is listed.
$ printf '%s\n' evil.example phish.example/x/ > names && tamis guard build -q n names
$ printf 'http://e\341\240\216vil.example/\nhttp://ev\342\201\241il.example/\nhttp://-a\357\275\241evil\357\275\241example/\n\360\237\231\202.evil.example\n' | tamis guard check n | cut -c 1-6
listed
listed
listed
listed
$ printf 'http://e\360\234\263\253il.example/\n\360\237\231\202\357\274\216evil\357\274\216example\nhttp://\377.example/\n' | tamis guard check n | cut -c 1-6; printf 'fa\341\272\236.example' | tamis guard check n -q
no URL
no URL
no URL
[2]
$ tamis guard check n --json "$(printf 'http://e\360\234\263\253il.example/')"
{"url": "http://e𜳫il.example/", "verdict": "no URL", "reason": "the host cannot be converted to the name that a browser visits", "expressions": 1, "maybes": 0, "asked": 0}
[2]
$ tamis guard explain "$(printf 'http://\342\230\203.net/')"
canonical http://%E2%98%83.net/
expressions
  %E2%98%83.net/
tamis: http://☃.net/: the host cannot be converted to the name that a browser visits
[2]

# Paths as browsers resolve them.
$ tamis guard check n 'http://phish.example/a\..\x\b' 'http://phish.example/a%2Fb/../x/' 'http://phish.example/a%3Fb/../x/' 'http://phish.example/x/y/%252e%252e/%252e%252e/../'
listed      http://phish.example/a\..\x\b  (names: phish.example/x/)
listed      http://phish.example/a%2Fb/../x/  (names: phish.example/x/)
listed      http://phish.example/a%3Fb/../x/  (names: phish.example/x/)
listed      http://phish.example/x/y/%252e%252e/%252e%252e/../  (names: phish.example/x/)

# Entries too deep to cover what is below them.
$ printf '%s\n' phish.example/1/2/3/ phish.example/1/2/3/4/ phish.example/1/2/3/4/5/ phish.example/1/2/3/4 b.c.d.e.example a.b.c.d.e.f.example '0.0.0.0 a.b.c.d.e.g.example' 1.2.3.4 > deep && tamis guard build m deep | head -n 2
tamis: deep: line 6: more than 5 labels, so hosts below it are not covered (2 such entries)
tamis: deep: line 2: more than 3 folders, so pages below it are not covered (2 such entries)
m: version 1
  listed    8 expressions from 8 lines
$ tamis guard build -q m deep
$ tamis guard build --json m deep 2> /dev/null | sed 's/"filter_bytes.*"rate": .*}/.../'
{"version": 3, "base": 1, "entries": 8, "lines": 8, "left_out": 0, "deep_hosts": 2, "deep_folders": 2, "never": 0, ...
$ tamis guard check m a.b.c.d.e.f.example/x http://phish.example/1/2/3/4/?x
listed      a.b.c.d.e.f.example/x  (deep: a.b.c.d.e.f.example/)
listed      http://phish.example/1/2/3/4/?x  (deep: phish.example/1/2/3/4/)

# A URL taken apart, with what filter and store say of it.
$ tamis guard explain 'HTTP://User@A.B.C:80/x/../1/%32.html?p=1#top'
canonical http://a.b.c/1/2.html?p=1
expressions
  a.b.c/1/2.html?p=1
  a.b.c/1/2.html
  a.b.c/
  a.b.c/1/
  b.c/1/2.html?p=1
  b.c/1/2.html
  b.c/
  b.c/1/
$ tamis guard explain 'http://www.bad.example/x' g
canonical http://www.bad.example/x
expressions
  www.bad.example/x
    2cffda10cce0ae59d22adc3fc4c6ec959526664aae796a3b5964de6b599a1ed5
    filter no
  www.bad.example/
    addba630f55ac4344c5fabffc610b34eea843e034195eca1f62d495e2a6abd28
    filter no
  bad.example/x
    5ee820ac312813d21ef28bf90284cb44b2dfe392080acccb4fccc5ad9ee2a0e1
    filter no
  bad.example/
    611d2cf5687a72278c3da89f28dc0cc5f674b1b7fca042bf31fce4a9d1e159a5
    filter maybe, store listed: malware, phishing
$ tamis guard explain --json 'http://www.bad.example/x' g
{"canonical": "http://www.bad.example/x", "expressions": ["www.bad.example/x", "www.bad.example/", "bad.example/x", "bad.example/"], "answers": [{"expression": "www.bad.example/x", "hash": "2cffda10cce0ae59d22adc3fc4c6ec959526664aae796a3b5964de6b599a1ed5", "filter": "no"},{"expression": "www.bad.example/", "hash": "addba630f55ac4344c5fabffc610b34eea843e034195eca1f62d495e2a6abd28", "filter": "no"},{"expression": "bad.example/x", "hash": "5ee820ac312813d21ef28bf90284cb44b2dfe392080acccb4fccc5ad9ee2a0e1", "filter": "no"},{"expression": "bad.example/", "hash": "611d2cf5687a72278c3da89f28dc0cc5f674b1b7fca042bf31fce4a9d1e159a5", "filter": "maybe", "store": "listed"}]}
$ tamis guard explain --json 'http://a.b.c/1/2.html?param=1'
{"canonical": "http://a.b.c/1/2.html?param=1", "expressions": ["a.b.c/1/2.html?param=1", "a.b.c/1/2.html", "a.b.c/", "a.b.c/1/", "b.c/1/2.html?param=1", "b.c/1/2.html", "b.c/", "b.c/1/"]}
$ tamis guard explain 'javascript:alert(1)'
tamis: javascript:alert(1): only http, https and ftp URLs can be checked
[2]
$ tamis guard explain 'http://a..:x/' g
tamis: http://a..:x/: the port is not a number from 0 to 65535
[2]
$ tamis guard explain http://bad.example/ none
tamis: none: no list has been published in this directory: No such file or directory
[2]

# The next version: little has changed, so that the base stays.
$ seq -f 'host%.0f.example' 1000 > many && tamis guard build -q h many
$ (tail -n +3 many; echo new.example) > fewer && tamis guard build h many=fewer
h: version 2
  listed    999 expressions from 999 lines
  filter    ... bytes, ... bits per expression; from version 1, with
            ... bytes for 1 added and 8 for 2 removed
  wrong     7.45e-06 % (1 in 13,421,773) of expressions; 5.96e-05 % (1 in 1,677,722) of pages with 8
            expressions, 0.000224 % (1 in 447,393) of pages with 30
  asked     0.1 unnecessary requests in 102,000 page views
  store     65,536 bytes
$ ls h
1.filter
1.store
2.delta
2.removed
2.store
manifest
$ tamis guard check h host1.example host3.example new.example
clean       host1.example  (the filter answered no)
listed      host3.example  (many: host3.example/)
listed      new.example  (many: new.example/)
$ tamis guard build -q h many=list
$ ls h
3.filter
3.store
manifest

# Good URLs are never asked about; but what is bad stays bad.
$ seq -f 'http://popular%.0f.example/page' 3000 > good && tamis guard build k many --never good
k: version 1
  listed    1,000 expressions from 1,000 lines
  never     6,000 expressions of good URLs
  filter    ... bytes, ... bits per expression
  wrong     5.96e-06 % (1 in 16,777,216) of expressions; 4.77e-05 % (1 in 2,097,152) of pages with 8
            expressions, 0.000179 % (1 in 559,241) of pages with 30
  asked     0.0 unnecessary requests in 102,000 page views
  store     65,536 bytes
$ tamis guard check k --json popular7.example/page | grep -o '"maybes": 0'
"maybes": 0
$ echo host7.example/ > both && tamis guard build k many --never good --never both
tamis: both: line 1: 'host7.example/' is also on a list of bad URLs
[2]
$ tamis guard check k host7.example
listed      host7.example  (many: host7.example/)

# Compressed lists are lists like others.
$ for pack in gzip zstd bzip2 xz; do seq -f "$pack%.0f.example" 10 | $pack -c > packed-$pack; done
$ seq -f 'fine%.0f.example' 10 | gzip > fine.txt.gz; tamis guard build p packed-* fine.txt.gz > /dev/null; grep -c ^label p/manifest
5
$ tamis guard check p gzip1.example zstd10.example bzip25.example xz7.example fine3.example
listed      gzip1.example  (packed-gzip: gzip1.example/)
listed      zstd10.example  (packed-zstd: zstd10.example/)
listed      bzip25.example  (packed-bzip2: bzip25.example/)
listed      xz7.example  (packed-xz: xz7.example/)
listed      fine3.example  (fine: fine3.example/)
$ zstd -qc good | tamis guard build -q p - --never packed-gzip

# An input that does not look like a list replaces none: damaged, empty, comments only, or more
# lines left out than taken.
$ tamis guard build -q p fine.txt.gz && cp p/manifest before
$ head -c 60 fine.txt.gz > cut.gz; tamis guard build p cut.gz
tamis: cut.gz: cannot read: gzip data ends too early
[2]
$ : > nothing; tamis guard build p fine.txt.gz nothing
tamis: nothing: no entry in 0 lines, so nothing is published; --lenient accepts the list as it is
[2]
$ printf '# to come\n\n' > comments; gzip -c comments | tamis guard build p -
tamis: -: no entry in 2 lines, so nothing is published; --lenient accepts the list as it is
[2]
$ printf '<html>\n<body>404 Not Found</body>\n</html>\n' > page; tamis guard build p page
tamis: page: line 1: left out: the host is not a domain name
tamis: page: line 2: left out: white space inside; write %20 in a URL
tamis: page: line 3: left out: the host is not a domain name
tamis: page: no entry in 3 lines, so nothing is published; --lenient accepts the list as it is
[2]
$ (cat page; echo one.example) > mostly; tamis guard build -q p mostly
tamis: mostly: 3 lines left out and only 1 taken, so nothing is published; --lenient accepts the list as it is
[2]
$ tamis guard build -q p fine.txt.gz --never nothing
tamis: nothing: no entry in 0 lines, so nothing is published; --lenient accepts the list as it is
[2]
$ cmp p/manifest before; tamis guard check p fine3.example one.example
listed      fine3.example  (fine: fine3.example/)
clean       one.example  (the filter answered no)
$ tamis guard build -q p mostly --lenient && tamis guard check p fine3.example one.example
clean       fine3.example  (the filter answered no)
listed      one.example  (mostly: one.example/)
$ tamis guard build --lenient p nothing | head -n 2; tamis guard check p one.example
p: version 5
  listed    0 expressions from 0 lines
clean       one.example  (the filter answered no)
[1]

# What cannot be built.
$ tamis guard build x missing
tamis: missing: cannot read: No such file or directory
[2]
$ tamis guard build x 'a label=many'
tamis: 'a label' cannot be a label: a label has up to 63 printable characters, and there can be up to 64 labels
[2]
$ tamis guard build x many --max-bytes 100
tamis: x/1.filter: 100 bytes are too few
[2]
$ ls x
$ tamis guard build g
tamis: guard build: usage: tamis guard build [OPTION...] DIR LIST...
[2]

# Nothing there, or damaged: never a verdict.
$ tamis guard check none bad.example
tamis: none: no list has been published in this directory: No such file or directory
[2]
$ mkdir empty && tamis guard check empty bad.example
tamis: empty: no list has been published in this directory: No such file or directory
[2]
$ cp -r h damaged && printf x >> damaged/3.filter && tamis guard check damaged bad.example
tamis: damaged/3.filter: damaged, or not the version that the manifest names
[2]
$ rm -r damaged && cp -r h damaged && printf x | dd of=damaged/3.store bs=1 seek=5000 conv=notrunc status=none && tamis guard check damaged bad.example
tamis: damaged/3.store: damaged, or not the version that the manifest names
[2]
$ rm -r damaged && cp -r h damaged && sed -i 's/^entries .*/entries 9/' damaged/manifest && tamis guard check damaged bad.example
tamis: damaged/manifest: damaged, or written by a newer version
[2]
$ rm -r damaged && cp -r h damaged && cp g/1.store damaged/3.store && tamis guard check damaged bad.example
tamis: damaged/3.store: damaged, or not the version that the manifest names
[2]
$ rm damaged/3.store && tamis guard check damaged bad.example
tamis: damaged/3.store: No such file or directory
[2]
$ tamis guard explain bad.example damaged
tamis: damaged/3.store: No such file or directory
[2]
$ tamis guard serve damaged --port 0
tamis: damaged/3.store: No such file or directory
[2]
$ mkfifo damaged/3.store && tamis guard serve damaged --port 0
tamis: damaged/3.store: is not a regular file
[2]
$ rm damaged/manifest && mkfifo damaged/manifest && tamis guard check damaged bad.example
tamis: damaged/manifest: is not a regular file
[2]

# Options of the server that make no sense.
$ tamis guard serve h --port 70000
tamis: --port must be a number from 0 to 65535
[2]
$ tamis guard serve h --port 0 --address localhost
tamis: 'localhost' is not an IP address
[2]
$ tamis guard serve h --port 0 --host-name http://guard.example:8080
tamis: 'http://guard.example:8080' is not a host name; give it without a scheme and without a port
[2]
$ tamis guard serve h --port 0 --connections 0
tamis: --connections: '0' is not a whole number of at least 1, like 1000000, 1M or 1e6
[2]
$ tamis guard serve h --port 0 --timeout 10000000
tamis: guard serve: a limit can be at most 1,000,000
[2]
$ tamis guard serve h --port 0 --timeout 0.5s
tamis: guard serve: --timeout and --cache must be whole seconds
[2]
$ tamis guard serve h --port 0 --timeout 1m --cache 30d
tamis: guard serve: a limit can be at most 1,000,000
[2]
$ tamis guard serve h --port 99999 --timeout 1m --cache 1h
tamis: --port must be a number from 0 to 65535
[2]

# Options of the server do not exist in other commands.
$ tamis build --connections 3 -o x.tamis /dev/null
tamis: build: unknown option '--connections'; see 'tamis build --help'
[2]

# The commands of the group.
$ tamis guard
Usage: tamis guard COMMAND [OPTION...] ...

The guard checks URLs against lists of bad ones. A filter answers first, and an
exact store confirms.

Examples:
  Publish a list, and check a URL against it:
    echo evil.example > evil.txt &&
    tamis guard build evil malware=evil.txt &&
    tamis guard check evil http://evil.example/login
  Serve it to browsers and other clients:
    tamis guard serve evil --port 8080

Commands:
  guard fetch    download lists of bad URLs
  guard build    publish lists of bad URLs in a directory
  guard check    check whether URLs are listed
  guard explain  print the canonical form of a URL and its expressions
  guard serve    serve a guard directory over HTTP

'tamis guard COMMAND -h' shows a command on one screen.
[2]
$ tamis guard chek
tamis: there is no command 'guard chek'; did you mean 'guard check'?
[2]
$ tamis guard --help
Usage: tamis guard COMMAND [OPTION...] ...

The guard checks URLs against lists of bad ones. A filter answers first, and an
exact store confirms.

Examples:
  Publish a list, and check a URL against it:
    echo evil.example > evil.txt &&
    tamis guard build evil malware=evil.txt &&
    tamis guard check evil http://evil.example/login
  Serve it to browsers and other clients:
    tamis guard serve evil --port 8080

Commands:
  guard fetch    download lists of bad URLs
  guard build    publish lists of bad URLs in a directory
  guard check    check whether URLs are listed
  guard explain  print the canonical form of a URL and its expressions
  guard serve    serve a guard directory over HTTP

'tamis guard COMMAND -h' shows a command on one screen.
$ tamis help guard | head -n 1
Usage: tamis guard COMMAND [OPTION...] ...
