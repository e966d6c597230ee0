#!/bin/sh
# Builds a Debian package of a wheel: packaging/build_deb.sh WHEEL DIR
#
# The program lies in an environment of its own below /usr/lib/dse-node, with all that it depends on, so that the
# package fits the Debian or Ubuntu release that it was built on: that of PYTHON, the system's own.
# PIP: a pip of at least 22.3, which may be another Python's. SOURCE_DATE_EPOCH: the time of all files (now).
set -eu
[ $# -eq 2 ] || { echo "usage: $0 WHEEL DIR" >&2; exit 2; }
wheel=$1 out=$2 sources=$(cd "$(dirname "$0")/.." && pwd)
PYTHON=${PYTHON:-/usr/bin/python3} PIP=${PIP:-"$PYTHON -m pip"}
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(date +%s)}"
export PYTHONHASHSEED=0 LC_ALL=C # so that two builds compile and sort in one order
umask 022
root=$(mktemp -d) && chmod 755 "$root"
trap 'rm -rf "$root"' EXIT
lib=$root/usr/lib/dse-node share=$root/usr/share

"$PYTHON" -m venv --without-pip "$lib"
$PIP --disable-pip-version-check --python "$lib/bin/python" install --quiet --no-compile \
  --constraint "$sources/packaging/pins.txt" "$wheel"
# Nothing in it may say where it was built.
find "$lib/bin" -type f ! -name dse-node -delete
rm -rf "$lib/include" "$lib"/lib/python3*/site-packages/*.dist-info/direct_url.json \
  "$lib"/lib/python3*/site-packages/*.dist-info/RECORD
# Nobody runs the libraries' tests here, and dpkg waits for the disk at each file.
find "$lib"/lib/python3*/site-packages \( -type d -name tests -o -name '*.py[xi]' -o -name '*.pxd' \) -prune -exec rm -rf {} +
sed -i '1s|.*|#!/usr/lib/dse-node/bin/python|' "$lib/bin/dse-node"
sed -i '/^command/d' "$lib/pyvenv.cfg"
# Compiled here: a node runs as who may not write there, and what root runs would leave files that no package knows.
"$lib/bin/python" -m compileall -q -s "$root" -p / --invalidation-mode unchecked-hash "$lib/lib" >&2 || true

run() { "$lib/bin/python" -I -m node "$@"; }
mkdir -p "$root/usr/bin" "$root/usr/lib/systemd/system" "$share/man/man1" "$share/doc/dse-node/examples" \
  "$share/bash-completion/completions" "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
ln -s ../lib/dse-node/bin/dse-node "$root/usr/bin/dse-node"
"$lib/bin/python" -I -c 'from node.process.service_unit import PACKAGED; print(PACKAGED.text(), end="")' \
  >"$root/usr/lib/systemd/system/dse-node.service"
run completion bash >"$share/bash-completion/completions/dse-node"
run completion zsh >"$share/zsh/vendor-completions/_dse-node"
run completion fish >"$share/fish/vendor_completions.d/dse-node.fish"
run man | gzip -9n >"$share/man/man1/dse-node.1.gz"
gzip -9nc "$sources/CHANGELOG.md" >"$share/doc/dse-node/changelog.gz"
cp "$sources/packaging/debian/copyright" "$share/doc/dse-node/"
cp -r "$sources/contrib/monitoring" "$share/doc/dse-node/examples/"

mkdir "$root/DEBIAN"
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
install -m 755 "$sources/packaging/debian/postinst" "$sources/packaging/debian/prerm" \
  "$sources/packaging/debian/postrm" "$root/DEBIAN/"
version=$(run version | cut -d' ' -f2)
architecture=$(dpkg --print-architecture)
minor=$("$PYTHON" -c 'import sys; print(sys.version_info.minor)')
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" \
  -e "s/@PYTHON@/3.$minor/" -e "s/@NEXT_PYTHON@/3.$((minor + 1))/" \
  -e "s/@SIZE@/$(find "$root/usr" -type f -printf '%s\n' | awk '{kib += int(($1 + 1023) / 1024)} END {print kib}')/" \
  -e "s/@MAINTAINER@/${DEBFULLNAME:-dse-node} <${DEBEMAIL:-root@localhost}>/" \
  "$sources/packaging/debian/control" >"$root/DEBIAN/control"
find "$root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
mkdir -p "$out"
dpkg-deb --root-owner-group --build "$root" "$out/dse-node_${version}_$architecture.deb" >&2
