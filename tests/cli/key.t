# A new key is the owner's alone, whatever the umask, and never replaced.
$ umask 000; tamis key new secret.key
...  secret.key
$ stat -c '%a %s' secret.key; grep -cE '^[0-9a-f]{32}$' secret.key
600 33
1
$ cp -p secret.key before; tamis key new secret.key; cmp before secret.key
tamis: secret.key: already exists and is never replaced, because it may be the only copy of a key
$ ln -s nowhere link.key; tamis key new link.key; ls nowhere
tamis: link.key: already exists and is never replaced, because it may be the only copy of a key
ls: cannot access 'nowhere': No such file or directory
[2]
$ tamis key new no-such-dir/secret.key
tamis: no-such-dir/secret.key: cannot make a key: No such file or directory
[2]
$ tamis key new -; ls ./-
tamis: key new: a key cannot be written to standard output; write ./- for a file named -
ls: cannot access './-': No such file or directory
[2]
$ tamis key new a.key b.key; tamis key new 2>&1 | head -n 1
tamis: key new: name one file
Usage: tamis key new [OPTION...] FILE
$ tamis key new -q other.key; cmp -s secret.key other.key || echo they differ
they differ
# Which key is which: the id is in the filter, the key is not.
$ printf 'sixteen  bytes!!' > raw.key; printf '7369787465656e2020627974657321210000' | head -c 32 > hex.key; chmod 600 raw.key hex.key
$ tamis key id raw.key hex.key
e6dac9080b2d13c72ea5c3c832af97f6  raw.key
e6dac9080b2d13c72ea5c3c832af97f6  hex.key
$ seq 1000 > list; tamis build --key-file raw.key -o k.tamis list; tamis info k.tamis | grep hash
  hash      siphash-2-4-128, with the secret key whose id is e6dac9080b2d13c72ea5c3c832af97f6
$ tamis info --json k.tamis | grep -o '"key.*", "sealed'
"keyed": true, "key_id": "e6dac9080b2d13c72ea5c3c832af97f6", "sealed
$ tamis key id secret.key | grep -cF "$(head -c 8 secret.key)"
0
[1]
$ tamis key id list secret.key nothing.key >/dev/null
tamis: list: others may read this key (mode 0644), so it may not be secret any more; protect it with chmod 600, or make another
tamis: nothing.key: cannot read the key: No such file or directory
[2]
$ tamis check --key-file other.key k.tamis list
tamis: k.tamis: this filter was made with another secret key
[2]
$ tamis build --key-file hex.key -o h.tamis list; tamis merge -o both.tamis k.tamis h.tamis; tamis check --key-file raw.key -c both.tamis list
1000
$ tamis build --key-file other.key -o o.tamis list; tamis merge -o all.tamis k.tamis o.tamis
tamis: o.tamis: cannot be merged with k.tamis: they differ in their secret key
[2]
# A key file of ours that others may read is refused, as ssh does. Nobody else can read a pipe.
$ chmod 640 raw.key; tamis check --key-file raw.key -c k.tamis list
tamis: raw.key: others may read this key (mode 0640), so it may not be secret any more; protect it with chmod 600, or make another
[2]
$ chmod 604 raw.key; tamis key id raw.key
tamis: raw.key: others may read this key (mode 0604), so it may not be secret any more; protect it with chmod 600, or make another
[2]
$ chmod 400 raw.key; tamis check --key-file raw.key -c k.tamis list
1000
$ cat raw.key | tamis check --key-file /dev/stdin -c k.tamis list
1000
# No message has a part of it, nor has any file.
$ cp raw.key long.key; chmod 600 long.key; cat raw.key >> long.key; tamis check --key-file long.key k.tamis list 2>&1 | grep -c 'sixteen\|7369787'
0
[1]
$ grep -lE 'sixteen  bytes|7369787465656e' k.tamis h.tamis both.tamis
[1]
