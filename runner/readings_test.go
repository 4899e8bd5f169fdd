package runner_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators"
)

// The checks of one attempt share the document of its text. Another attempt has its own.
func TestChecksShareReading(t *testing.T) {
	var mu sync.Mutex
	var documents []*reading.Document
	look := func(name string, until int) validators.Validator {
		return validators.New(name, name, func(ctx context.Context, _ struct{}, s validators.Subject) (validators.Verdict, error) {
			d, err := reading.Of(ctx, s.Content)
			if err != nil {
				return validators.Verdict{}, err
			}
			mu.Lock()
			defer mu.Unlock()
			if documents = append(documents, d); len(documents) < until {
				return validators.Fail("again"), nil
			}
			return validators.Pass("read"), nil
		})
	}
	m := model.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: "# a text", Usage: model.Usage{Calls: 1}}, nil
	})
	r := newRunner(t, runner.WithModel(m), runner.WithValidators(look("one", 0), look("two", 3)))
	c := parsed(t, r, `cascade_id: c
phases:
  - name: a
    instructions: a
    rules: {max_attempts: 2}
    wards:
      post:
        - {validator: one, mode: retry}
        - {validator: two, mode: retry}`)
	if _, err := r.Run(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	if len(documents) != 4 || documents[0] != documents[1] || documents[2] != documents[3] {
		t.Fatalf("%d documents; each attempt must read its text once: %p", len(documents), documents)
	}
	if slices.Contains(documents[:2], documents[2]) {
		t.Error("two attempts share a document")
	}
}
