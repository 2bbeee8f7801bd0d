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

# background <number> <function>: runs the steps of a function next to the following ones; they are numbered from there on.
background() {
  (stepCount="$1" && "$2") >"$results/$2.log" 2>&1 &
  printf '%s\n' "$!" >"$results/$2.pid"
}

# finish <function>: waits for its steps, and prints them. A step of its own, so that interrupted ones do not count as passed.
finish() {
  step "$1 in the background" wait "$(cat "$results/$1.pid")"
  cat "$results/$1.log"
}

total() {
  printf '\n'
  node infra/ci-total.mjs "$results"
}
