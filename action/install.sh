#!/usr/bin/env bash
# Install schemalint from the files of the Action into an environment of its own.
# A stranger's pull request fills the workspace. So the scripts leave it first, and Python looks for modules neither
# there nor in PYTHONPATH (-I; `unset` for the processes that pip starts).
set -euo pipefail
cd "${RUNNER_TEMP:?}"
unset PYTHONPATH PYTHONHOME PYTHONSTARTUP

if ! "$INPUT_PYTHON" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "::error title=schemalint::Python 3.11 or later is needed: use actions/setup-python first, or name a Python with the input python"
  exit 2
fi
extra="[live]"
if [ "$INPUT_LIVE" = off ]; then extra=""; fi
environment="$(mktemp -d "$PWD/schemalint.XXXXXX")"
"$INPUT_PYTHON" -I -m venv "$environment"
if [ -d "$environment/Scripts" ]; then bin=Scripts; else bin=bin; fi
python="$environment/$bin/python"
"$python" -I -m pip install --quiet --disable-pip-version-check "$GITHUB_ACTION_PATH$extra"
echo "python=$python" >> "$GITHUB_OUTPUT"
