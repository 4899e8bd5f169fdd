package reading_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/reading"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"none at all", ""},
		{"7 of 1,200.50 and 1.200,50", "7 of; 1200.5 and; 1200.5"},
		{"1,200 or 1.200 or 0.125", "1200/1.2 or; 1.2/1200 or; 0.125"},
		{"1'000'000, 1 000 000 and 12,34,567", "1000000; 1000000 and; 1234567"},
		{"3,5 and 5.0 and 007", "3.5 and; 5 and; 7"},
		{"-3, −4, a - 5, (+6), x-7", "-3; -4; 5; 6; 7"},
		{"$5, 6 €, NOK 80, USD5, 9 USD", "$5; €6; NOK80; 9 USD"},
		{"-$5 and $-6", "$-5 and; $-6"},
		{"5 % and 6% of 7kg, 8 km/h", "5%; 6%; 7 kg; 8 km/h"},
		{"5–10 %, 5-10 kg, 3 - 4", "5..10%; 5..10 kg; 3..4"},
		{"2024-01-15, 15.01.2024, 12:30, 1.2.3", "2024; 1; 15; 15; 1; 2024; 12; 30; 1; 2; 3"},
		{"v1.2 R1 H2O Q3 _4 A5.6", ""},
		{"1e6 2E-2 3em 4e", "1000000; 0.02; 3 em; 4 e"},
		{"٣ and ३ and 第5章", "3 and; 3 and; 5 章"},
		{"$5 $6 10 NOK 20", "$5; $6; 10; NOK20"},
	} {
		var got []string
		for _, n := range reading.Numbers(c.text) {
			one := n.Currency + strings.Join(n.Readings, "/")
			if n.To != nil {
				one += ".." + strings.Join(n.To.Readings, "/")
			}
			if n.Percent {
				one += "%"
			} else if n.Unit != "" {
				one += " " + n.Unit
			}
			got = append(got, one)
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestNumberIs(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"1,200", "1200", true}, {"1.200", "1,2", true}, {"1,200", "1.2", true}, {"5.0", "5", true}, {"12", "1.2", false}, {"-5", "5", false}} {
		if got := reading.Numbers(c.a)[0].Is(reading.Numbers(c.b)[0]); got != c.want {
			t.Errorf("%s is %s: %v", c.a, c.b, got)
		}
	}
	if v := fmt.Sprint(reading.Numbers("-1,200.5")[0].Value); v != "-1200.5" {
		t.Errorf("the value is %s", v)
	}
}
