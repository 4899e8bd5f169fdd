package runner_test

import (
	"context"
	"slices"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/model"
)

// TestTextWithoutThinking checks that a stream omits thinking after its opening
// tag. A closing tag alone restarts the text.
func TestTextWithoutThinking(t *testing.T) {
	for name, test := range map[string]struct{ pieces, want []string }{
		"both tags":       {[]string{"<thi", "nk>Hm", ".</think>\n", "\nHel", "lo"}, []string{"Hel", "lo"}},
		"the closing tag": {[]string{"Hm", ".</thi", "nk>", "Hello"}, []string{"Hm", ".</thi", "", "Hello"}},
		"neither":         {[]string{"<", "b>Hel", "lo"}, []string{"<b>Hel", "lo"}},
		"no more":         {[]string{"Hello [", "THINK"}, []string{"Hello [", "THINK"}},
		"no end":          {[]string{"<think>", "Hm"}, nil},
		"a tag begins":    {[]string{"<"}, []string{"<"}},
	} {
		m := model.Func(func(_ context.Context, r model.Request) (resp model.Response, err error) {
			for _, piece := range test.pieces {
				r.OnText(piece)
				resp.Text += piece
			}
			return resp, nil
		})
		r := newRunner(t, runner.WithModel(m))
		c := parsed(t, r, "cascade_id: c\nphases: [{name: p, instructions: Go.}]")
		var got []string
		_, err := r.Run(t.Context(), c, nil, runner.WithText(func(_, piece string) { got = append(got, piece) }))
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, test.want)
		}
	}
}
