package runner_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
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

// callMessages asks a model of Anthropic whose endpoint replies with a text.
func callMessages(t testing.TB, kind, text string) error {
	p, _ := model.Builtin("anthropic")
	return callAt(t, p, http.StatusOK, kind, text)
}
