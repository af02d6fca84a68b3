\builtin printf '%s\0' '@MARK@'; \builtin printf '%s' '@MARK@' >&2
\builtin printf 'options\0'; \builtin set +o; \builtin shopt -p || \builtin :
\builtin set +efuvx
\builtin printf '\0=traps\0'; \builtin trap -p
\builtin printf '\0=arguments\0%s' "$#"
\builtin printf '\0=descriptors\0'
(
  for n in 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    ! \builtin [ -e "/proc/self/fd/$n" ] || \builtin printf '%s ' "$n"
  done
  ! \builtin [ /proc/self/fd/0 -ef /dev/null ] || \builtin printf null
)
\builtin printf '\0umask\0'; \builtin umask
\builtin printf '\0limits\0'
(
  for n in c d e f i l m n q r s t u v x; do
    \builtin printf '%s S ' "$n"; \builtin ulimit -S "-$n" || \builtin echo
    \builtin printf '%s H ' "$n"; \builtin ulimit -H "-$n" || \builtin echo
  done
) 2>/dev/null
\builtin printf '\0variables\0'; \builtin declare -p
\builtin printf '\0aliases\0'; \builtin alias -p
\builtin printf '\0flags\0'; \builtin declare -F
\builtin compgen -A function | while \builtin read -r; do
  \builtin printf '\0function:%s\0' "$REPLY"; \builtin declare -f -- "$REPLY"
done
\builtin printf '\0%s' '@MARK@'
(\builtin exit 86)
