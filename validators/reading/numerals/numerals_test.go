package numerals

import "testing"

func TestValue(t *testing.T) {
	for words, want := range map[string]int{
		"two": 2, "Twelve": 12, "twenty-one": 21, "two hundred and five": 205, "a dozen": 12, "three dozen": 36, "two million": 2000000,
		"zwölf": 12, "einundzwanzig": 21, "dreihundert": 300, "soixante et onze": 71, "quatre-vingt-dix": 90, "treinta y cinco": 35, "dos mil": 2000,
	} {
		if got := Value(words); got != want {
			t.Errorf("%s: %d, want %d", words, got, want)
		}
	}
	for _, word := range []string{"Sept", "DOS", "house", "once", "elf"} {
		if n, ok := Of(word); ok {
			t.Errorf("%s is %d", word, n)
		}
	}
}
