package languages

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/tables"
)

// sentences are texts of a few words and of a dozen, each with the code of its
// language.
var sentences = [][2]string{
	{"en", "The weather was fine and we walked along the river until evening."},
	{"en", "Please restart the server."},
	{"en", "No errors were found in the report."},
	{"en", "Short answer: yes."},
	{"de", "Das Wetter war schön und wir gingen bis zum Abend am Fluss entlang."},
	{"de", "Bitte starten Sie den Server neu."},
	{"de", "Im Bericht wurden keine Fehler gefunden."},
	{"fr", "Il faisait beau et nous avons marché le long de la rivière."},
	{"fr", "Veuillez redémarrer le serveur."},
	{"fr", "Aucune erreur n'a été trouvée dans le rapport."},
	{"es", "Hacía buen tiempo y caminamos por el río hasta la noche."},
	{"es", "Por favor, reinicie el servidor."},
	{"es", "No se encontraron errores en el informe."},
	{"it", "Il tempo era bello e abbiamo camminato lungo il fiume fino a sera."},
	{"it", "Si prega di riavviare il server."},
	{"it", "Nel rapporto non sono stati trovati errori."},
	{"pt", "O tempo estava bom e caminhamos ao longo do rio até a noite."},
	{"", "Por favor, reinicie o servidor."},
	{"pt", "Não foram encontrados erros no relatório."},
	{"nl", "Het weer was mooi en we liepen tot de avond langs de rivier."},
	{"nl", "Start de server opnieuw op."},
	{"nl", "Er zijn geen fouten gevonden in het rapport."},
	{"sv", "Vädret var fint och vi gick längs floden till kvällen."},
	{"sv", "Starta om servern."},
	{"sv", "Inga fel hittades i rapporten."},
	{"da", "Vejret var godt, og vi gik langs floden indtil aften."},
	{"", "Været var fint, og vi gikk langs elva til kvelden."},
	{"pl", "Pogoda była ładna i szliśmy wzdłuż rzeki aż do wieczora."},
	{"pl", "Proszę ponownie uruchomić serwer."},
	{"cs", "Počasí bylo pěkné a šli jsme podél řeky až do večera."},
	{"cs", "Státní dráhy mají zítra větší zpoždění."},
	{"cs", "Král má pět dcer a dva syny."},
	{"sk", "Štátne dráhy majú zajtra väčšie meškanie."},
	{"sk", "Nie je pravda, že by to bolo drahé."},
	{"pl", "Mój brat mówi po polsku bardzo dobrze."},
	{"nl", "België en Italië zijn mooie landen in Europa."},
	{"", "Sää oli kaunis ja kävelimme joen vartta iltaan asti."},
	{"fi", "Raportista ei löytynyt virheitä, ja työ on valmis, mutta se ei ole vielä kaikki."},
	{"hu", "Szép idő volt, és estig sétáltunk a folyó mentén."},
	{"tr", "Hava güzeldi ve akşama kadar nehir boyunca yürüdük."},
	{"ro", "Vremea era frumoasă și am mers de-a lungul râului până seara."},
	{"ru", "Погода была хорошая, и мы гуляли вдоль реки до вечера."},
	{"uk", "Погода була гарна, і ми гуляли вздовж річки до вечора."},
	{"bg", "Времето беше хубаво и вървяхме покрай реката до вечерта."},
	{"el", "Ο καιρός ήταν καλός και περπατήσαμε κατά μήκος του ποταμού."},
	{"ar", "كان الطقس جميلا ومشينا على طول النهر حتى المساء."},
	{"fa", "هوا خوب بود و ما تا عصر در کنار رودخانه قدم زدیم."},
	{"he", "מזג האוויר היה נאה והלכנו לאורך הנהר עד הערב."},
	{"zh", "天气很好，我们沿着河边走到傍晚。"},
	{"ja", "天気が良かったので、夕方まで川沿いを歩きました。"},
	{"ko", "날씨가 좋아서 저녁까지 강을 따라 걸었습니다."},
	{"hi", "मौसम अच्छा था और हम शाम तक नदी के किनारे चलते रहे।"},
	{"vi", "Thời tiết đẹp và chúng tôi đi dọc bờ sông cho đến tối."},
	{"id", "Cuaca cerah dan kami berjalan di sepanjang sungai sampai malam."},
	{"", "Docker Compose Kubernetes PostgreSQL"},
	{"", "Privet kak dela moy drug"},
	{"", "12:30 42 % → !"},
	{"", "foo_bar baz qux"},
	{"", ""},
	{"zh", "使用 Docker Compose 部署 Kubernetes 集群"},
	{"en", "The Greek letter π is written in the text and means nothing here."},
	{"sr", "Време је било лепо и шетали смо поред реке до вечери."},
	{"hr", "Vrijeme je bilo lijepo i šetali smo uz rijeku do večeri."},
	{"sl", "Vreme je bilo lepo in hodili smo ob reki vse do večera."},
	{"sk", "Počasie bolo pekné a išli sme popri rieke až do večera."},
	{"ca", "Feia bon temps i vam caminar per la vora del riu fins al vespre."},
	{"et", "Ilm oli ilus ja me kõndisime mööda jõge kuni õhtuni."},
	{"lt", "Oras buvo gražus ir mes ėjome palei upę iki vakaro."},
	{"lv", "Laiks bija jauks un mēs gājām gar upi līdz vakaram."},
	{"ur", "تمام انسان آزاد اور حقوق و عزت کے اعتبار سے برابر پیدا ہوئے ہیں۔"},
	{"mr", "हवामान चांगले होते आणि आम्ही संध्याकाळपर्यंत नदीकाठी चालत होतो. हे छान आहे."},
	{"th", "อากาศดีและเราเดินไปตามแม่น้ำจนถึงเย็น"},
	{"ka", "ამინდი კარგი იყო"},
	{"no", "Komiteen møttes tirsdag for å drøfte neste års budsjett."},
	{"sk", "Výbor sa zišiel v utorok, aby prerokoval rozpočet na budúci rok."},
	{"cs", "Výbor se sešel v úterý, aby projednal rozpočet na příští rok."},
}

func TestSentences(t *testing.T) {
	for _, s := range sentences {
		if got := Of(s[1]); got.Code != s[0] {
			t.Errorf("%s: got %q, want %q", s[1], got.Code, s[0])
		}
	}
}

// TestEither checks sentences that are possible in a few languages.
func TestEither(t *testing.T) {
	for text, want := range map[string]string{
		"Ingen forventede en hurtig beslutning, men afstemningen var over på ti minutter.": "da no",
		"Por favor, reinicie o servidor.":      "es pt",
		"The weather was fine and we walked.":  "en",
		"天气很好，我们沿着河边走到傍晚。":                     "zh",
		"Docker Compose Kubernetes PostgreSQL": "",
		"foo_bar baz qux":                      "",
		"第三回定期総会議事録":                           "zh ja",
		"设置":                                   "zh ja",
		"装置由两部分组成。":                            "zh",
		"使用 Docker 部署":                         "zh",
	} {
		if got := strings.Join(Of(text).Either, " "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestTable runs both sentences of each row.
func TestTable(t *testing.T) {
	if err := tables.Check(wordTable, func(row tables.Row, line string) bool { return Of(line).Code == row["code"] }); err != nil {
		t.Error(err)
	}
}
