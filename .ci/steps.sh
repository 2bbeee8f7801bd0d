# Sourced by .ci/run and .ci/nightly: runs steps, and counts their tests. All steps run even when one fails. The last lines
# name what failed; a step that failed without a failing test counts as one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null
# Results of an earlier run, which the machine may have cached, are not results of this clone.
export CI=true NX_DAEMON=false NX_NO_CLOUD=true NX_SKIP_NX_CACHE=true
results="$(mktemp -d)"
trap 'rm -rf "$results"' EXIT
stepCount=0

# step <name> <command …>: runs the command, prints its duration, and records its exit code.
step() {
  local name="$1" startedAt="$SECONDS" status=0
  shift
  stepCount=$((stepCount + 1))
  printf '\n--- %s\n' "$name"
  printf '%s\n' "$name" >"$results/$stepCount.name"
  "$@" || status=$?
  printf '%s\n' "$status" >"$results/$stepCount.status"
  printf -- '--- %s: %s after %s s\n' "$name" "$([ "$status" = 0 ] && echo ok || echo "FAILED ($status)")" "$((SECONDS - startedAt))"
}

# tests <name> <command …>: a step whose command writes vitest's JSON report to the file of its last argument.
tests() {
  step "$@" "--outputFile=$results/$((stepCount + 1)).json"
}

# suite <name>: the script test:<name>.
suite() {
  tests "$1" npm run "test:$1" -- --reporter=default --reporter=json
}

total() {
  printf '\n'
  node infra/ci-total.mjs "$results"
}
