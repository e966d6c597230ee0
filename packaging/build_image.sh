#!/bin/sh
# Builds the container image of a checkout and writes its archive: packaging/build_image.sh DIR
#
# Without podman it says so and writes nothing. SOURCE_DATE_EPOCH: the time of all files, instead of the commit's.
# BASE: the image to build on; the same commit on the same base gives the same image.
set -eu
[ $# -eq 1 ] || { echo "usage: $0 DIR" >&2; exit 2; }
command -v podman >/dev/null || { echo "no container image: podman is not on this machine"; exit 0; }
cd "$(dirname "$0")/.."
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
version=$(sed -n 's/^VERSION = "\(.*\)"$/\1/p' node/version.py)
archive=$1/dse-node-$version-$(uname -m).oci.tar
mkdir -p "$1"
podman build --timestamp "$SOURCE_DATE_EPOCH" ${BASE:+--build-arg "BASE=$BASE"} \
  -t "dse-node:$version" -f packaging/Containerfile .
rm -f "$archive"
podman save --format oci-archive -o "$archive" "dse-node:$version"
