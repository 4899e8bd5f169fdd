package builtins_test

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators"
)

// TestWordCountWithoutSpaces counts words in scripts without spaces between
// words. It is an error if the number of words decides.
func TestWordCountWithoutSpaces(t *testing.T) {
	for name, text := range map[string]string{
		"Thai": "สวัสดีครับผมชื่อสมชาย", "Lao": "ສະບາຍດີຂ້ອຍຊື່ສົມສັກ", "Khmer": "សួស្តីខ្ញុំឈ្មោះសុខ", "Burmese": "မင်္ဂလာပါကျွန်တော့်နာမည်အောင်",
		"mixed": "The dish is called ต้มยำกุ้ง in Thai.",
	} {
		for _, limit := range []struct {
			key  string
			n    int
			want string
		}{{"max", 8, "use length_check"}, {"min", 9, "use length_check"}, {"max", 60, ""}, {"min", 1, ""}} {
			want := limit.want
			check, err := builtin("word_count").Bind(map[string]any{limit.key: limit.n})
			if err != nil {
				t.Fatal(err)
			}
			v, err := check(t.Context(), validators.Subject{Content: text})
			if (err == nil) != (want == "") || err == nil && !v.Valid || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s %d: got %+v, %v", name, limit.key, limit.n, v, err)
			}
		}
	}
}
