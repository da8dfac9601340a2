# Addresses of servers. Nothing listens at port 1, so these tests end where a connection begins.
$ echo a | tamis check redis://127.0.0.1:1/seen
tamis: redis://127.0.0.1:1/seen: 127.0.0.1:1: Connection refused
[2]
$ echo a | tamis check redis://[::1]:1/seen
tamis: redis://[::1]:1/seen: [::1]:1: Connection refused
[2]
$ echo a | tamis check rediss://localhost:1/seen
tamis: rediss://localhost:1/seen: localhost:1: Connection refused
[2]
$ echo a | tamis check 'unix:///nowhere/redis.sock?name=seen'
tamis: unix:///nowhere/redis.sock?name=seen: /nowhere/redis.sock: No such file or directory
[2]
# What is wrong with an address is explained, and nothing of a user or a password is printed.
$ tamis check redis://::1:6379/seen
tamis: redis:///seen: write an IPv6 address in brackets: redis://[::1]:6379/NAME
[2]
$ tamis check redis://localhost
tamis: redis://localhost: the address lacks the name of a set: redis://HOST:PORT/NAME
[2]
$ tamis check unix:///run/redis.sock
tamis: unix:///run/redis.sock: the address lacks the name of a set: unix:///PATH?name=NAME
[2]
$ tamis check 'redis://localhost/seen?db=x'
tamis: redis://localhost/seen: db is not the number of a database: ?db=2
[2]
$ tamis check 'redis://localhost/who?'
tamis: redis://localhost/who: after a ? there are only db, password-file, cacert, cert, key and sni, and name after unix://; write a ? in a name as %3F
[2]
$ tamis check 'redis://localhost/seen?password=hush'
tamis: redis://localhost/seen: after a ? there are only db, password-file, cacert, cert, key and sni, and name after unix://; write a ? in a name as %3F
[2]
$ tamis check redis://me:hu/sh@localhost/seen
tamis: redis://localhost/seen: write a / or ? in a user or a password as %2F or %3F, and an @ behind the host as %40
[2]
$ tamis check redis://me:hush/seen
tamis: redis:///seen: the port is not a number below 65536
[2]
$ tamis check redis://@localhost/seen
tamis: redis://localhost/seen: there is an @ without a user or a password before it
[2]
$ tamis build -o out.tamis redis://me:hush@localhost/seen
tamis: redis://localhost/seen: cannot read: No such file or directory
[2]
$ tamis check --otput=redis://me:hush@localhost/seen
tamis: check: unknown option '--otput=redis://localhost/seen'; see 'tamis check --help'
[2]
$ tamis redis://me:hush@localhost/seen
tamis: there is no command 'redis://localhost/seen'; see 'tamis help'
[2]
# Options of TLS require rediss://, so that nobody takes a connection without it for one with it.
$ tamis check --cacert ca.crt redis://localhost:1/seen
tamis: check: --cacert, --cert, --key and --sni are for TLS: write rediss:// instead of redis://
[2]
$ tamis check 'redis://localhost:1/seen?cacert=ca.crt'
tamis: redis://localhost:1/seen: cacert, cert, key and sni are for TLS: write rediss:// instead of redis://
[2]
$ tamis check --cacert nowhere.crt rediss://localhost:1/seen
tamis: rediss://localhost:1/seen: nowhere.crt: cannot read: No such file or directory
[2]
$ tamis check --cert nowhere.crt rediss://localhost:1/seen
tamis: rediss://localhost:1/seen: a client certificate takes both --cert and --key
[2]
$ for option in cacert cert sni password-file; do tamis check --$option x list.tamis; done
tamis: check: --cacert requires a set at a redis:// address
tamis: check: --cert requires a set at a redis:// address
tamis: check: --sni requires a set at a redis:// address
tamis: check: --password-file requires a set at a redis:// address
[2]
$ tamis build --key secret.key -o out.tamis
tamis: build: --key requires a set at a rediss:// address; the secret key of a filter is --key-file
[2]
# Passwords: a file that others may read is refused, as a key is.
$ echo hush > password; chmod 644 password; tamis check --password-file password redis://localhost:1/seen
tamis: password: others may read this password (mode 0644), so it may not be secret any more; protect it with chmod 600, or make another
[2]
$ chmod 600 password; echo a | tamis check --password-file password redis://127.0.0.1:1/seen
tamis: redis://127.0.0.1:1/seen: 127.0.0.1:1: Connection refused
[2]
$ tamis check --password-file nowhere redis://localhost:1/seen
tamis: nowhere: cannot read the password: No such file or directory
[2]
$ tamis check --password-file password redis://:hush@localhost:1/seen
tamis: redis://localhost:1/seen: has a password, so --password-file cannot be used; write USER:@ before the host for a user whose password is in the file
[2]
$ tamis check redis://me:@localhost:1/seen
tamis: redis://localhost:1/seen: there is a user without a password; --password-file names its file
[2]
$ TAMIS_REDIS_USERNAME=me tamis check redis://localhost:1/seen
tamis: redis://localhost:1/seen: there is a user without a password; --password-file names its file
[2]
$ echo a | TAMIS_REDIS_USERNAME=me TAMIS_REDIS_PASSWORD=hush tamis check redis://127.0.0.1:1/seen
tamis: redis://127.0.0.1:1/seen: 127.0.0.1:1: Connection refused
[2]
