#!/bin/sh
# Starts a container: with arguments the verb of dse-node that they are; without, the node in /data, made where none is.
#
# DSE_INIT: more options of `dse-node init`; without --yes, the owner of a private node is asked in a browser.
# DSE_NETWORK: the file of the network that the node joins; a node waits until it is there.
# DSE_FOUND: a name and options for `dse-node network new`: this node founds that network, and writes its file.
set -eu
[ $# -eq 0 ] || exec dse-node "$@"
if [ ! -e /data/dse-node/config.toml ]; then
    network=${DSE_NETWORK:-}
    if [ -n "${DSE_FOUND:-}" ]; then
        network=/data/founded.toml
        # shellcheck disable=SC2086 # words of their own
        [ -e "$network" ] || dse-node network new ${DSE_FOUND} --out "$network"
    fi
    until [ -z "$network" ] || [ -e "$network" ]; do sleep 1; done
    # Within the container all addresses: who reaches the page is decided where its port is published.
    # shellcheck disable=SC2086
    dse-node init --set node.web_address=0.0.0.0 ${network:+--network "$network"} ${DSE_INIT:-}
fi
if [ -n "${DSE_FOUND:-}" ] && [ ! -e "$DSE_NETWORK" ]; then
    cp /data/founded.toml "$DSE_NETWORK.part" && mv "$DSE_NETWORK.part" "$DSE_NETWORK"
fi
exec dse-node run
