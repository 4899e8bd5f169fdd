package runner_test

import (
	"context"
	"fmt"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
)

// A sink receives every event of a run, in order, before the next effect.
func ExampleWithSink() {
	r, err := runner.New(runner.WithSink(event.Func(func(e event.Event) {
		switch e.Kind {
		case event.PhaseStarted:
			fmt.Println("started ", e.Path)
		case event.VerdictGiven:
			fmt.Println("verdict ", e.Verdict.Path, *e.Verdict.Valid)
		case event.PhaseFinished:
			fmt.Println("finished", e.Path, e.Status)
		}
	})))
	if err != nil {
		panic(err)
	}
	c, err := r.Parse("greet.yaml", []byte(`
cascade_id: greet
phases:
  - {name: hello, compose: Hello, wards: {post: [{validator: non_empty}]}}
  - {name: all, compose: "{{ outputs.hello }}, world", wards: {post: [{validator: max_length, with: {max: 20}}]}}
`))
	if err != nil {
		panic(err)
	}
	if _, err := r.Run(context.Background(), c, nil); err != nil {
		panic(err)
	}
	// Output:
	// started  hello
	// verdict  hello/attempt[1]/post[0] true
	// finished hello succeeded
	// started  all
	// verdict  all/attempt[1]/post[0] true
	// finished all succeeded
}
