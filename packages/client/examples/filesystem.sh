#!/bin/sh
# Lets AI hosts read and change the files of one folder, with the official MCP filesystem server:
#   packages/client/examples/filesystem.sh PUBLISHABLE_KEY FOLDER
# RELAY_PUBLIC_URL says which Relay (http://localhost:8787). Ctrl-C ends it; the URL stays the same.
set -eu
if [ $# -ne 2 ]; then
  echo "usage: $0 PUBLISHABLE_KEY FOLDER" >&2
  exit 2
fi
folder=$(cd "$2" && pwd)
cd "$(dirname "$0")/../../.."
exec npm run --silent relay -- connect --key "$1" -- \
  npx -y @modelcontextprotocol/server-filesystem "$folder"
