package edit

import (
	"strings"
	"testing"
)

// BenchmarkVerify decides on a text of two thousand words with ten claims.
func BenchmarkVerify(b *testing.B) {
	d := newDesk(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Verify(d.o); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkChanges lists the changes of a text of 100 KB with an edit in each section.
func BenchmarkChanges(b *testing.B) {
	d := newDesk(b)
	section := load(b, "policy.md")
	section = section[strings.Index(section, "# Release"):]
	source := strings.Repeat(section, 100<<10/len(section)+1)
	d.put("source.md", source)
	d.put("candidates/d-04.1.md", strings.ReplaceAll(source, "The limits are these", "These are the limits"))
	in, err := read(d.o)
	if err != nil || len(in.changes) < 50 {
		b.Fatal(err, len(in.changes))
	}
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		in.changes = nil
		in.compare(&reader{})
	}
}
