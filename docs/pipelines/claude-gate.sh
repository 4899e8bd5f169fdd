#!/bin/sh
# .claude/gate.sh GATE: judges the file that the agent has just written. Its path
# comes as JSON on standard input. Status 2 gives the reasons, on standard error,
# to the agent, which mends the file; 1 tells a person alone, for a gate that
# broke has not said no. Needs jq.
file=$(jq -r '.tool_input.file_path // empty') || exit 1
[ -f "$file" ] || exit 0
said=$(capstan gate "$1" -- "$file" 2>&1)
case $? in
0) exit 0 ;;
1) printf '%s\n%s\n' "$file does not pass the gate $1:" "$said" >&2; exit 2 ;;
*) printf '%s\n' "$said" >&2; exit 1 ;;
esac
