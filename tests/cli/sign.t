# A pair of keys for signatures: the secret one is the owner's alone, whatever the umask, and
# neither is ever replaced.
$ umask 000; tamis key new --sign a.sec
...  a.sec
$ stat -c '%a %n' a.sec; stat -c '%A' a.sec.pub | cut -c 1-4; head -n 1 a.sec.pub | sed 's/key .*/key/'
600 a.sec
-rw-
untrusted comment: tamis public key
$ wc -l < a.sec; tail -n 1 a.sec | tr -d '\n' | wc -c; tail -n 1 a.sec.pub | tr -d '\n' | wc -c
2
140
56
$ [ "$(tamis key id a.sec | cut -d ' ' -f 1)" = "$(tamis key id a.sec.pub | cut -d ' ' -f 1)" ] && tamis key id a.sec.pub | grep -cE '^[0-9a-f]{16}  a.sec.pub$'
1
$ cp -p a.sec before; tamis key new --sign a.sec; cmp before a.sec
tamis: a.sec: already exists and is never replaced, because it may be the only copy of a key
$ : > b.sec.pub; tamis key new --sign b.sec; ls b.sec; rm b.sec.pub
tamis: b.sec.pub: already exists and is never replaced, because it may be the only copy of a key
ls: cannot access 'b.sec': No such file or directory
$ ln -s nowhere c.sec; tamis key new --sign c.sec; ls c.sec.pub nowhere; rm c.sec
tamis: c.sec: already exists and is never replaced, because it may be the only copy of a key
ls: cannot access 'c.sec.pub': No such file or directory
ls: cannot access 'nowhere': No such file or directory
$ tamis key new --sign no-such-dir/a.sec
tamis: no-such-dir/a.sec.pub: cannot make a key: No such file or directory
[2]
$ tamis key new -q --sign b.sec; tamis key new --sign -
tamis: key new: a key cannot be written to standard output; write ./- for a file named -
[2]

# Signatures: made once, checked with the public key before anything else is read from the file.
$ seq 1000 > list; tamis build -o f.tamis list; tamis sign --seckey a.sec f.tamis list; ls *.sig
f.tamis.sig
list.sig
$ tamis verify --pubkey a.sec.pub f.tamis | sed 's/key [0-9a-f]*$/key .../' | head -n 2
f.tamis: signed by key ...
f.tamis: undamaged: every checksum is right
$ tamis verify --pubkey b.sec.pub --pubkey a.sec.pub --json f.tamis | grep -oE '"signed_by": "[0-9a-f]{16}", "sums": true'
"signed_by": "...", "sums": true
$ tamis sign --seckey a.sec f.tamis
tamis: f.tamis.sig: already exists; use -f to replace it
[2]
$ tamis sign -f --seckey a.sec f.tamis && tamis verify --pubkey a.sec.pub f.tamis > /dev/null
$ signify-openbsd -V -q -p a.sec.pub -m list && signify-openbsd -V -q -p a.sec.pub -m f.tamis
$ tamis verify --pubkey a.sec.pub list | sed 's/key [0-9a-f]*;/key ...;/'; tamis verify --json --pubkey a.sec.pub list
list: signed by key ...; not a file of Tamis, so nothing else is checked
{"file": "list", "signed_by": "...", "good": true}
$ cp list.sig wrong.sig; echo > wrong; tamis verify --pubkey a.sec.pub wrong
tamis: wrong: the signature of key ... is wrong: this is not what was signed, or another key has signed it
[2]

# Everything else is an error with a reason, and status 2.
$ tamis verify --pubkey b.sec.pub f.tamis
tamis: f.tamis: it is signed by key ..., which is not one of the given public keys
[2]
$ cp f.tamis other.tamis; tamis verify --pubkey a.sec.pub other.tamis
tamis: other.tamis: its signature cannot be read: other.tamis.sig: No such file or directory
[2]
$ head -c 100 f.tamis.sig > other.tamis.sig; tamis verify --pubkey a.sec.pub other.tamis
tamis: other.tamis: its signature cannot be read: other.tamis.sig: is not a signature: it is cut off
[2]
$ cp list.sig other.tamis.sig; tamis verify --pubkey a.sec.pub other.tamis
tamis: other.tamis: the signature of key ... is wrong: this is not what was signed, or another key has signed it
[2]
$ sed 1d f.tamis.sig > other.tamis.sig; tamis verify --pubkey a.sec.pub other.tamis
tamis: other.tamis: its signature cannot be read: other.tamis.sig: is not a signature: its first line must begin with 'untrusted comment: '
[2]
$ tamis verify --pubkey f.tamis.sig f.tamis
tamis: f.tamis.sig: is not a public key: its second line must be 56 characters of base64 for Ed25519, and nothing may follow
[2]
$ tamis verify --pubkey a.sec f.tamis
tamis: a.sec: is not a public key: its second line must be 56 characters of base64 for Ed25519, and nothing may follow
[2]
$ tamis verify --pubkey nothing.pub f.tamis; tamis verify --pubkey list f.tamis
tamis: nothing.pub: No such file or directory
tamis: list: is longer than such a file can be
[2]
$ tamis verify --pubkey a.sec.pub --pubkey a.sec.pub f.tamis
tamis: a.sec.pub: has the same key number as a.sec.pub; give each key once
[2]
$ tamis verify --pubkey a.sec.pub - < f.tamis
tamis: standard input has no name to which .sig could be added; name a file
[2]
$ cp f.tamis.sig damaged.sig; head -c 300 f.tamis > damaged; tamis sign -f --seckey a.sec damaged; tamis verify --pubkey a.sec.pub damaged
tamis: damaged: ...
[2]

# Keys that cannot sign.
$ tamis sign f.tamis
tamis: sign: give the secret key with --seckey; 'tamis key new --sign' makes one
[2]
$ tamis sign --seckey a.sec.pub list
tamis: a.sec.pub: is a public key; a secret key is needed here
[2]
$ cp a.sec open.sec; chmod 644 open.sec; tamis sign --seckey open.sec list; tamis key id open.sec
tamis: open.sec: others may read this key (mode 0644), so it may not be secret any more; protect it with chmod 600, or make another
tamis: open.sec: others may read this key (mode 0644), so it may not be secret any more; protect it with chmod 600, or make another
[2]
$ cp $TAMIS_SOURCE/tests/golden/signed/locked.sec .; chmod 600 locked.sec; tamis sign --seckey locked.sec list
tamis: locked.sec: this secret key has a passphrase, which is not supported; make one without ('tamis key new --sign', or signify -G -n)
[2]
$ sed 's/RWRCSwAAAAAAAAAA/RWRCSwAAAAAAAAAB/; $s/..==$/AA==/; $s/.=$/A=/' a.sec | head -c 150 > cut.sec; chmod 600 cut.sec; tamis sign --seckey cut.sec list; tamis key id cut.sec
tamis: cut.sec: is not a secret key: it is cut off
tamis: cut.sec: is not a secret key: it is cut off
[2]
$ tamis sign --seckey nothing.sec list; tamis sign -f --seckey a.sec nothing list; tamis sign --seckey a.sec -
tamis: nothing.sec: cannot read the key: No such file or directory
tamis: nothing: cannot open: No such file or directory
tamis: standard input has no name to which .sig could be added; name a file
[2]
$ tamis check --key-file a.sec f.tamis list
tamis: a.sec: a key must be 16 bytes or 32 hex digits; make one with 'tamis key new'
[2]
$ cat a.sec | tamis sign -f --seckey /dev/stdin list && tamis key id list.sig
tamis: list.sig: is not a public key: its second line must be 56 characters of base64 for Ed25519, and nothing may follow
[2]
$ head -c 60 a.sec.pub > cut.pub; tamis key id cut.pub
tamis: cut.pub: is not a public key: it is cut off
[2]

# An empty file can be signed, too.
$ : > empty; tamis sign --seckey a.sec empty && signify-openbsd -V -q -p a.sec.pub -m empty

# A signed list: what guard build prints, and what clients with the public key refuse.
$ echo evil.example > evil.txt; tamis guard build g evil.txt --sign a.sec --expires 7d | tail -n 1
  signed    by key ...; expires at ... UTC
$ tamis guard build g evil.txt --sign a.sec --sign b.sec --json | grep -oE '"signed_by": \["[0-9a-f]{16}", "[0-9a-f]{16}"\]}'
"signed_by": ["...", "..."]}
$ tamis guard check g --pubkey a.sec.pub --state seen evil.example
listed      evil.example  (evil: evil.example/)
$ sed -n '1,2p' seen
tamis-guard-state 1
version 2
$ tamis guard build g evil.txt
tamis: g: the published version is signed, and clients that pin its key would refuse an unsigned one; give --sign, or use another directory
[2]
$ tamis guard build -q h evil.txt; tamis guard check h --pubkey a.sec.pub evil.example
tamis: h/manifest: it is not signed
[2]
$ tamis guard build -q h evil.txt --sign b.sec; tamis guard check h --pubkey a.sec.pub evil.example
tamis: h/manifest: it is signed by key ..., which is not one of the given public keys
[2]
$ tamis guard check h --pubkey b.sec.pub --state seen evil.example
tamis: h/manifest: this is another version 2 than the one that was accepted before
[2]
$ echo damage >> seen; tamis guard check g --pubkey a.sec.pub --state seen evil.example
tamis: seen: this memory of the last accepted version is damaged; nothing is accepted until you restore it, or remove it to begin anew
[2]
$ tamis guard check g --state seen evil.example
tamis: guard check: --state needs --pubkey: only signed versions are remembered
[2]
$ tamis guard serve g --port 0 --pubkey b.sec.pub --state seen
tamis: seen: this memory of the last accepted version is damaged; nothing is accepted until you restore it, or remove it to begin anew
[2]
$ tamis guard build g evil.txt --expires 7d
tamis: guard build: --expires needs --sign, because anybody could change the expiry of an unsigned version
[2]
$ tamis guard build g evil.txt --sign a.sec --expires 1.5s; tamis guard build g evil.txt --sign a.sec --expires 40000d
tamis: guard build: --expires must be whole seconds, and at most 36500d
tamis: guard build: --expires must be whole seconds, and at most 36500d
[2]
$ tamis guard build g evil.txt --sign a.sec --sign a.sec
tamis: a.sec: is the same key as a.sec, or has its number
[2]
$ tamis guard build g evil.txt --sign open.sec
tamis: open.sec: others may read this key (mode 0644), so it may not be secret any more; protect it with chmod 600, or make another
[2]

# Files that were made once, by this program and by signify, are accepted for ever.
$ cp $TAMIS_SOURCE/tests/golden/signed/* . && chmod 600 *.sec && tamis key id test.sec next.sec.pub signify.sec signify.pub
0ae86cee551818a0  test.sec
95ae766b35cea693  next.sec.pub
8094a73d3bbf4089  signify.sec
8094a73d3bbf4089  signify.pub
$ tamis verify --pubkey test.sec.pub blocked.tamis | head -n 1; tamis verify --pubkey signify.pub by-signify.tamis | head -n 1
blocked.tamis: signed by key 0ae86cee551818a0
by-signify.tamis: signed by key 8094a73d3bbf4089
$ cp blocked.tamis.sig before; tamis sign -f --seckey test.sec blocked.tamis && cmp before blocked.tamis.sig
$ tamis sign -f --seckey signify.sec by-signify.tamis && signify-openbsd -V -q -p signify.pub -m by-signify.tamis
$ signify-openbsd -S -s test.sec -m blocked.tamis && tamis verify --pubkey test.sec.pub blocked.tamis | head -n 1
blocked.tamis: signed by key 0ae86cee551818a0
