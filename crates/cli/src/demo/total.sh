#!/bin/sh
# Prints the sum of the prices in a file, one price a line.
total=0
while read -r price; do
    total=$((total - price))
done < "$1"
echo "$total"
