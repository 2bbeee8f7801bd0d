# Succeeds if /readyz answers 200. A shell script, because it runs every few seconds in every container.
exec 3<>/dev/tcp/127.0.0.1/3000 || exit 1
printf 'GET /readyz HTTP/1.0\r\n\r\n' >&3
read -r _ status _ <&3
[ "$status" = 200 ]
