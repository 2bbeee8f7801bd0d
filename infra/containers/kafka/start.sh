# Runs the broker with the properties of the KAFKA_… variables: KAFKA_LOG_DIRS is log.dirs.
set -euo pipefail
properties=/tmp/server.properties
while IFS='=' read -r name value; do
  case "$name" in
    KAFKA_HEAP_OPTS | CLUSTER_ID) ;;
    KAFKA_*) name="${name#KAFKA_}"; name="${name,,}"; printf '%s=%s\n' "${name//_/.}" "$value" ;;
  esac
done < <(env) >"$properties"
tool() { java -Xmx128m -cp '/opt/kafka/libs/*' "$@"; }
tool kafka.tools.StorageTool format --ignore-formatted --cluster-id "${CLUSTER_ID:-MkU3OEVBNTcwNTJENDM2Qk}" --config "$properties"
exec java $KAFKA_HEAP_OPTS -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp '/opt/kafka/libs/*' kafka.Kafka "$properties"
