package edit

import "testing"

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
