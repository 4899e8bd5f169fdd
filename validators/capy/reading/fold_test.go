package reading

import (
	"strings"
	"testing"
	"time"
)

func TestFolded(t *testing.T) {
	for text, want := range map[string]string{
		"plain – text ≈ 5 € “x” 日本 🦉":                "plain – text ≈ 5 € “x” 日本 🦉",
		"IV\u200bPS = 23\u00ad.45":                   "IVPS = 23.45",
		"ＩＶＰＳ = ＄２３．４５":                              "IVPS = $23.45",
		"DR（折现率）：１０％；ｇ／ｘ＝［１］":                        "DR(折现率):10%;g/x=[1]",
		"𝐈𝐕𝐏𝐒 𝑎𝑏 = 𝟐𝟑.𝟒𝟓":                            "IVPS ab = 23.45",
		"&asymp; &#36;23 &#x3d; &IV; &amp &zzzzz; &": "≈ $23 = &IV; &amp &zzzzz; &",
		"&amp; &lt;b&gt; &quot; &#124; &#10; &#42;":  "&amp; &lt;b&gt; &quot; &#124; &#10; &#42;",
		"g &lt; DR (2.5% &lt; 14.5%), 3 &gt; 2":      "g < DR (2.5% < 14.5%), 3 > 2",
		"&gt; a\n &gt; a\n- &gt; a &lt;b\n> &gt; a":  "&gt; a\n &gt; a\n- &gt; a &lt;b\n> &gt; a",
		"&shy;a&ZeroWidthSpace;":                     "a&ZeroWidthSpace;",
		"５\n```json\n{\"a\": ５\u200b}\n```\n５":       "5\n```json\n{\"a\": ５\u200b}\n```\n5",
		"> ~~~\n> ５\n> ~~~\n> ５":                     "> ~~~\n> ５\n> ~~~\n> 5",
		"\xe2\x80 \xff&#36":                          "\xe2\x80 \xff&#36",
	} {
		if got := string(folded([]byte(text))); got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
	same := []byte("nothing & to fold – here")
	if got := folded(same); &got[0] != &same[0] {
		t.Error("a text with nothing to fold was copied")
	}
}

// What never ends an entity costs its length.
func TestFoldedLong(t *testing.T) {
	const n = 1 << 20
	done := make(chan struct{})
	go func() {
		for _, s := range []string{"&", "&amp", "&#36;", "\u200b", "```\n", "> "} {
			folded([]byte(strings.Repeat(s, n)))
		}
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("still running")
	}
}
