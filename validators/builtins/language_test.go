package builtins

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators"
)

const english = "The weather was fine and we walked along the river until evening. When it was dark we went home."

// danish has sentences that could also be Norwegian, each alone and all
// together.
const danish = "Ingen forventede en hurtig beslutning, men afstemningen var over på ti minutter. Vand koger hurtigere i stor højde, fordi trykket er lavere."

const german = "Das Wetter war schön und wir gingen bis zum Abend am Fluss entlang. Als es dunkel war, gingen wir nach Hause."

var languageCases = []struct {
	name, in, content, want string // part of the reason of either verdict
	valid                   bool
}{
	{"English", "en", english, "in English", true},
	{"German", "de", german, "in German", true},
	{"German, asked for English", "en", german, "line 1: this is in German, not in English", false},
	{"one of two", "en de", english, "English or German", true},
	{"a variant", "pt-BR", "Não foram encontrados erros no relatório.", "Portuguese", true},
	{"an introduction in another language", "de", "Sure! Here is the translation that you asked for:\n\n" + german, "line 1: this is in English", false},
	{"a few words in another language", "de", strings.Repeat(german+"\n\n", 5) + "This is what he said to me.", "in German", true},
	{"half and half", "de", german + "\n\n" + english, "line 3: this is in English", false},
	{"half of a paragraph", "de", german + " " + english, "this is in English", false},
	{"quoted English in German", "de", german + "\n\n> " + english + "\n\nEr sagte: “" + english + "” und ging weg.", "in German", true},
	{"code in German", "de", german + "\n\n```go\n// The loop goes on until there is nothing left to do.\nfor {}\n```\n\n    this is what the code has in it", "in German", true},
	{"code alone", "en", "```\nThe loop goes on until there is nothing left to do.\n```", "not recognizable from 0 words", false},
	{"links", "de", german + " Siehe [hier](https://example.org/what-is-this-and-that) und https://example.org/the-way-it-was.", "in German", true},
	{"placeholders", "de", german + " {{ input.the_name_of_this }} {name_of_the_user}", "in German", true},
	{"a heading in English", "de", "# Overview\n\n" + german, "in German", true},
	{"a list", "fr", "- Il faisait beau et nous avons marché.\n- The weather was fine and we walked.", "line 2: this is in English", false},
	{"Russian", "ru", "Погода была хорошая, и мы гуляли вдоль реки.", "Russian", true},
	{"Ukrainian for Russian", "ru", "Погода була гарна, і ми гуляли вздовж річки до вечора.", "Ukrainian", false},
	{"Russian in Latin letters", "ru", "Privet, kak dela, moy drug?", "not recognizable from 5 words", false},
	{"Chinese", "zh", "天气很好，我们沿着河边走到傍晚。", "Chinese", true},
	{"Chinese with terms", "zh", "使用 Docker Compose 部署 Kubernetes 集群。", "Chinese", true},
	{"Japanese for Chinese", "zh", "天気が良かったので、夕方まで川沿いを歩きました。", "Japanese", false},
	{"Japanese without kana", "ja", "東京都知事選挙", "may be in Japanese", true},
	{"items without kana", "ja", "# 概要\n\n新しい機能を追加しました。\n\n- 検索\n- 設定変更\n- 履歴表示\n- 管理機能", "in Japanese", true},
	{"Chinese for Japanese", "ja", "装置由两部分组成。", "this is in Chinese", false},
	{"Chinese in a word", "zh", "搜索", "in Chinese", true},
	{"Chinese in a word for English", "en", english + "\n\n搜索功能说明文件", "in Chinese", false},
	{"Arabic", "ar", "كان الطقس جميلا ومشينا على طول النهر حتى المساء.", "Arabic", true},
	{"Persian for Arabic", "ar", "هوا خوب بود و ما تا عصر در کنار رودخانه قدم زدیم.", "Persian", false},
	{"Hebrew", "he", "מזג האוויר היה נאה", "Hebrew", true},
	{"Korean, one word", "ko", "안녕하세요", "Korean", true},
	{"Norwegian by its variant", "nb", "Været var fint, og vi gikk langs elva til kvelden.", "Norwegian", true},
	{"what may be Danish", "da", danish, "may be in Danish", true},
	{"what may be Norwegian", "no", danish, "may be in Norwegian", true},
	{"what is Danish or Norwegian, and no English", "en", english + "\n\n" + danish, "line 3: this is in Danish or Norwegian, not in English", false},
	{"Danish for Norwegian", "no", danish + " Vejret var godt, og vi gik langs floden indtil aften.", "this is in Danish, not in Norwegian", false},
	{"Slovak for Czech", "cs", "Výbor sa zišiel v utorok, aby prerokoval rozpočet na budúci rok.", "Slovak", false},
	{"HTML", "de", "<p>" + german + "</p>\n<style>p { the: top of this }</style>", "in German", true},
	{"English in HTML", "de", german + "\n\n<p>\n" + english + "\n</p>", "line 3: this is in English", false},
	{"one word", "en", "Docker", "not recognizable from 1 word", false},
	{"nothing", "en", "", "not recognizable from 0 words", false},
	{"numbers", "en", "12:30, 42 %", "not recognizable from 0 words", false},
	{"yes", "en", "Yes.", "in English", true},
	{"a quotation that is not closed", "de", german + " Er sagte: “und ging", "in German", true},
	{"not UTF-8", "en", english + "\xff\xfe", "in English", true},
}

func TestLanguage(t *testing.T) {
	for _, c := range languageCases {
		in := []any{}
		for code := range strings.FieldsSeq(c.in) {
			in = append(in, code)
		}
		check, err := languageValidator.Bind(map[string]any{"in": in})
		if err != nil {
			t.Fatal(err)
		}
		v, err := check(t.Context(), validators.Subject{Content: c.content})
		if err != nil || v.Valid != c.valid || !strings.Contains(v.Reason, c.want) {
			t.Errorf("%s: got %t %s (%v), want %t %s", c.name, v.Valid, v.Reason, err, c.valid, c.want)
		}
	}
}

// In JSON, each value is checked by itself.
func TestLanguageOfValues(t *testing.T) {
	check, err := languageValidator.Bind(map[string]any{"in": []any{"en"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		output any
		want   string // part of the reason of a rejection
	}{
		{map[string]any{"text": english, "id": "x-1"}, ""},
		{map[string]any{"texte": english, "tags": []any{"Zeit", "Ort"}}, ""},
		{map[string]any{"a": english, "b": []any{german}}, "b[0]: this is in German"},
		{map[string]any{"a": []any{"x-1"}}, "not recognizable"},
		{"text", "not recognizable"},
	} {
		v, err := check(t.Context(), validators.Subject{Content: `{"text": "…"}`, Output: c.output})
		if err != nil || v.Valid != (c.want == "") || !strings.Contains(v.Reason, c.want) {
			t.Errorf("%v: got %+v, %v", c.output, v, err)
		}
	}
}

// A text shorter than min_words passes, unless it is in another language.
func TestLanguageOfFewWords(t *testing.T) {
	check, err := languageValidator.Bind(map[string]any{"in": []any{"en"}, "min_words": 5})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"Docker": "1 word: too few", "": "", "Guten Abend und bitte nicht so sehr": "German"} {
		v, err := check(t.Context(), validators.Subject{Content: text})
		if err != nil || v.Valid == (want == "German") {
			t.Errorf("%s: got %+v, %v", text, v, err)
		}
	}
}

// English READMEs of modules must be recognized as English.
func TestLanguageOfProse(t *testing.T) {
	total, refused, bytes := 0, 0, 0
	check, err := languageValidator.Bind(map[string]any{"in": []any{"en"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range readmes(t) {
		text, err := os.ReadFile(name)
		if err != nil || strings.ContainsAny(string(text), "的はйи한") || len(text) < 500 || bytes > 1<<20 {
			continue
		}
		bytes += len(text)
		v, err := check(t.Context(), validators.Subject{Content: string(text)})
		if err != nil {
			t.Fatal(err)
		}
		if total++; !v.Valid {
			refused++
			t.Logf("%s: %.200s", filepath.Base(filepath.Dir(name)), v.Reason)
		}
	}
	t.Logf("%d of %d READMEs refused", refused, total)
	if refused*20 > total {
		t.Errorf("%d of %d READMEs refused", refused, total)
	}
}

func BenchmarkLanguage(b *testing.B) {
	check, err := languageValidator.Bind(map[string]any{"in": []any{"en"}})
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{"prose": strings.Repeat(english+"\n\n", 10000), "one line": strings.Repeat(english+" ", 10000), "braces": strings.Repeat("{", 1<<20), "deep": strings.Repeat(`{"a":`, 200000), "a word": strings.Repeat("a", 1<<20), "Cyrillic": strings.Repeat("ы ", 500000)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := check(b.Context(), validators.Subject{Content: text}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
