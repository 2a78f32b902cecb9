#!/usr/bin/env bash
# Install Chromium from the system's packages for the browser tests, where it is missing and we may.
# Never fails: without it those tests say what to install.
set -u

for name in "${TBGAT_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
  if [ -n "$name" ] && command -v "$name" > /dev/null; then exit 0; fi
done

as_root=()
if [ "$(id -u)" != 0 ]; then
  if command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
    as_root=(sudo -n)
  else
    echo "Chromium is missing and only an administrator can install it:" \
      "'apt-get install chromium', or set TBGAT_CHROMIUM to its path." >&2
    exit 0
  fi
fi

if command -v apt-get > /dev/null; then
  echo "installing Chromium for the browser tests ..." >&2
  export DEBIAN_FRONTEND=noninteractive
  { "${as_root[@]}" apt-get update -qq && "${as_root[@]}" apt-get install -y -qq --no-install-recommends chromium; } > /dev/null 2>&1 ||
    echo "Chromium could not be installed with apt-get: install it by hand." >&2
else
  echo "Chromium is missing: install it with this system's package manager." >&2
fi
exit 0
