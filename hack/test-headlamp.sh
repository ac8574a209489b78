#!/usr/bin/env bash
# Opens the plugin for Headlamp in Chromium, with clusters on an API server of its own. `make headlamp` builds the plugin first. CHROMIUM is
# the browser, and SHOTS a folder for screenshots.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || :)}
if [[ -z $CHROMIUM ]]; then
    echo "make test-headlamp needs Chromium (apt-get install chromium), or CHROMIUM=FILE."
    exit 1
fi
export CHROMIUM SHOTS=${SHOTS:+$PWD/$SHOTS}
make --no-print-directory bin/local >&2
KUBECTL=$(bin/local tool kubectl)
export KUBECTL
bin/local control-plane run -- timeout 600 node --test config/headlamp/browser/plugin.mjs
