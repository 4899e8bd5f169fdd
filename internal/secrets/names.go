package secrets

import "strings"

// nameRoots are beginnings of words that name a credential, in lower case.
// namesSecret then checks the whole name.
const nameRoots = "secret passw passphrase pass pwd token key auth cred kennwort senha " + foreignPasswords

// foreignPasswords are whole words for "password" in other languages.
const foreignPasswords = "contraseña wachtwoord lösenord hasło şifre пароль Пароль 密码 密碼 パスワード 비밀번호"

// secretWords are words of a name, or two neighbouring words, that mean a
// credential.
var secretWords = set("secret secrets password passwd pwd pass passphrase token credential credentials creds cred auth authorization passwort kennwort passe senha", foreignPasswords,
	"apikey accesskey privatekey secretkey authkey apitoken accesstoken authtoken signingkey encryptionkey masterkey servicekey accountkey storagekey sharedkey")

// nonSecretEndings are last words of names that describe a credential and do
// not contain it, such as its name, size or location.
var nonSecretEndings = set("name names length len size file path dir url uri endpoint type count limit expiry expires ttl version alias label hash policy method mode scheme")

// publicWords are words in names of values that are not secret.
var publicWords = set("public csrf xsrf authenticity")

func set(lists ...string) map[string]bool {
	words := map[string]bool{}
	for _, list := range lists {
		for word := range strings.FieldsSeq(list) {
			words[word] = true
		}
	}
	return words
}

// namesSecret reports whether an identifier names a credential: one word, or
// two neighbours, mean one, and no other word contradicts. API_KEY,
// clientSecret and db.password do; credentialsId, token_url and publicToken do
// not.
func namesSecret(name string) bool {
	parts := nameParts(name)
	speaks := false
	for i, part := range parts {
		if publicWords[part] {
			return false
		}
		if part == "id" && i > 0 && parts[i-1] != "secret" && parts[i-1] != "auth" && speaks {
			return false
		}
		speaks = speaks || secretWords[part] || strings.HasSuffix(part, "password") || i > 0 && secretWords[parts[i-1]+part]
	}
	return speaks && !nonSecretEndings[parts[len(parts)-1]]
}

// nameParts returns the words of an identifier: fooBar, HTTPToken, foo_bar,
// foo.bar, foo bar.
func nameParts(name string) []string {
	var parts []string
	start := 0
	cut := func(i int) {
		if part := strings.Trim(name[start:i], "-_. "); part != "" {
			parts = append(parts, strings.ToLower(part))
		}
		start = i
	}
	for i := 1; i < len(name); i++ {
		before, c := name[i-1], name[i]
		if within("-_. ", c) || within(capital, c) && (!within(capital, before) || i+1 < len(name) && within(small, name[i+1])) {
			cut(i)
		}
	}
	cut(len(name))
	return parts
}
