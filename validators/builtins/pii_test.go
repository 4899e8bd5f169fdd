package builtins

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators"
)

func TestPII(t *testing.T) {
	for text, kind := range map[string]string{
		// mail addresses
		"write to ann.lee+news@mail.example.org.": "mail", "<o'neil@example.co.uk>": "mail", "ann@example": "", "@ann on the list": "", "git@v1": "", "?to=ann@example.org&x=1": "mail", "邮箱ann@example.org": "mail",
		// accounts of many countries
		"DE89370400440532013000": "iban", "DE89 3704 0044 0532 0130 00 THANK YOU": "iban", "GB82 WEST 1234 5698 7654 32": "iban",
		"FR14 2004 1010 0505 0001 3M02 606": "iban", "NL91ABNA0417164300": "iban", "ES91 2100 0418 4502 0005 1332": "iban",
		"IT60X0542811101000000123456": "iban", "CH93 0076 2011 6238 5295 7": "iban", "SE45 5000 0000 0583 9825 7466": "iban",
		"PL61 1090 1014 0000 0712 1981 2874": "iban", "NO93 8601 1117 947": "iban", "BE68-5390-0754-7034": "iban",
		"DE89370400440532013001": "", "DE8937040044053201300": "", "ZZ89370400440532013000": "",
		"gb82 west 1234 5698 7654 32": "iban", "de89370400440532013000": "iban", "De89 3704 0044 0532 0130 00": "iban", "DE89.3704.0044.0532.0130.00": "iban", "nl91abna0417164300": "iban",
		"de89370400440532013001": "", "gb82 west 1234 5698 7654 33": "", "be68539007547034a": "", "ad12f00a1b2c3d4e5f607182": "",
		// cards
		"4111.1111.1111.1111": "card", "4111/1111/1111/1111": "card", "4111.1111.1111.1112": "", "1.4111.1111.1111.1111": "", "2019/2020/2021/2022": "", "4111.1111/1111.1111": "",
		"4111 1111 1111 1111": "card", "card 5555-5555-5555-4444, please": "card", "378282246310005": "card", "6011111111111117": "card",
		"3530111333300000": "card", "30569309025904": "card", "4111 1111 1111 1112": "", "0.4111111111111111": "", "card=4111111111111111&x": "card", "卡号4111111111111111。": "card", "v0-4111111111111111": "", "1234567812345670": "", "4340000000000001": "", "4000 0000 0000 0002": "card",
		// next to another number
		"4111 1111 1111 1111 12/27": "card", "4111 1111 1111 1111 123": "card", "2024-08-15 4111 1111 1111 1111": "card", "4111-1111-1111-1111 2025": "card",
		"12 3782 822463 10005 1234": "card", "2024-08-15 4111 1111 1111 1112": "", "4111 1111 1111 1111 1": "card", "4111 1111 1111 11 11 12": "", "3000 4111 1111 1111 1111 3000": "", "4111 1111 1111 11112 1": "",
		"RE20240815 DE89370400440532013000": "iban", "RE20240815 DE89370400440532013001": "", "AB12 GB82 WEST 1234 5698 7654 32 20240815": "iban", "ABCDE89370400440532013000": "",
		"2024 86 095 742 719": "national_id",
		// identity numbers
		"12345678Z": "national_id", "12345678A": "", "X1234567L": "national_id", "X-1234567-M": "",
		"RSSMRA85T10A562S": "national_id", "RSSMRA85Q10A562S": "",
		"1 84 12 76 451 089 46": "national_id", "184127645108946": "national_id", "1 84 12 76 451 089 47": "",
		"11010519491231002X": "national_id", "110105194912310021": "",
		"756.9217.0769.85": "national_id", "756.9217.0769.84": "",
		"111.444.777-35": "national_id", "111.444.777-36": "", "111.111.111-11": "",
		"85.07.30-033.28": "national_id", "85.07.30-033.29": "",
		"811218-9876": "national_id", "19811218-9876": "national_id", "811218-9875": "", "811318-9876": "",
		"131052-308T": "national_id", "131052-308U": "",
		"86095742719": "national_id", "86 095 742 719": "national_id", "86095742718": "",
		"44051401359": "national_id", "44051401358": "", "02070803628": "national_id",
		// IP addresses
		"from 8.8.8.8 at noon": "ip", "10.1.2.3:8080": "ip", "http://8.8.8.8/x": "ip", "8.8.8.8/24": "ip", "root@8.8.4.4": "ip", "127.0.0.1": "", "192.0.2.7": "", "256.1.1.1": "", "v1.2.3.4": "",
		"2a00:1450:4001:82a::200e": "ip", "fe:dead:beef:cafe:fade:face:babe:add": "ip", "2001:db8::1": "", "12:30:45": "",
		"use DB::add for it": "", "DB::Bad": "", "fe80::1": "ip", "DB::add::2": "", "2a00::add": "ip", "fe:dad::add": "ip",
		// phone numbers of many countries
		"+49 30 901820": "phone", "+44 20 7946 0958": "phone", "+33 1 23 45 67 89": "phone", "+1 (212) 555-0187": "phone", "(212) 555-0187": "phone",
		"212-555-0187": "phone", "+39 06 698 1234": "phone", "+34 912 345 678": "phone", "+46 8 123 456 78": "phone", "+41 44 668 18 00": "phone",
		"030 90182000": "phone", "01 23 45 67 89": "phone", "0049 30 901820": "phone", "2024-01-02": "", "1 000 000": "", "0123": "",
		"1-800-555-0199": "phone", "1.212.555.0187": "phone", "1-800-555-01990": "", "21-800-555-0199": "", "06.12.34.56.78": "phone", "06.12.34.56.78.90": "", "01.02.2024 12:30": "", "01-02-2024 12:30": "", "01/02/2024 12:30": "", "030/12 34 2024": "phone", "v06.12.34.56.78": "",
		"+49 (0)30 901820": "phone", "+44 (0) 20 7946 0958": "phone", "(030) 90 18 20 00": "phone", "089 / 12 34 56 78": "phone", "+41 44 / 668 18 00": "phone", "(11) 91234-5678": "phone",
		"Science (1998) 279 1843.": "", "05 / 12 / 2024 10": "", "09/2024 0123": "", "bill 03/2024 12345": "", "(2023) 12345": "",
		"Tel: 912345678": "phone", "Mobile: 9876543210": "phone", "Phone no: 555-0187": "phone", "тел. 8-916-123-45-67": "phone", "8 (495) 123-45-67": "phone", "8(495)123-45-67": "phone", "Phone.: (555) 0187": "phone",
		"Mobile: 2024-2025": "", "Telegraph: 123": "", "hotel: 1234567": "", "Tel Aviv 1234567": "", "Fax: 12": "", "score 18-916-123-45-67": "", "13812345678": "",
		"version 1.2.3.4": "", "Chapter 1.2.3.4 says": "", "Version: 1.2.3.4": "", "server 1.2.3.4": "ip", "versions at 1.2.3.4": "ip", "postgres://app@db.example.org:5432/x": "", "ssh://app@db.example.org/x": "", "see https://example.org/u/ann@example.org": "mail", "http://ann@example.org": "mail",
		"Ann Lee, 5 High Street, born on 1990-05-05.": "", "social security number: 536-22-8145": "national_id", "536-22-8145": "", "SSN 900-22-8145": "",
		// in the characters of print and other keyboards
		"DE89\u00a03704\u202f0044\u20090532\u00a00130\u00a000": "iban", "4111\u20111111\u20111111\u20111111": "card", "4111\u00a01111\u00a01111\u00a01112": "", "+49\u202f30\u2011901820": "phone", "212–555–0187": "phone",
		"４１１１ １１１１ １１１１ １１１１": "card", "ann＠example.org": "mail", "ann@exam\u00adple.org": "mail", "ann@müller.example": "mail", "4111\u200b111111111111": "card", "1914–1918": "",
		// no personal data
		"git@github.com:x/y.git": "", "ssh://git@github.com/x": "", "logo@2x.png": "", "gitta@github.com": "mail", "ann@2x.example.org": "mail",
		// more countries and networks
		"BY13NBRB3600900000002Z00AB00": "iban", "BY14NBRB3600900000002Z00AB00": "", "IQ98 NBIQ 8501 2345 6789 012": "iban", "VA59 0011 2300 0012 3456 78": "iban", "SV62CENR00000000000000700025": "iban",
		"2200 1721 2121 3913": "card", "2200 1721 2121 3914": "", "2205172121213913": "", "6759 6973 7963 6783": "card", "6759697379636784": "", "6012472652824412": "card", "3531 2345 6789 0121": "card", "3591234567890128": "", "5067 7647 8781 5133": "",
		"11010519491231002x": "national_id", "12.345.678-Z": "national_id", "12.345.678-A": "", "010190Y123M": "national_id", "010105C123P": "national_id", "010190G123M": "", "010190Y123L": "",
		"85.07.30-033-28": "national_id", "85073003328": "national_id", "85073003329": "", "85133003335": "", "900161-1236": "national_id", "900161-1237": "", "41029910098": "national_id", "41029910099": "",
		// next to escapes of JSON
		`{"text": "write to john.doe@corp.com\nthanks"}`: "mail", `john.doe@corp.com\u00fcber`: "mail", `"\n4111111111111111\n"`: "card", `\u20224111 1111 1111 1111\u2022`: "card",
		`a\tDE89 3704 0044 0532 0130 00\r\n`: "iban", `"Call\n212-555-0187\nnow"`: "phone", `\\n131052-308T\\n`: "national_id", `\n8.8.8.8\n`: "ip",
		`C:\4111111111111111\x`: "", `\d4111111111111111`: "", `\unit4111111111111111`: "",
	} {
		check, err := piiValidator.Bind(nil)
		if err != nil {
			t.Fatal(err)
		}
		v, err := check(t.Context(), validators.Subject{Content: "one\n" + text})
		got := ""
		if len(v.Issues) > 0 {
			got = v.Issues[0].Check
		}
		if err != nil || got != kind || v.Valid != (kind == "") {
			t.Errorf("%s: got %q (%s), %v, want %q", text, got, v.Reason, err, kind)
		}
		if kind != "" && (len(v.Issues) != 1 || v.Issues[0].Location != "line 2" || strings.Contains(v.Reason, text)) {
			t.Errorf("%s: got %+v", text, v)
		}
	}
}

func TestPIIParameters(t *testing.T) {
	const text = "ann@example.org, bo@example.com, 4111 1111 1111 1111, +49 30 901820"
	for _, c := range []struct {
		with map[string]any
		want string
	}{
		{nil, "mail mail card phone"},
		{map[string]any{"kinds": []any{"card"}}, "card"},
		{map[string]any{"allow": []any{"ANN@example.org", "+49 (30) 90-18-20"}}, "mail card"},
		{map[string]any{"allow": []any{"@example.com", "4111111111111111"}}, "mail phone"},
	} {
		check, err := piiValidator.Bind(c.with)
		if err != nil {
			t.Fatal(err)
		}
		v, err := check(t.Context(), validators.Subject{Content: text})
		var got []string
		for _, issue := range v.Issues {
			got = append(got, issue.Check)
		}
		if strings.Join(got, " ") != c.want || err != nil {
			t.Errorf("%v: got %v, %v, want %s", c.with, got, err, c.want)
		}
	}
	if _, err := piiValidator.Bind(map[string]any{"kinds": []any{"name"}}); err == nil || !strings.Contains(err.Error(), `no kind "name"`) {
		t.Errorf("got %v", err)
	}
}

// TestPIIFalseAlarms checks that a megabyte of ordinary prose contains no data with check digits.
// It logs the findings of the other kinds.
func TestPIIFalseAlarms(t *testing.T) {
	names := readmes(t)
	total, counts := 0, map[string]int{}
	check, err := piiValidator.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil || total > 1<<20 {
			continue
		}
		total += len(text)
		v, err := check(t.Context(), validators.Subject{Content: string(text)})
		if err != nil {
			t.Fatal(err)
		}
		for _, issue := range v.Issues {
			counts[issue.Check]++
			if issue.Check == "iban" || issue.Check == "card" || issue.Check == "national_id" {
				t.Errorf("%s, %s: %s", name, issue.Location, issue.Message)
			}
		}
	}
	if total < 100<<10 {
		t.Skipf("only %d bytes of prose", total)
	}
	t.Logf("%d bytes of %d files: %v", total, len(names), counts)
}

// readmes returns the READMEs of the modules in the cache, which are ordinary
// prose.
func readmes(t *testing.T) []string {
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Skip("no go")
	}
	var names []string
	for _, pattern := range []string{"*/*/*/README.md", "*/*/README.md", "*/*/*/*/README.md", "*/*/*/*/*/README.md", "*/*/*/*.md"} {
		found, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), pattern))
		names = append(names, found...)
	}
	return names
}

// FuzzShapes checks that data is found whatever line precedes or follows it.
func FuzzShapes(f *testing.F) {
	for _, line := range []string{"a@b.example", "DE89 3704 0044 0532 0130 00", "4222222222222", "8.8.8.8", "fe80:1::2", "+49 (30) 1234 56 7", "X1234567L", "756.9217.0769.85", "86 095 742 719"} {
		f.Add(line)
	}
	check, err := piiValidator.Bind(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		alone, err := check(t.Context(), validators.Subject{Content: text})
		if err != nil {
			t.Fatal(err)
		}
		around, err := check(t.Context(), validators.Subject{Content: "One.\n" + text + "\n+1 (212) 555-0187\n"})
		if err != nil || around.Valid || len(alone.Issues) < 20 && len(around.Issues) < len(alone.Issues) {
			t.Errorf("%q: %d findings alone, %d with a line before and after (%v)", text, len(alone.Issues), len(around.Issues), err)
		}
	})
}
