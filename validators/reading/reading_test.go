package reading

import (
	"strings"
	"testing"
)

func read(t *testing.T, s string) Text {
	t.Helper()
	text, err := Read(s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestThings(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		text string
		want string // things, parted by " ¦ "
	}{
		{Numbers, "It takes 2 seconds, two seconds, 2s and 2 s.", "2 s ¦ 2 s ¦ 2 s ¦ 2 s"},
		{Numbers, "1,000 and 1000 and 1 000.5; 3.14; -5; −5; 1e6.", "1000 ¦ 1000 ¦ 1000.5 ¦ 3.14 ¦ -5 ¦ -5 ¦ 1e6"},
		{Numbers, "$5, 5 USD, 5 €, EUR 5, $5 million", "5 $ ¦ 5 $ ¦ 5 € ¦ 5 € ¦ 5000000 $"},
		{Numbers, "10–20 %, 10-20%, ≥ 5 ms, < 5, ~16%", "10 ¦ 20 % ¦ 10 ¦ 20 % ¦ ≥5 ms ¦ <5 ¦ ~16 % ¦ ≥ ¦ <"},
		{Numbers, "R1 rests on HTTP2 and utf-8 of 2024.", "8 ¦ 2024"},
		{Numbers, "twenty-five, two hundred and five, a 30-day week, one of them, one day", "25 ¦ 205 ¦ 30 day ¦ 1 day"},
		{Numbers, "v1.2.3 on 2024-03-01 at 10:30, [12], [^2]", ""},
		{Numbers, "the 3rd of 100x, 3/4 of ½", "3 rd ¦ 100 x ¦ ¾ ¦ ½"},
		{Numbers, "1 1/3, 1⅓ and 1½ of 2 3/16; 12 per cent, 12 percent, 12 Prozent", "1⅓ ¦ 1⅓ ¦ 1½ ¦ 2 ¦ 3/16 ¦ 12 % ¦ 12 % ¦ 12 %"},
		{Numbers, "1.5 million, 1,500,000 and 1,5 Millionen of 2 billion; 5k, 5 thousand, 5 kB", "1500000 ¦ 1500000 ¦ 1500000 ¦ 2000000000 ¦ 5000 ¦ 5000 ¦ 5 kB"},
		{Numbers, "a hundred, a thousand, two million, two hundred and twelve, two dozen, from two and three to two hundred and three", "100 ¦ 1000 ¦ 2000000 ¦ 212 ¦ 24 ¦ 2 ¦ 3 ¦ 203"},
		{Numbers, "zwölf, dreizehn, fünfundzwanzig, zweihundert, dreitausend und vier", "12 ¦ 13 ¦ 25 ¦ 200 ¦ 3000 ¦ 4"},
		{Numbers, "douze, treize, vingt-cinq, vingt et un, quatre-vingt-douze, soixante-dix", "12 ¦ 13 ¦ 25 ¦ 20 ¦ 92 ¦ 70"},
		{Numbers, "doce, trece, veinticinco, treinta y cinco, doscientos y mil", "12 ¦ 13 ¦ 25 ¦ 35 ¦ 200 ¦ 1000"},
		{Numbers, "dodici, tredici, ventuno, ventotto, duecento, tremila e quattro", "12 ¦ 13 ¦ 21 ¦ 28 ¦ 200 ¦ 3000 ¦ 4"},
		{Numbers, "doze, treze, vinte e cinco, duzentos, mil e três", "12 ¦ 13 ¦ 25 ¦ 200 ¦ 1000 ¦ 3"},
		{Numbers, "twaalf, dertien, vijfentwintig, tweehonderd, drieëntwintig", "12 ¦ 13 ¦ 25 ¦ 200 ¦ 23"},
		{Numbers, "tolv, tretton, tjugofem, tvåhundra, tre", "12 ¦ 13 ¦ 25 ¦ 200 ¦ 3"},
		{Numbers, "It is due, es sei denn, on sex of Otto and Cem; 2 milioni, 2 miljoen", "2000000 ¦ 2000000"},
		{Names, "Run it with -n, -xzf or --force; non- and -partisan, 5 - n", "-n ¦ -xzf ¦ --force"},
		{Numbers, "共有12个节点,约0.5秒和500万人。ノードが3個、노드는4개, มี5โหนด R6 2D", "12 ¦ 0.5 ¦ 5000000 ¦ 3 ¦ 4 ¦ 5 ¦ 2 D"},
		{Dates, "1 March 2024, March 1, 2024, 1st of March 2024, 2024-03-01, 10:30 PM, 3pm, 3 p.m. on Monday", "2024-03-01 ¦ 2024-03-01 ¦ 2024-03-01 ¦ 2024-03-01 ¦ 10:30 pm ¦ 3 pm ¦ 3 pm ¦ monday"},
		{Dates, "You may march in May.", ""},
		{Modals, "It must, MUST NOT, shall not, mustn't, may only, has to, is not required, cannot go. May I?", "must ¦ MUST NOT ¦ shall not ¦ must not ¦ may only ¦ have to ¦ not required ¦ cannot"},
		{Modals, "a must-have, and müssen", "must ¦ müssen"},
		{Links, "[a](http://x/1 \"t\") <http://y> http://z/a, [b][r]\n\n[r]: http://w", `http://x/1 "t" ¦ http://y ¦ http://w ¦ http://z/a`},
		{Links, "see Www.example.com, http:a and https://x/{{ id }}/y.", "Www.example.com ¦ http:a ¦ https://x/{{ id }}/y"},
		{Images, "![alt](a.png)", "![alt](a.png)"},
		{Code, "`a 1`\n\n```go\nx := 1\n```\n\n    y", "`a 1` ¦ ```go\nx := 1 ¦ ```\ny"},
		{Code, "So $a+b$ and $$x$$ cost $5 or $6, \\\\(y\\\\) and $z$.", `$a+b$ ¦ $$x$$ ¦ \(y\) ¦ $z$`},
		{Footnotes, "a[^1] b[^n]\n\n[^1]: one\n[^n]: see here\n", "[^1] ¦ [^n] ¦ [^1]: one ¦ [^n]: see here"},
		{Citations, "so [12] and [3, 4], [@smith2020, p. 3], (Smith et al., 2020), Smith (2020)", "[12] ¦ [3 4] ¦ [@smith2020 p. 3] ¦ (Smith et al. 2020) ¦ Smith (2020)"},
		{Quotations, "“one” \"two\" «three» it's Bob's\n\n> four", "one ¦ two ¦ three ¦ four"},
		{Quotations, "„one“ „two” »three« 「four」 ‘five’, ‘don’t’ ‘s’ “ten “eleven” \"", "one ¦ two ¦ three ¦ four ¦ five ¦ eleven"},
		{Headings, "# A\n\nb\n===\n\n### c", "# A ¦ # b ¦ ### c"},
		{Tables, "| a | b |\n|---|---|\n| 1 | `x` |", "| a | b | ¦ | 1 | x |"},
		{Placeholders, "{{name}} {x} %s ${y} %(z)s 5%", "{{name}} ¦ {x} ¦ %s ¦ ${y} ¦ %(z)s"},
		{Placeholders, "https://x/{{ id }}/{n}", "{{ id }} ¦ {n}"},
		{Numbers, "p < .05, so.5 and ...7 or $.50", "<.05 ¦ .50 $ ¦ <"},
		{Markup, "a<br>b <!-- x --> ~~gone~~ c  \nd\n\n<!-- y\nz -->\n\n[//]: # (hidden)", "<br> ¦ <!-- x --> ¦ a hard line break ¦ ~~gone~~ ¦ <!-- y z --> ¦ [//]: # \"hidden\""},
		{Lists, "- [ ] a\n- [X] b", "[ ] ¦ [x]"},
		{Names, "Run it with --dry-run of config.yaml, e.g. on a laptop.So it ends", "--dry-run ¦ config.yaml"},
		{Names, "We met Alice. Bob uses snake_case and camelCase of R1.", "Alice ¦ snake_case ¦ camelCase ¦ R1"},
	} {
		var got []string
		for _, thing := range read(t, c.text).Of(c.kind) {
			got = append(got, thing.Text)
		}
		if s := strings.Join(got, " ¦ "); s != c.want {
			t.Errorf("%s of %q:\ngot  %q\nwant %q", c.kind, c.text, s, c.want)
		}
	}
}

// Of lists the things of a kind, as they are compared, in their order.
func (t Text) Of(kind Kind) (out []Thing) {
	for _, b := range t.Blocks {
		for _, thing := range b.All() {
			if thing.Kind == kind {
				out = append(out, thing)
			}
		}
	}
	return out
}

// What stands in another place is told once, where it stands now.
func TestMoved(t *testing.T) {
	const old, links = "There are 7 owls and 8 mice.", "See [a](https://a.x), [b](https://b.x)"
	for _, c := range []struct{ old, now, want string }{
		{old, "There are 8 owls and 7 mice.", "numbers: “8” stands in another place (line 1)"},
		{old, "There are 8 owls and 9 mice.", "numbers: “7” is gone (it was in line 1) ¦ numbers: “9” is new (line 1)"},
		{old, "There are 9 owls and 7 mice.", "numbers: “9” is new (line 1) ¦ numbers: “8” is gone (it was in line 1)"},
		{old, "There are 8 owls and 8 mice.", "numbers: “7” is now “8” (line 1)"},
		{links, "See [b](https://b.x), [a](https://a.x)", "links: “https://b.x” stands in another place (line 1)"},
		{"这项服务可以安全重启。", "这项服务不可以安全重启。", "turns: “这项服务可以安全重启” is now “这项服务不可以安全重启” (line 1)"},
		{"这项服务很好。", "这项服务很不错。", ""},
		{"データは暗号化される。", "データは暗号化されない。", "turns: “タは暗号化される” is now “タは暗号化されない” (line 1)"},
		{"データは暗号化される。", "データは暗号化されます。", ""},
		{"金曜日にはリリースしない。", "金曜日にはリリースしません。", ""},
		{"안전하게 재시작할 수 있습니다.", "안전하게 재시작할 수 없습니다.", "turns: “있습니다” is now “없습니다” (line 1)"},
		{"Данные шифруются всегда.", "Данные не шифруются всегда.", "turns: “не” is new (line 1)"},
		{"Tjenesten er sikker der.", "Tjenesten er ikke sikker der.", "turns: “ikke” is new (line 1)"},
		{"Keep the file in /etc/app there.", "Keep the file in /tmp/app there.", "names: “/etc/app” is now “/tmp/app” (line 1)"},
		{"Keep this and/or that file there.", "Keep that and/or this file there.", ""},
		{"Payment is due within 30 days.", "Payment is due after 30 days.", "turns: “within” is now “after” (line 1)"},
		{"The service is stateless there.", "The service is stateful there.", "turns: “stateless” is now “stateful” (line 1)"},
		{"Take 5 mg twice daily.", "Take 5 mg daily.", "turns: “twice” is gone (it was in line 1)"},
		{"Both parties sign it.", "One party signs it.", "turns: “both” is now “one” (line 1)"},
		{"He lacks access to it.", "He has access to it.", "turns: “lacks” is now “has” (line 1)"},
		{"The limit is 10 MB/s there.", "The limit is 10 Mb/s there.", "numbers: “10 MB/s” is now “10 Mbps” (line 1)"},
		{"It is minus 5 °C there.", "It is 5 °C there.", "numbers: “-5 °C” is now “5 °C” (line 1)"},
		{"It is minus 5 °C there.", "It is -5 °C there.", ""},
		{"Es sind zwölf Knoten.", "Es sind 12 Knoten.", ""},
		{"Es sind zwölf Knoten.", "Es sind dreizehn Knoten.", "numbers: “12” is now “13” (line 1)"},
		{"Il y a douze noeuds.", "Il y a treize noeuds.", "numbers: “12” is now “13” (line 1)"},
		{"Hay doce nodos en la red.", "Hay trece nodos en la red.", "numbers: “12” is now “13” (line 1)"},
		{"Ci sono dodici nodi nella rete.", "Ci sono tredici nodi nella rete.", "numbers: “12” is now “13” (line 1)"},
		{"Ci sono dodici nodi nella rete.", "Ci sono 12 nodi nella rete.", ""},
		{"Há doze nós na rede.", "Há treze nós na rede.", "numbers: “12” is now “13” (line 1)"},
		{"Er zijn twaalf knopen daar.", "Er zijn 12 knopen daar.", ""},
		{"Det finns tolv noder i nätet.", "Det finns tretton noder i nätet.", "numbers: “12” is now “13” (line 1)"},
		{"Il servizio non è sicuro oggi.", "Il servizio è sicuro oggi.", "turns: “non” is gone (it was in line 1)"},
		{"O serviço não é seguro hoje.", "O serviço é seguro hoje.", "turns: “não” is gone (it was in line 1)"},
		{"De dienst is niet veilig vandaag.", "De dienst is veilig vandaag.", "turns: “niet” is gone (it was in line 1)"},
		{"Tjänsten är inte säker idag.", "Tjänsten är säker idag.", "turns: “inte” is gone (it was in line 1)"},
		{"Call it with -n to be sure of that.", "Call it with -f to be sure of that.", "names: “-n” is now “-f” (line 1)"},
		{"共有12个节点在网络中。", "共有13个节点在网络中。", "numbers: “12” is now “13” (line 1)"},
		{"共有12个节点在网络中。", "网络中共有12台节点。", ""},
		{"There are hundreds of owls.", "There are thousands of owls.", "turns: “hundreds” is now “thousands” (line 1)"},
		{"It is the seventh of them.", "It is the eighth of them.", "turns: “seventh” is now “eighth” (line 1)"},
		{"Half of them agree.", "A quarter of them agree.", "turns: “half” is now “quarter” (line 1)"},
		{"It takes a few minutes.", "It takes a few hours.", "turns: “minutes” is now “hours” (line 1)"},
		{"It is kept for a week.", "It is kept for one month.", "numbers: “1 month” is new (line 1) ¦ turns: “week” is now “month” (line 1)"},
		{"It is at noon there.", "It is at midnight there.", "turns: “noon” is now “midnight” (line 1)"},
		{"Es läuft vor der Prüfung.", "Es läuft nach der Prüfung.", "turns: “vor” is now “nach” (line 1)"},
		{"Es läuft am 5. Mai dort.", "Es läuft am 5. Juni dort.", "turns: “mai” is now “juni” (line 1)"},
		{"Il tourne le lundi ici.", "Il tourne le mardi ici.", "turns: “lundi” is now “mardi” (line 1)"},
		{"Todos los nodos son nuevos.", "Algunos nodos son nuevos.", "turns: “todos” is now “algunos” (line 1)"},
		{"The minute it ends, he goes.", "As soon as it ends, he goes.", ""},
		{"Here all of them agree.", "Here most of them agree.", "turns: “all” is now “most” (line 1)"},
		{"It ends at once, unless the owner of it agrees in writing. So it is.", "It ends at once. So it is.", "turns: “unless the owner of it agrees in writing” is gone (it was in line 1)"},
		{"If the file is missing, it ends at once. So it is.", "It stops at once. So it is.", "turns: “if the file is missing” is gone (it was in line 1)"},
		{"It ends at once. So it always was.", "It ends at once, if the file is missing. So it always was.", "turns: “if the file is missing” is new (line 1)"},
		{"It ends at once. So it is. It is so.", "It is so. It ends there, provided that the owner agrees. So it is.", "turns: “there provided that the owner agrees” is new (line 1)"},
		{"It copies the log to the disk that is beside it, and it is not safe to stop it there.", "It copies the log to the disk that is beside it.", "turns: “and it is not safe to stop it there” is gone (it was in line 1)"},
		{"Der Lauf endet noch am selben Tag, sofern keiner es anders will.", "Der Lauf endet noch am selben Tag.", "turns: “sofern keiner es anders will” is gone (it was in line 1)"},
		{"It ends at once, unless the owner of it agrees.", "Unless the owner of it agrees, it ends at once.", ""},
		{"If the file is missing, it ends.", "Where the file is missing, it ends there.", ""},
		{"It is safe to restart.", "It is safe to restart, for instance if there was an update of it.", ""},
		{"It is safe to restart there.", "It is safe to restart there. If you are in doubt, ask.", ""},
		{"The file is accepted there.", "The file is refused there.", "turns: “accepted” is now “refused” (line 1)"},
		{"The call is denied there.", "The call is refused there.", ""},
		{"The file is trusted there.", "The file is untrusted there.", "turns: “trusted” is now “untrusted” (line 1)"},
		{"The step is irreversible there.", "The step is reversible there.", "turns: “irreversible” is now “reversible” (line 1)"},
		{"The key is added there.", "The key is removed there.", "turns: “added” is now “removed” (line 1)"},
		{"The key is missing there.", "The key is present there.", "turns: “missing” is now “present” (line 1)"},
		{"The tests suggest that it helps.", "The tests prove that it helps.", "turns: “suggest” is now “prove” (line 1)"},
		{"The tests show that it helps.", "The tests suggest that it helps.", "turns: “show” is now “suggest” (line 1)"},
		{"The tests suggest that it helps there.", "The tests hint that it helps there.", ""},
		{"Copy it from the staging server to the production server.", "Copy it from the production server to the staging server.", "turns: “staging … production” is now “production … staging” (line 1)"},
		{"Use --force to overwrite and --dry-run to preview.", "Use --dry-run to overwrite and --force to preview.", "turns: “force … dry-run” is now “dry-run … force” (line 1)"},
		{"The auditor reports to the owner.", "The owner reports to the auditor.", "turns: “auditor … owner” is now “owner … auditor” (line 1)"},
		{"Bring pens and paper to it.", "Bring paper and pens to it.", ""},
		{"Bring pens, ink and paper to it.", "Bring paper, ink and pens to it.", ""},
		{"It usually works for them.", "Usually it works for them.", ""},
		{"It rose 5 percent.", "It rose 5%.", ""},
		{"You can not leave.", "You cannot leave.", ""},
		{"A well known tool.", "A well-known tool.", ""},
		{"It is not safe.", "It isn't safe.", ""},
		{"It is not safe.", "It isn't.", "passages: “It is not safe.” is gone (it was in line 1)"},
		{"Smoking is associated with cancer.", "Smoking causes cancer.", "passages: “Smoking is associated with cancer.” is gone (it was in line 1)"},
		{"The range is inclusive of both ends.", "The range is exclusive of both ends.", "turns: “inclusive” is now “exclusive” (line 1)"},
		{"Rotate the old key there.", "Rotate the new key there.", "turns: “old” is now “new” (line 1)"},
		{"It is reviewed every quarter.", "It is reviewed every year.", "turns: “quarter” is now “year” (line 1)"},
		{"Il cliente deve pagare oggi.", "Il cliente può pagare oggi.", "turns: “deve” is now “può” (line 1)"},
		{"De klant moet vandaag betalen.", "De klant mag vandaag betalen.", "turns: “moet” is now “mag” (line 1)"},
		{"Клиент должен платить сегодня.", "Клиент может платить сегодня.", "turns: “должен” is now “может” (line 1)"},
		{"Port není otevřený ven.", "Port je otevřený ven.", "turns: “není” is now “je” (line 1)"},
		{"Portti on auki ulos.", "Portti ei ole auki ulos.", "turns: “on” is now “ei ole” (line 1)"},
		{"A kapu nyitva van kifelé.", "A kapu nincs nyitva kifelé.", "turns: “nincs” is new (line 1)"},
		{"Η θύρα είναι ανοιχτή σήμερα.", "Η θύρα δεν είναι ανοιχτή σήμερα.", "turns: “δεν” is new (line 1)"},
		{"הפורט פתוח היום כאן.", "הפורט אינו פתוח היום כאן.", "turns: “אינו” is new (line 1)"},
		{"المنفذ مفتوح اليوم هنا.", "المنفذ ليس مفتوحا اليوم هنا.", "turns: “مفتوح” is now “ليس مفتوحا” (line 1)"},
		{"पोर्ट आज खुला है।", "पोर्ट आज खुला नहीं है।", "turns: “नहीं” is new (line 1)"},
		{"Port terbuka untuk umum.", "Port tidak terbuka untuk umum.", "turns: “tidak” is new (line 1)"},
		{"Cổng này đang mở.", "Cổng này không mở.", "turns: “đang” is now “không” (line 1)"},
		{"Port je otvoren danas.", "Port nije otvoren danas.", "turns: “je” is now “nije” (line 1)"},
		{"บริการนี้ปลอดภัยวันนี้", "บริการนี้ไม่ปลอดภัยวันนี้", "turns: “บริการนี้ปลอดภัยวันนี้” is now “บริการนี้ไม่ปลอดภัยวันนี้” (line 1)"},
		{"The upper limit is for new ones.", "The lower limit is for new ones.", "turns: “upper” is now “lower” (line 1)"},
		{"It is voluntary for them there.", "It is compulsory for them there.", "turns: “voluntary” is now “compulsory” (line 1)"},
		{"Das Ventil ist jetzt offen.", "Das Ventil ist jetzt geschlossen.", "turns: “offen” is now “geschlossen” (line 1)"},
		{"Solo los administradores borran proyectos.", "Los administradores borran proyectos.", "turns: “Solo” is gone (it was in line 1)"},
		{"Seuls les administrateurs suppriment des projets.", "Les administrateurs suppriment des projets.", "turns: “Seuls” is gone (it was in line 1)"},
		{"Le passage est gratuit ici.", "Le passage est payant ici.", "turns: “gratuit” is now “payant” (line 1)"},
		{"La puerta está abierta ahora.", "La puerta está cerrada ahora.", "turns: “abierta” is now “cerrada” (line 1)"},
		{"The colour of the centre tile is grey.", "The color of the center tile is gray.", ""},
		{"We analyse the behaviour of the organisation.", "We analyze the behavior of the organization.", ""},
		{"We analyse the behaviour of the organisation.", "They paint a wall on every second side.", "passages: “We analyse the behaviour of the organisation.” is gone (it was in line 1)"},
		{"A lot of people dont know it.", "A lot of people don't know it.", ""},
		{"A lot of people dont know it.", "A lot of people do know it.", "turns: “not” is gone (it was in line 1)"},
		{"The seller pays the tax.", "The buyer pays the tax.", "turns: “seller” is now “buyer” (line 1)"},
		{"Send the form to the side there.", "Send the form into the side here.", ""},
		{"It begins so.", "It ends so.", ""},
		{"They begin at noon.", "They end at noon.", "turns: “begin” is now “end” (line 1)"},
		{"The check passes here.", "The check fails here.", "turns: “passes” is now “fails” (line 1)"},
		{"It runs at 10 am there.", "It runs at 10 pm there.", "dates: “10 am” is now “10 pm” (line 1)"},
		{"It runs twice a day.", "It runs once a day.", "turns: “twice” is now “once” (line 1)"},
		{"It holds that x < y.", "It holds that x > y.", "numbers: “<” is now “>” (line 1)"},
		{"It grows as x² does.", "It grows as x³ does.", "numbers: “²” is now “³” (line 1)"},
		{"It holds that x <= y.", "It holds here that x ≤ y.", ""},
		{"The sum $a+b$ is it.", "The sum $a-b$ is it.", "code: “$a+b$” is now “$a-b$” (line 1)"},
		{"Edit config.yaml. Save config.yaml.", "Edit and save config.yaml.", ""},
		{"Please edit config.yaml there.", "Please edit other.yaml there.", "names: “config.yaml” is now “other.yaml” (line 1)"},
		{"Run it with --dry-run there.", "Run it with --force there.", "names: “--dry-run” is now “--force” (line 1)"},
		{"The *two keys* and **R1** are 5, or *6*.", "The _two keys_ and __R1__ are 5, or _6_.", ""},
		{"**One thing.** More of *it.* So it is.", "__One thing.__ More of _it._ So it is.", ""},
		{"It exits non-zero, and a two-sided one is it.", "It exits non-zero and a two-sided one is it.", ""},
		{"It has 5,000-line files of 8 MB there.", "It has 5000-line files of 8 megabytes there.", ""},
		{"It has 5,000-line files of 8 MB there.", "It has 6,000-line files of 8 GB there.", "numbers: “5000” is now “6000” (line 1) ¦ numbers: “8 MB” is now “8 GB” (line 1)"},
		{"See the Windlass's page of it.", "See the Windlass’s page of it.", ""},
		{"# The **two** of it\n\n| *a* | 5* |\n|---|---|\n| b | *c* |", "# The two of it\n\n| a | 5* |\n|---|---|\n| **b** | c |", ""},
		{"| 5* |\n|---|\n| 2 * 3 * 4 |", "| 5 |\n|---|\n| 2 3 4 |", "tables: “| 5* |” is now “| 5 |” (line 1) ¦ tables: “| 2 * 3 * 4 |” is now “| 2 3 4 |” (line 3)"},
		{"See [here](a), [`x`](b), [here](c) and [`y`](d); so it is.", "See [here](a), [`x`](b), [here](c) and [`y`](d). So it is.", ""},
		{"See [here](a), [`x`](b), [here](c) and [`y`](d).", "See [here](a), [`y`](b), [here](c) and [`x`](d).", "code: “`y`” stands in another place (line 1) ¦ links: “y → d” is now “y → b” (line 1) ¦ links: “x → b” is now “x → d” (line 1)"},
		{"| a |\n|---|\n| It's \"so\" |", "| a |\n|---|\n| It’s “so” |", ""},
		{"| a |\n|---|\n| `\"so\"` |", "| a |\n|---|\n| `“so”` |", "tables: “| \"so\" |” is now “| “so” |” (line 3)"},
		{"| wait | how long it waits |\n|---|---|\n| `tries` | 10,000 |", "| `wait` | how long it `waits` |\n|---|---|\n| tries | 10000 |", ""},
		{"| a |\n|---|\n| \ufffc `x` |", "| a |\n|---|\n| \ufffc `y` |", "tables: “| \ufffc \ufffc `x` |” is now “| \ufffc \ufffc `y` |” (line 3)"},
		{"| wait |\n|---|\n| `tries` |", "| wait |\n|---|\n| `trials` |", "tables: “| tries |” is now “| trials |” (line 3)"},
		{"| a |\n|---|\n| b |\n\n| a |\n|---|\n| c |", "| **a** |\n|---|\n| b |\n\n| a |\n|---|\n| c |", ""},
		{"One:\n\n`a.go`, new:\n\nThere are 5 of it.", "One:\n\n`a.go`, new: There are 5 of it.", ""},
		{"It holds that 95 % = 3 here.\n\nThere are 8 and 9 of these.", "It holds that 95 % = 3 here. There are 8 and 9 of these.", ""},
		{"It is not so, and they do not go.", "It isn't so, and they don’t go.", ""},
		{"It is not so, and they do not go.", "It is so, and they don't go.", "turns: “not” is gone (it was in line 1)"},
		{"It isn't so, and they go.", "It is so, and they go.", "turns: “not” is gone (it was in line 1)"},
		{"## The `first` key's\n\nText.", "## The `second` key's\n\nText.", "headings: “## The first key's” is now “## The second key's” (line 1)"},
		{"## The `first` key's\n\nText.", "The first key’s\n---\n\nText.", ""},
		{"The *key* is 1 a_b_c of _private there.", "The _key_ is 1 abc of _private there.", "names: “a_b_c” is gone (it was in line 1)"},
		{"The _key_ is 5, or _6_.", "The *key* is 5, or *7*.", "numbers: “6” is now “7” (line 1)"},
		{"Run make check and open config.yaml.", "Run `make check` and open `config.yaml`.", ""},
		{"Call `a_b`, which calls `a_b`.\n\n`x`", "Call a_b, which calls `a_b`.\n\nx", "code: “`x`” is gone (it was in line 3)"},
		{"Set timeout_ms to 300 here, and no more.", "Set `timeout_ms` to `300` here, and no more.", ""},
		{"Set timeout_ms to 300 here, and no more.", "Set `timeout_ms` to `301` here, and no more.", "code: “`301`” is new (line 1) ¦ numbers: “300” is gone (it was in line 1)"},
		{"Run `start` before stop.", "Run `stop` before start.", "code: “`start`” is now “`stop`” (line 1) ¦ turns: “stop” is now “start” (line 1)"},
		{"Run it with --dry-run there.", "Run it with `--force` there.", "code: “`--force`” is new (line 1) ¦ names: “--dry-run” is gone (it was in line 1)"},
	} {
		var told []string
		for _, change := range Compare(read(t, c.old), read(t, c.now)) {
			told = append(told, change.String())
		}
		if got := strings.Join(told, " ¦ "); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.now, got, c.want)
		}
	}
}

// Sentences are looked at once each, not once for every other one.
func TestCompareIsLinear(t *testing.T) {
	took := func(sentences int) float64 {
		old := strings.Repeat("Nobody is on board here. ", sentences)
		now := strings.Repeat("Nobody is. ", sentences) + strings.Repeat("The crew went ashore at noon. ", sentences)
		return testing.AllocsPerRun(1, func() { Compare(read(t, old), read(t, now)) })
	}
	if few, many := took(100), took(1000); many > 15*few {
		t.Errorf("%.0f allocations for 100 sentences, %.0f for 1000", few, many)
	}
}
