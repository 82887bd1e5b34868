#!/usr/bin/env bash
# run.sh STEP [FOLDER]: run a step of schemalint.cli.action, and hand to the runner what it leaves in its folder: that of an
# earlier step, or a new one. install.sh says why the workspace is left.
set -euo pipefail
cd "${RUNNER_TEMP:?}"
unset PYTHONPATH PYTHONHOME PYTHONSTARTUP

step="$1"
folder="${2:-$(mktemp -d "$PWD/schemalint.XXXXXX")}"
status=0
"$PYTHON" -I -m schemalint.cli.action "$step" "$folder" || status=$?
# Python that cannot start exits with 1, as for findings.
if [ ! -f "$folder/$step.outputs" ]; then status=3; fi
hand_over() { if [ -f "$folder/$step.$1" ]; then cat -- "$folder/$step.$1"; fi; }
hand_over log
hand_over outputs >> "$GITHUB_OUTPUT"
hand_over summary >> "$GITHUB_STEP_SUMMARY"
exit "$status"
