#!/bin/sh
# page.sh [PORT]: serves the web page of the URL guard, with a small made-up list, until Ctrl-C.
# Called by ./run page.
set -eu
tamis=${TAMIS:-$PWD/build/tamis}
port=${1:-8080}
work=$(mktemp -d)
server=''
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

printf '%s\n' evil.example malware.example/download.exe phish.example/login casino.example \
    tracker.example/pixel >"$work/bad.txt"
"$tamis" guard build -q "$work/guard" bad="$work/bad.txt"
echo "The page decides URLs (try http://evil.example/ and http://good.example/) and draws filters."
echo "Open the address below in a browser; Ctrl-C ends the server."
"$tamis" guard serve --port "$port" "$work/guard" &
server=$!
wait "$server"
