#!/bin/sh
# A crawl on machines that ssh reaches: deploy/hosts.sh OWN-ADDRESS "host1 host2" https://example.org/ -d example
# Sanderling is installed on all of them. This machine runs the head and the server, the others run clients.
set -eu

sanderling=${SANDERLING:-sanderling}
ssh=${SSH:-ssh}
own=$1 hosts=$2
shift 2
secret=${SANDERLING_CLUSTER:-$HOME/.config/sanderling/cluster}
[ -e "$secret/ca.pem" ] || "$sanderling" cluster init

"$sanderling" cluster start --own "$own" --weight 0 &
running=$!
trap 'kill $running 2>/dev/null || true' EXIT
until "$sanderling" cluster status >/dev/null 2>&1; do sleep 2; done
for host in $hosts; do
    tar -C "$secret" -cf - token ca.pem ca.key |
        "$ssh" "$host" 'umask 077; mkdir -p ~/.config/sanderling/cluster && tar -C ~/.config/sanderling/cluster -xf -'
    # With a terminal, the command there ends when this one does.
    "$ssh" -tt "$host" "$sanderling" cluster join "$own:6380" --name "$host" </dev/null >/dev/null &
    running="$running $!"
done
"$sanderling" crawl --cluster auto "$@"
