package patterns

import (
	"errors"
	"strings"
	"testing"
)

// account counts the payments and units, and ends the work after a number of
// payments.
type account struct{ payments, units, most, last int }

var errEnd = errors.New("the end")

func (a *account) Spend(units int) error {
	a.payments, a.units, a.most = a.payments+1, a.units+units, max(a.most, units)
	if a.payments == a.last {
		return errEnd
	}
	return nil
}

// TestPatternPaysAsItGoes checks that each way to match makes many small
// payments that add up to text times instructions. It ends with the first
// rejected payment.
func TestPatternPaysAsItGoes(t *testing.T) {
	text := strings.Repeat("a", 2<<20)
	for _, source := range []string{`((a{1,30}){1,30})$`, `(?:a?){1000}b`, `a(.)c`, `(?i)aaaaaaaab`, `(?i)a{40}b`} {
		p, err := Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		for name, match := range map[string]func(Meter) error{
			"match":  func(m Meter) error { _, err := p.MatchWithin(m, text+"!"); return err },
			"find":   func(m Meter) error { _, err := p.FindWithin(m, text+"!"); return err },
			"groups": func(m Meter) error { _, err := p.GroupsWithin(m, text+"!"); return err },
		} {
			for last := 1; last <= 3; last++ {
				a := &account{last: last}
				if err := match(a); err != errEnd || a.payments != last || a.most > 1+piece/stepsPerUnit {
					t.Errorf("%s %s: got %v after %d payments, the largest of %d units", name, source, err, a.payments, a.most)
				}
			}
		}
	}
	p, err := Compile(`(?:b?a?){100}[cd]`) // each byte is read, since nothing ends it
	if err != nil {
		t.Fatal(err)
	}
	a := &account{}
	if matches, err := p.MatchWithin(a, text[:1<<16]); matches || err != nil || a.units < p.Size()<<16/stepsPerUnit || a.payments < p.Size()<<16/piece {
		t.Errorf("got %t, %v for %d units in %d payments", matches, err, a.units, a.payments)
	}
}

func TestBudget(t *testing.T) {
	asked := 0
	b := NewBudget(func() error { asked++; return nil })
	for spent := 0; spent < 100_000_000; spent += 1_000_000 {
		if err := b.Spend(1_000_000); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Spend(1); err != ErrWork || asked != 100 {
		t.Errorf("got %v, asked %d times", err, asked)
	}
	if err := NewBudget(func() error { return errEnd }).Spend(1); err != errEnd {
		t.Errorf("got %v", err)
	}
	if err := NewBudget(nil).Spend(-1); err != ErrWork {
		t.Errorf("got %v", err)
	}
}

// TestCompileLimits checks that expensive patterns are rejected with the name
// of the limit.
func TestCompileLimits(t *testing.T) {
	for source, want := range map[string]string{
		strings.Repeat("a", 16<<10) + "a":             "16385 bytes",
		strings.Repeat(`(?:[a-z]{1000}|x)`, 11):       "instructions",
		strings.Repeat(`((a{1,30}){1,30})`, 9):        "instructions",
		"(?i)" + strings.Repeat(`[B-\x{1e942}]`, 101): "101 Unicode classes and ranges",
		"(?i)" + strings.Repeat(`[B-\pL]`, 101):       "101 Unicode classes",
		"[" + strings.Repeat(`\pL\PL`, 51) + "]":      "102 Unicode classes",
		strings.Repeat("a-ö", 101):                    "101 Unicode classes and ranges",
		strings.Repeat("(?:", 300) + "a" + strings.Repeat("{0}){1000}", 1) + strings.Repeat(")", 299): "",
	} {
		_, err := Compile(source)
		if want == "" && err != nil || want != "" && (!errors.Is(err, ErrLarge) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.40q: got %v, want %s", source, err, want)
		}
	}
	for source, size := range map[string]int{`((a{1,30}){1,30})$`: 1800, `a{1000}`: 1000, `(?:aa|b)*c`: 6, ``: 1, `a{3,}`: 4} {
		p, err := Compile(source)
		if err != nil || p.Size() < size || p.Size() > size+size/10+4 {
			t.Errorf("%s: %d instructions, %v; want about %d", source, p.Size(), err, size)
		}
	}
	if _, err := Compile("("); err == nil || errors.Is(err, ErrLarge) {
		t.Errorf("got %v", err)
	}
}
