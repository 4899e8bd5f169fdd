package event

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
)

// BenchmarkJSON encodes the events of one turn with a reply of a kilobyte.
func BenchmarkJSON(b *testing.B) {
	turn := 3
	said := strings.Repeat("All work. ", 100)
	at := Path("a/attempt[1]/turn[3]")
	list := []Event{
		{Seq: 1, Time: time.Now(), Kind: TurnStarted, Path: at, Phase: "a", Attempt: 1, Turn: &turn},
		{Seq: 2, Time: time.Now(), Kind: ModelCalled, Path: at.Join("model"), Phase: "a", Attempt: 1, Turn: &turn, Conversation: at, Request: &model.Request{
			Model: "m", Messages: []model.Message{{Role: model.Assistant, Content: said}, {Role: model.User, Content: "Go on."}}, Phase: "a", Attempt: 1, Turn: 3}},
		{Seq: 3, Time: time.Now(), Kind: ModelReplied, Path: at.Join("model"), Phase: "a", Attempt: 1, Turn: &turn, Response: &model.Response{Text: said, Model: "m", Finish: "stop"}},
	}
	b.Run("marshal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, e := range list {
				if _, err := json.Marshal(e); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("itself", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, e := range list {
				if _, err := e.MarshalJSON(); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
