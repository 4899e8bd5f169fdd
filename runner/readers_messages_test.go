package runner_test

import (
	"fmt"
	"strings"
)

// messagesEnd are the last events of a stream of Messages.
const messagesEnd = "data: {\"type\":\"message_start\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"yes\"}]}}\n\n" +
	"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n"

// messagesBegin returns the event that begins a block of a kind.
func messagesBegin(kind string) string {
	return fmt.Sprintf("data: {\"type\":\"content_block_start\",\"index\":7,\"content_block\":{\"type\":%q,\"text\":\"%s\"}}\n\n", kind, strings.Repeat(lines, 10))
}

// messagesPiece returns the event with a piece of a block.
func messagesPiece(kind, member, index string) string {
	return fmt.Sprintf("data: {\"type\":\"content_block_delta\",\"index\":%s,\"delta\":{\"type\":%q,%q:\"%s\"}}\n\n", index, kind, member, strings.Repeat(lines, 10))
}
