package secrets

import "strings"

// nameRoots are the beginnings of what names a credential, in small letters;
// whether the whole name does is for namesSecret to say.
const nameRoots = "secret passw passphrase pass pwd token key auth cred kennwort senha " + abroad

// abroad are names of a password in other languages, whole.
const abroad = "contraseña wachtwoord lösenord hasło şifre пароль Пароль 密码 密碼 パスワード 비밀번호"

// secretWords are words of a name, or two neighbours, that speak of a credential.
var secretWords = set("secret secrets password passwd pwd pass passphrase token credential credentials creds cred auth authorization passwort kennwort passe senha", abroad,
	"apikey accesskey privatekey secretkey authkey apitoken accesstoken authtoken signingkey encryptionkey masterkey servicekey accountkey storagekey sharedkey")

// otherwise are the last words of names that speak about a credential and hold
// none: its name, its size, where it is.
var otherwise = set("name names length len size file path dir url uri endpoint type count limit expiry expires ttl version alias label hash policy method mode scheme")

// open are words of names whose values are no secret.
var open = set("public csrf xsrf authenticity")

func set(lists ...string) map[string]bool {
	words := map[string]bool{}
	for _, list := range lists {
		for word := range strings.FieldsSeq(list) {
			words[word] = true
		}
	}
	return words
}

// namesSecret says that one of the words of an identifier, or two neighbours,
// speak of a credential and no other takes it back: API_KEY, clientSecret,
// db.password, not credentialsId, token_url or publicToken.
func namesSecret(name string) bool {
	parts := nameParts(name)
	speaks := false
	for i, part := range parts {
		if open[part] {
			return false
		}
		if part == "id" && i > 0 && parts[i-1] != "secret" && parts[i-1] != "auth" && speaks {
			return false
		}
		speaks = speaks || secretWords[part] || strings.HasSuffix(part, "password") || i > 0 && secretWords[parts[i-1]+part]
	}
	return speaks && !otherwise[parts[len(parts)-1]]
}

// nameParts are the words of an identifier: fooBar, HTTPToken, foo_bar, foo.bar, foo bar.
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
