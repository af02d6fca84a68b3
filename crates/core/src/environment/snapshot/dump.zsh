\builtin printf '%s\0' '@MARK@'; \builtin printf '%s' '@MARK@' >&2
\builtin printf 'options\0'; \builtin set +o
\builtin printf '\0=traps\0'; \builtin trap
\builtin printf '\0=arguments\0%s' "$#"
\builtin printf '\0umask\0'; \builtin umask
() {
  \builtin emulate -L zsh
  \builtin zmodload zsh/parameter zsh/rlimits
  \builtin printf '\0modules\0'; \builtin zmodload -L
  \builtin printf '\0=descriptors\0'
  (
    for n in 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
      ! \builtin [ -e "/proc/self/fd/$n" ] || \builtin printf '%s ' "$n"
    done
    ! \builtin [ /proc/self/fd/0 -ef /dev/null ] || \builtin printf null
  )
  \builtin printf '\0limits\0'
  (
    for n in c d e f i l m n q r s t u v x; do
      \builtin printf '%s S ' "$n"; \builtin ulimit -S "-$n" || \builtin echo
      \builtin printf '%s H ' "$n"; \builtin ulimit -H "-$n" || \builtin echo
    done
  ) 2>/dev/null
  \builtin local agent_dump_name
  for agent_dump_name in ${(ko)parameters}; do
    case "$agent_dump_name ${parameters[$agent_dump_name]}" in
      agent_dump_name\ *|*-hideval*|*\ *-readonly*-special*) ;;
      *\ array*-tied*-unique*)
        \builtin printf '\0variable:%s\0typeset -gU %s' "$agent_dump_name" "$agent_dump_name" ;;
      *\ array*-tied*) ;;
      *) \builtin printf '\0variable:%s\0' "$agent_dump_name"; \builtin typeset -p -- "$agent_dump_name" ;;
    esac
  done
  for agent_dump_name in ${(ko)functions}; do
    \builtin printf '\0function:%s\0' "$agent_dump_name"; \builtin functions -- "$agent_dump_name"
  done
  for agent_dump_name in ${(ko)aliases}; do
    \builtin printf '\0alias:%s\0' "$agent_dump_name"; \builtin alias -L -- "$agent_dump_name"
  done
  for agent_dump_name in ${(ko)galiases}; do
    \builtin printf '\0alias:-g %s\0' "$agent_dump_name"; \builtin alias -L -g -- "$agent_dump_name"
  done
  for agent_dump_name in ${(ko)saliases}; do
    \builtin printf '\0alias:-s %s\0' "$agent_dump_name"; \builtin alias -L -s -- "$agent_dump_name"
  done
}
\builtin printf '\0%s' '@MARK@'
(\builtin exit 86)
