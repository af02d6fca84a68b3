#!/bin/sh
# Checks total.sh.
prices=$(mktemp)
trap 'rm -f "$prices"' EXIT
printf '3\n4\n5\n' > "$prices"
got=$(sh total.sh "$prices")
if [ "$got" = 12 ]; then
    echo "ok: the total is 12"
else
    echo "FAILED: the total of 3, 4 and 5 should be 12, but it is $got"
    exit 1
fi
