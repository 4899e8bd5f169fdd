#!/bin/sh
# A validator in shell: JSON with the text under "content" comes on standard
# input, the verdict goes to standard output. No line may pass 79 characters.
sed 's/.*"content":"\(\([^"\\]\|\\.\)*\)".*/\1/' | awk '
{
	count = split($0, line, /\\n/)
	for (i = 1; i <= count; i++)
		if (length(line[i]) > 79 && !found) found = i
}
END {
	if (found)
		printf "{\"valid\": false, \"reason\": \"line %d has more than 79 characters\"}\n", found
	else
		print "{\"valid\": true, \"reason\": \"every line fits\"}"
}'
