package secrets

import (
	"encoding/base64"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// sample returns a text that a pattern matches. The repository contains no
// credential, not even an invented one.
func sample(r *rand.Rand, re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		i := 2 * r.IntN(len(re.Rune)/2)
		for re.Rune[i] > 'z' {
			i = 0
		}
		lo, hi := re.Rune[i], min(re.Rune[i+1], 'z')
		return string(lo + r.Int32N(hi-lo+1))
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(sample(r, sub))
		}
		return b.String()
	case syntax.OpAlternate:
		return sample(r, re.Sub[r.IntN(len(re.Sub))])
	case syntax.OpCapture:
		return sample(r, re.Sub[0])
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat, syntax.OpQuest:
		n := re.Min
		if re.Op == syntax.OpPlus {
			n = 24
		}
		var b strings.Builder
		for range n {
			b.WriteString(sample(r, re.Sub[0]))
		}
		return b.String()
	}
	return ""
}

// carriers are contexts of a token in a text.
var carriers = []string{"%", "use %. Then go on", "x = \"%\"", "'%'", "<b>%</b>", "(%)", `{"content":"a\n%\nb"}`, "https://example.org/?a=1&t=%&b=2", "x%3D%", "日本%日本", "is _%_ now", "__%__"}

// TestEveryToken checks that each row finds a sample of its own pattern in
// every carrier, and nothing in the middle of a word.
func TestEveryToken(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	if len(tokens()) < 90 {
		t.Fatalf("got %d rows", len(tokens()))
	}
	for _, row := range tokens() {
		re, err := syntax.Parse(row.pattern().String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		for _, literal := range row.literals {
			if len(literal) < reach {
				t.Errorf("%s: %s is shorter than the sieve", row.name, literal)
			}
		}
		if row.literals[0] == wrapped || row.literals[0] == "sk-" {
			continue
		}
		for _, carrier := range carriers {
			token := sample(r, re)
			for row.bits > 0 && (entropy(token) <= row.bits || madeUp(token)) || within("=-", token[len(token)-1]) {
				token = sample(r, re)
			}
			if !strings.Contains(strings.ToLower(token), strings.ToLower(row.literals[0])) && len(row.literals) == 1 {
				t.Errorf("%s: %s has no %s", row.name, token, row.literals[0])
			}
			text := strings.ReplaceAll(carrier, "%", token)
			if strings.Contains(carrier, "%3D") {
				text = "x%3D" + token
			}
			found := slices.Collect(In(text))
			if len(found) != 1 || !strings.Contains(text[found[0].Start:found[0].End], token[:8]) {
				t.Errorf("%s in %s: got %+v", row.name, text, found)
			}
		}
	}
}

// TestWrapped checks that every token with a literal is found in base64, and
// nothing else.
func TestWrapped(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	wrap := base64.StdEncoding.EncodeToString
	for _, row := range tokens() {
		if row.before > 0 || len(row.literals[0]) <= reach || row.literals[0] == wrapped {
			continue
		}
		re, err := syntax.Parse(row.pattern().String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		token := sample(r, re)
		for row.bits > 0 && (entropy(token) <= row.bits || madeUp(token)) || within("=-", token[len(token)-1]) {
			token = sample(r, re)
		}
		if !slices.ContainsFunc(row.literals, func(literal string) bool { return strings.HasPrefix(token, literal) }) {
			continue // base64 of upper-case text begins differently
		}
		for _, text := range []string{"data: " + wrap([]byte(token)), `{"a": "` + wrap([]byte(token+"\n")) + `"}`} {
			if found := slices.Collect(In(text)); len(found) != 1 {
				t.Errorf("%s in %s: got %+v", row.name, text, found)
			}
		}
	}
	picture := make([]byte, 100_000)
	for i := range picture {
		picture[i] = byte(r.Uint32())
	}
	for _, inside := range []string{
		"-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC " + "KEY-----\nMIIE", "gh" + "p_" + strings.Repeat("x", 36), "ghp_ is how a token begins", string(picture),
	} {
		for s := range In("data: " + wrap([]byte(inside))) {
			t.Errorf("%.60q: got %+v", inside, s)
		}
	}
}

// random32 stands for random characters in a table.
const random32 = "§"

// assigned are texts with the credential in them.
var assigned = []struct{ text, name string }{
	{`api_key = "§"`, "a credential in api_key"},
	{"tool --api-key § run", "a credential in api-key"},
	{"ENV SECRET_TOKEN §", "a credential in SECRET_TOKEN"},
	{"setenv API_TOKEN\t§", "a credential in API_TOKEN"},
	{"machine x.org login ann password §", "a credential in password"},
	{"My password is §.", "a credential in password"},
	{"| api_key | § |", "a credential in api_key"},
	{"tool --token-endpoint https://auth.example.org/v2/token/a1b2c3 --token authentication", ""},
	{"ENV TOKEN_FILE /run/secrets/token-file-2026", ""},
	{"the token §", ""},
	{"The password is required-since-version-2. | token | string |", ""},
	{`apiKey: '§',`, "a credential in apiKey"},
	{`"api_key": "§"`, "a credential in api_key"},
	{`{"content":"api_key = \"§\"\n"}`, "a credential in api_key"},
	{`{"config.ini": "APP_TOKEN=§\nBACKUP_ENABLED=true"}`, "a credential in APP_TOKEN"},
	{"Token := `§`", "a credential in Token"},
	{`var accessToken string = "§"`, "a credential in accessToken"},
	{`const apiKey: string = '§';`, "a credential in apiKey"},
	{`let token: &str = "§";`, "a credential in token"},
	{`String ETSYToken = "§";`, "a credential in ETSYToken"},
	{`$appToken .= "§"`, "a credential in appToken"},
	{`APP_TOKEN ?= "§"`, "a credential in APP_TOKEN"},
	{`APP_TOKEN ::= "§"`, "a credential in APP_TOKEN"},
	{`APP_TOKEN :::= "§"`, "a credential in APP_TOKEN"},
	{`  "appToken" => "§"`, "a credential in appToken"},
	{`System.setProperty("APP_TOKEN", "§")`, "a credential in APP_TOKEN"},
	{`os.environ["APP_TOKEN"] = "§"`, "a credential in APP_TOKEN"},
	{"<appToken>\n    §\n</appToken>", "a credential in appToken"},
	{`export DB_PASSWORD=§`, "a credential in DB_PASSWORD"},
	{`mysql_pass: §`, "a credential in mysql_pass"},
	{`VAULT_SECRET_ID=§`, "a credential in VAULT_SECRET_ID"},
	{`Authorization: Bearer §`, "a credential in Authorization"},
	{`curl -H 'X-Octopus-ApiKey: §' http://x`, "a credential in X-Octopus-ApiKey"},
	{`https://example.org/?a=b&access_token=§&c=d`, "a credential in access_token"},
	{`password=xxx&token=§`, "a credential in token"},
	{`telegram_token: 2556611612:A§ab`, "a credential in telegram_token"},
	{`postgres://app:§@db/x`, "a password in an address"},
	{`curl -u admin:§ https://x`, "a password in a command"},
	{"curl -X POST \\\n  --user 'admin:§' \\\n  https://x", "a password in a command"},
	{`curl -u ":§" https://x`, "a password in a command"},
	{`redis://:§@cache:6379`, "a password in an address"},
	{`redis-cli -h cache -a § ping`, "a password in a command"},
	{`sshpass -p '§' ssh a@b`, "a password in a command"},
	{`mysql -u root -p§ shop`, "a password in a command"},
	{`docker login -u ann -p § example.org`, "a password in a command"},
	{`sqlcmd -S db -U sa -P §`, "a password in a command"},
	{`CREATE USER 'ann'@'%' IDENTIFIED BY '§';`, "a password in a command"},
	{`ALTER USER ann IDENTIFIED WITH sha256_password BY '§'`, "a password in a command"},
	{"port 6379\nrequirepass §\n", "a password in a command"},
	{"masterauth §", "a password in a command"},
	{`PGPASSWORD=§ psql -h db`, "a credential in PGPASSWORD"},
	{`dbpassword: §`, "a credential in dbpassword"},
	{`Your API key: §`, "a credential in API key"},
	{`**API key:** §`, "a credential in API key"},
	{`**Password:** §`, "a credential in Password"},
	{`| Secret key | §  |`, "a credential in Secret key"},
	{"- name: API_KEY\n  value: §", "a credential in API_KEY"},
	{"env:\n- name: \"DB_PASSWORD\"\n  value: \"§\"", "a credential in DB_PASSWORD"},
	{`[{"name": "API_KEY", "type": "text", "value": "§"}]`, "a credential in API_KEY"},
	{"variable \"db_password\" {\n  type    = string\n  default = \"§\"\n}", "a credential in db_password"},
	{`CREATE USER ann WITH PASSWORD '§'`, "a credential in PASSWORD"},
	{`Passwort: §`, "a credential in Passwort"},
	{`Kennwort: "§"`, "a credential in Kennwort"},
	{`mot de passe : §`, "a credential in passe"},

	{`api_key = "your-api-key-here-1234"`, ""},
	{`postgres://app:YOUR_PASSWORD@db/x`, ""},
	{`postgres://app:REDACTED@db/x`, ""},
	{`redis://:password@cache`, ""},
	{"- name: API_KEY\n  valueFrom:\n    secretKeyRef: {name: x, key: §}", ""},
	{"- name: PATH\n  value: §", ""},
	{"variable \"db_password\" {\n  type = string\n}\nlocals {\n  default = \"§\"\n}", ""},
	{"the api_key\nvalue: §", ""},
	{`The key: §`, ""},
	{`Sort key: §`, ""},
	{`mysql -u root -p shop2024db`, ""},
	{`docker run -p 8080:80 nginx1`, ""},
	{`CREATE USER ann IDENTIFIED BY '${DB_PASS1}';`, ""},
	{`CREATE USER ann IDENTIFIED BY 'password';`, ""},
	{"the rows are identified by user2024a", ""},
	{"requirepass is set in redis7.conf", ""},
	{"requirepass ${REDIS_PASS1}", ""},
	{`redis-cli -a "$REDIS_PASS1" ping`, ""},
	{`TOKEN=${GITHUB_TOKEN1}`, ""},
	{`token: <§>`, ""},
	{`key = §`, ""},
	{`tokenizer = "§"`, ""},
	{`max_tokens = 4096000000000`, ""},
	{`credentialsId: '§'`, ""},
	{`secret_name = "§"`, ""},
	{`token_url = "§"`, ""},
	{`publicToken = "§"`, ""},
	{`csrf-token=§`, ""},
	{`author = "§"`, ""},
	{`monkey: §`, ""},
	{`secret := config.Secrets2.Value`, ""},
	{`password = getpass.getpass2()`, ""},
	{`token: 12:30:45.123Z`, ""},
	{`curl -u user:password http://x`, ""},
	{`curl -u "$USER1:$PASSWORD1" http://x`, ""},
	{"curl http://x\nnc -u admin:§", ""},
	{`http://user:password@host`, ""},
	{`AKIAIOSFODNN7` + `EXAMPLE`, ""},
	{"gh" + "p_" + strings.Repeat("x", 36), ""},
	{"AI" + "zaSyabcdefghijklmnopqrstuvwxyz1234567", ""},
	{"-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----", ""},
	{"-----BEGIN PUBLIC KEY-----\n§§§", ""},
}

func TestAssignments(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range assigned {
		value := make([]byte, 32)
		for i := range value {
			value[i] = (digits + small)[r.IntN(36)]
		}
		text := strings.ReplaceAll(c.text, random32, string(value))
		found := slices.Collect(In(text))
		switch {
		case c.name == "" && len(found) > 0:
			t.Errorf("%s: got %+v", text, found)
		case c.name != "" && (len(found) != 1 || found[0].Name != c.name || !strings.Contains(text[found[0].Start:found[0].End], string(value))):
			t.Errorf("%s: got %+v, want %s", text, found, c.name)
		}
	}
}

// TestChosenPasswords checks passwords that a person chose.
func TestChosenPasswords(t *testing.T) {
	season := "Som" + "mer2024!"
	for text, want := range map[string]bool{
		"passwort: " + season: true, "Password=" + season: true, "mot de passe : " + season: true, "senha: " + season: true, "user: ann pass: " + season: true,
		"password: sommer2024!": false, "password: Sommer!!": false, "password: $" + season: false, "password: P@ssw0rd1!": false, "password: Your-Passw0rd!": false, "password: Change-Me1!": false,
		"The admin password is " + season: true, "password is: " + season: true, "| Password | " + season + " |": true, "login ann password " + season: true, "ALTER ROLE a PASSWORD '" + season + "'": true,
		"contraseña: " + season: true, "Contraseña es " + season: false, "wachtwoord: " + season: true, "hasło: " + season: true, "lösenord = " + season: true, "şifre: " + season: true, "пароль: " + season: true, "Пароль: " + season: true,
		"密码：" + season: true, "密码: " + season: true, "パスワード：" + season: true, "비밀번호: " + season: true, "パスワード：8文字以上": false, "пароль: 12345678": false,
		"The password is Required since 2!": false, "The password was " + season: false,
		"desenhar: " + season: false, "?password=abc123&user=Bob1": false, "note: " + season: false,
	} {
		if found := slices.Collect(In(text)); (len(found) == 1) != want {
			t.Errorf("%s: got %+v", text, found)
		}
	}
}

// TestNothingHidesBehindMany checks that the last token is found after any
// number of placeholders and public tokens.
func TestNothingHidesBehindMany(t *testing.T) {
	token := "gh" + "p_" + strings.Repeat("aB3dE6gH9", 4)
	for _, before := range []string{"gh" + "p_" + strings.Repeat("x", 36) + " ", "token=", "api_key=xxx ", `"token":"`, "ZXlK", "://a:b@", "curl \\\n", token + " "} {
		text := strings.Repeat(before, 5000) + "\n" + token
		last := Secret{}
		for s := range In(text) {
			last = s
		}
		if last.End != len(text) {
			t.Errorf("behind many of %q: got %+v", before, last)
		}
	}
}

func FuzzIn(f *testing.F) {
	for _, c := range assigned {
		f.Add(strings.ReplaceAll(c.text, random32, "k3jh4kj5h6kj7h8k9j0h1k2j3h4"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		past := 0
		for s := range In(text) {
			if s.Start < past || s.End <= s.Start || s.End > len(text) || s.Shown > s.End-s.Start || s.Name == "" {
				t.Fatalf("%q: got %+v behind %d", text, s, past)
			}
			past = s.End
		}
	})
}
