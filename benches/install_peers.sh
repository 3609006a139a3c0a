#!/usr/bin/env bash
# Installs what `flexor bench draw` measures beside flexor, moderngl on Mesa's llvmpipe
# (OpenGL on the CPU) and raylib's software renderer, and MuJoCo for `flexor bench goal`.
# Without them the bench still runs; it gives no figures for those that are missing.
#
#   benches/install_peers.sh [python]     (default: .venv/bin/python, else python3)
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-.venv/bin/python}
[ -x "$python" ] || python=${1:-python3}

packages=(libegl1 libgl1 libgl1-mesa-dri)
if dpkg -s "${packages[@]}" >/dev/null 2>&1; then
  : # there already
elif command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${packages[@]}"
else
  echo "not installed (needs root and apt-get): ${packages[*]}" >&2
fi
PIP_CONSTRAINT=$PWD/constraints.txt "$python" -m pip install -q -e ".[bench]"
