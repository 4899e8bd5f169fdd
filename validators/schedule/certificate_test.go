package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/validators/schedule/internal/statements"
)

// resign signs a certificate again, as an owner of the key can.
func resign(t *testing.T, c map[string]any) map[string]any {
	t.Helper()
	sign, err := newSigner(string(testPrivate))
	if err != nil {
		t.Fatal(err)
	}
	if !statements.Seal(statements.Certificate, sign, c) {
		t.Fatal("it cannot be signed")
	}
	return c
}

// certificateRows returns changes of a valid certificate, each with the code of its rejection.
// The changed certificates are signed again.
func certificateRows() map[string]struct {
	change func(c map[string]any)
	code   string
} {
	type row = struct {
		change func(c map[string]any)
		code   string
	}
	put := func(field string, value any) func(map[string]any) {
		return func(c map[string]any) { c[field] = value }
	}
	aged := func(age time.Duration) func(map[string]any) {
		return put("validation_timestamp", noon.Add(-age).Format(time.RFC3339Nano))
	}
	found := func(field string, value any) func(map[string]any) {
		return func(c map[string]any) { c["violations_found"].(map[string]any)[field] = value }
	}
	evidence := func(c map[string]any) map[string]any { return c["evidence"].(map[string]any) }
	lost := func(gate string) func(map[string]any) {
		return func(c map[string]any) { delete(evidence(c), gate) }
	}
	text := func(gate, field string, value any) func(map[string]any) {
		return func(c map[string]any) { evidence(c)[gate].(map[string]any)[field] = value }
	}
	return map[string]row{
		"as issued":             {func(map[string]any) {}, ""},
		"0 s old":               {aged(0), ""},
		"299 s old":             {aged(299 * time.Second), ""},
		"299.9 s old":           {aged(299900 * time.Millisecond), ""},
		"300 s old":             {aged(300 * time.Second), "STALE_CERTIFICATE"},
		"301 s old":             {aged(301 * time.Second), "STALE_CERTIFICATE"},
		"29 s ahead":            {aged(-29 * time.Second), ""},
		"30 s ahead":            {aged(-30 * time.Second), ""},
		"31 s ahead":            {aged(-31 * time.Second), "INVALID_TIMESTAMP"},
		"a year ahead":          {aged(-365 * 24 * time.Hour), "INVALID_TIMESTAMP"},
		"an offset":             {put("validation_timestamp", "2026-01-04T17:30:00+05:30"), ""},
		"an offset, old":        {put("validation_timestamp", "2026-01-04T12:00:00+05:30"), "STALE_CERTIFICATE"},
		"minus and no colon":    {put("validation_timestamp", "2026-01-04T07:00:00-0500"), ""},
		"no offset":             {put("validation_timestamp", "2026-01-04T12:00:00"), "INVALID_TIMESTAMP"},
		"no time":               {func(c map[string]any) { delete(c, "validation_timestamp") }, "INVALID_TIMESTAMP"},
		"null time":             {put("validation_timestamp", nil), "INVALID_TIMESTAMP"},
		"a number of seconds":   {put("validation_timestamp", 1767528000), "INVALID_TIMESTAMP"},
		"words":                 {put("validation_timestamp", "just now"), "INVALID_TIMESTAMP"},
		"NEEDS_REVIEW":          {put("validation_status", "NEEDS_REVIEW"), ""},
		"REJECTED":              {put("validation_status", "REJECTED"), "INVALID_STATUS"},
		"approved":              {put("validation_status", "approved"), "INVALID_STATUS"},
		"no status":             {func(c map[string]any) { delete(c, "validation_status") }, "INVALID_STATUS"},
		"critical":              {found("critical", 1), "INVALID_STATUS"},
		"vault":                 {found("vault", 1), "VAULT_VIOLATIONS_IN_CERT"},
		"vault as text":         {found("vault", "0"), "VAULT_VIOLATIONS_IN_CERT"},
		"vault 0.0":             {found("vault", 0.0), ""},
		"avoid":                 {found("avoid_tier", 1), "AVOID_VIOLATIONS_IN_CERT"},
		"avoid below 0":         {found("avoid_tier", -1), "AVOID_VIOLATIONS_IN_CERT"},
		"no avoid":              {func(c map[string]any) { delete(c["violations_found"].(map[string]any), "avoid_tier") }, "AVOID_VIOLATIONS_IN_CERT"},
		"53 items":              {put("items_validated", 53), "ITEM_COUNT_MISMATCH"},
		"54 items":              {put("items_validated", 54.0), ""},
		"55 items":              {put("items_validated", 55), "ITEM_COUNT_MISMATCH"},
		"\"54\" items":          {put("items_validated", "54"), "ITEM_COUNT_MISMATCH"},
		"another creator":       {put("creator_id", "cleo"), "CREATOR_MISMATCH"},
		"no creator":            {put("creator_id", nil), "CREATOR_MISMATCH"},
		"another schedule hash": {put("schedule_hash", strings.Repeat("0", 64)), "HASH_MISMATCH"},
		"no schedule hash":      {func(c map[string]any) { delete(c, "schedule_hash") }, "HASH_MISMATCH"},
		"a short hash":          {func(c map[string]any) { c["schedule_hash"] = c["schedule_hash"].(string)[:16] }, "HASH_MISMATCH"},
		"another avoid hash":    {put("avoid_types_hash", namesHash(nil)), "HASH_MISMATCH"},
		"another vault hash":    {put("vault_types_hash", namesHash(nil)), "HASH_MISMATCH"},
		"the page's name":       {put("creator_id", "ada_kitchen"), "CREATOR_MISMATCH"},
		"another week":          {put("week_start", "2026-01-06"), "WEEK_MISMATCH"},
		"no week":               {put("week_start", nil), "WEEK_MISMATCH"},
		"a week with its zone":  {put("week_start", "2026-01-05T00:00:00Z"), "WEEK_MISMATCH"},
		"a free page":           {put("page_type", "free"), "PAGE_TYPE_MISMATCH"},
		"another database":      {put("database_id", strings.Repeat("0", 32)), "DATABASE_MISMATCH"},
		"no database":           {put("database_id", ""), "DATABASE_MISMATCH"},
		"another policy":        {put("policy_digest", "sha256:"+strings.Repeat("0", 64)), "POLICY_MISMATCH"},
		"no policy":             {func(c map[string]any) { delete(c, "policy_digest") }, "POLICY_MISMATCH"},
		"version 1.0":           {put("certificate_version", "1.0"), "INVALID_FORMAT"},
		"version 2":             {put("certificate_version", 2), "INVALID_FORMAT"},
		"version 3.0":           {put("certificate_version", "3.0"), "INVALID_FORMAT"},
		"no version":            {func(c map[string]any) { delete(c, "certificate_version") }, "INVALID_FORMAT"},
		"one more field":        {put("note", "x"), "INVALID_FORMAT"},
		"no evidence":           {lost("schedule_variety"), "MISSING_EVIDENCE"},
		"no critic":             {lost("schedule_critic"), "MISSING_EVIDENCE"},
		"a gate's no":           {text("schedule_anomaly", "valid", false), "INVALID_STATUS"},
		"a gate's 1":            {text("schedule_anomaly", "valid", 1), "INVALID_STATUS"},
		"a gate that saw none":  {text("schedule_quality", "saw", ""), "MISSING_EVIDENCE"},
	}
}

func TestCertificateRows(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		good := h.certified(week(54))
		for name, row := range certificateRows() {
			t.Run(name, func(t *testing.T) {
				w := maps.Clone(good)
				c := copied(t, good["validation_certificate"])
				row.change(c)
				w["validation_certificate"] = resign(t, c)
				refusedAs(t, h, w, row.code)
			})
		}
	})
}

// refusedAs checks that the gate, and the gatekeeper in both phases, reject a certificate with
// exactly this code. If code is "", they must accept it.
func refusedAs(t *testing.T, h *house, w map[string]any, code string) {
	t.Helper()
	v := h.verdict(certificateGate, w, nil)
	soft := h.verdict(certificateGate, w, map[string]any{"phase": 1})
	saved := h.call(saveTool, saving(w))
	if code == "" {
		if !v.Valid || v.Status != statusApproved || saved.Failed || soft.Status != statusApproved {
			t.Errorf("refused: %s; save: %s", v.Reason, saved.Text())
		}
		return
	}
	expect{code: code, severity: "CRITICAL", status: statusRejected, returnTo: "quality-validator", refused: true}.check(t, v)
	expect{code: code, severity: "CRITICAL", status: statusWarning}.check(t, soft)
	if list := codes(v); len(list) != 1 {
		t.Errorf("codes %v, want only %s", list, code)
	}
	if !saved.Failed || !strings.Contains(saved.Text(), code) {
		t.Errorf("saved all the same: %s", saved.Text())
	}
}

func TestForgedCertificates(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		good := h.certified(week(54))
		private, _, err := Keygen()
		if err != nil {
			t.Fatal(err)
		}
		other, _ := newSigner(string(private))
		own, _ := newSigner(string(testPrivate))
		signature := good["validation_certificate"].(map[string]any)["certificate_signature"].(string)
		for name, row := range map[string]struct {
			change func(c map[string]any)
			code   string
		}{
			"no signature":        {func(c map[string]any) { delete(c, "certificate_signature") }, "BAD_SIGNATURE"},
			"the seed's":          {func(c map[string]any) { c["certificate_signature"] = "qv-a1b2c3d4-103045" }, "BAD_SIGNATURE"},
			"truncated":           {func(c map[string]any) { c["certificate_signature"] = signature[:40] }, "BAD_SIGNATURE"},
			"with more behind it": {func(c map[string]any) { c["certificate_signature"] = signature + "AAAA" }, "BAD_SIGNATURE"},
			"not a text":          {func(c map[string]any) { c["certificate_signature"] = true }, "BAD_SIGNATURE"},
			"another key":         {func(c map[string]any) { statements.Seal(statements.Certificate, other, c) }, "BAD_SIGNATURE"},
			"another key under this one's name": {func(c map[string]any) {
				id := c[statements.KeyIDField]
				statements.Seal(statements.Certificate, other, c)
				c[statements.KeyIDField] = id
			}, "BAD_SIGNATURE"},
			"for the critic":    {func(c map[string]any) { statements.Seal(statements.Critic, own, c) }, "BAD_SIGNATURE"},
			"a newline behind":  {func(c map[string]any) { c["certificate_signature"] = signature + "\n" }, "BAD_SIGNATURE"},
			"a newline inside":  {func(c map[string]any) { c["certificate_signature"] = signature[:30] + "\n" + signature[30:] }, "BAD_SIGNATURE"},
			"no padding":        {func(c map[string]any) { c["certificate_signature"] = strings.TrimRight(signature, "=") }, "BAD_SIGNATURE"},
			"no key's name":     {func(c map[string]any) { delete(c, statements.KeyIDField) }, "BAD_SIGNATURE"},
			"a number beyond":   {func(c map[string]any) { c["quality_score"] = 1<<53 + 1 }, "BAD_SIGNATURE"},
			"a better score":    {func(c map[string]any) { c["quality_score"] = 101 }, "BAD_SIGNATURE"},
			"an earlier second": {func(c map[string]any) { c["validation_timestamp"] = noon.Add(-time.Second).Format(time.RFC3339) }, "BAD_SIGNATURE"},
		} {
			t.Run(name, func(t *testing.T) {
				w := maps.Clone(good)
				c := copied(t, good["validation_certificate"])
				row.change(c)
				w["validation_certificate"] = c
				refusedAs(t, h, w, row.code)
			})
		}
		for name, c := range map[string]any{"none": nil, "a text": "{\"certificate_version\": \"1.0\", ", "a list": []any{}} {
			t.Run(name, func(t *testing.T) {
				w := maps.Clone(good)
				w["validation_certificate"] = c
				refusedAs(t, h, w, "CERTIFICATE_MISSING")
			})
		}
		v := h.verdict(certificateGate, map[string]any{"creator_id": "ada", "items": good["items"], "validation_certificate": map[string]any{}}, nil)
		if got := codes(v); !slices.Equal(got, []string{"INVALID_FORMAT"}) {
			t.Errorf("an empty certificate: %v", got)
		}
		v = h.verdict(certificateGate, map[string]any{"creator_id": "ada", "week_start": demoWeek, "items": good["items"], "validation_certificate": map[string]any{statements.VersionField: statements.Version}}, nil)
		want := []string{"INVALID_TIMESTAMP", "INVALID_STATUS", "VAULT_VIOLATIONS_IN_CERT", "AVOID_VIOLATIONS_IN_CERT", "INVALID_STATUS",
			"MISSING_EVIDENCE", "MISSING_EVIDENCE", "MISSING_EVIDENCE", "MISSING_EVIDENCE", "MISSING_EVIDENCE",
			"CREATOR_MISMATCH", "WEEK_MISMATCH", "PAGE_TYPE_MISMATCH", "CREATOR_INACTIVE", "DATABASE_MISMATCH", "POLICY_MISMATCH",
			"HASH_MISMATCH", "HASH_MISMATCH", "HASH_MISMATCH", "ITEM_COUNT_MISMATCH", "BAD_SIGNATURE"}
		if got := codes(v); !slices.Equal(got, want) {
			t.Errorf("a certificate with nothing in it: %v", got)
		}
	})
}

// TestReusedCertificate checks that a certificate is valid for its own items only, in
// any spelling and order.
func TestReusedCertificate(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		good := h.certified(week(54))
		for name, row := range map[string]struct {
			change func(w map[string]any)
			code   string
		}{
			"the same":        {func(map[string]any) {}, ""},
			"turned around":   {func(w map[string]any) { slices.Reverse(items(w)) }, ""},
			"18 for 18.0":     {func(w map[string]any) { itemOf(w, 3)["price"] = 18 }, ""},
			"null for none":   {func(w map[string]any) { itemOf(w, 3)["note"] = nil }, ""},
			"another price":   {func(w map[string]any) { itemOf(w, 3)["price"] = 18.01 }, "HASH_MISMATCH"},
			"another caption": {func(w map[string]any) { itemOf(w, 3)["caption_id"] = 399 }, "HASH_MISMATCH"},
			"another minute":  {func(w map[string]any) { itemOf(w, 3)["scheduled_time"] = "23:59" }, "HASH_MISMATCH"},
			"another field":   {func(w map[string]any) { itemOf(w, 3)["media"] = "b.jpg" }, "HASH_MISMATCH"},
			"two swapped": {func(w map[string]any) {
				itemOf(w, 3)["price"], itemOf(w, 4)["price"] = 17, 18
			}, "HASH_MISMATCH"},
		} {
			t.Run(name, func(t *testing.T) {
				w := copied(t, good)
				row.change(w)
				refusedAs(t, h, w, row.code)
			})
		}
		// The certificate remains valid for a second save until its maximum age.
		h.Clock = at(noon.Add(299 * time.Second))
		refusedAs(t, h, good, "")
		h.Clock = at(noon.Add(300 * time.Second))
		refusedAs(t, h, good, "STALE_CERTIFICATE")
	})
}

func TestCertificateFollowsTheDatabase(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		w := h.certified(week(54))
		h.exec("UPDATE vault_matrix SET has_content = 0 WHERE creator_id = 'ada' AND content_type_id = 10")
		v := h.verdict(certificateGate, w, nil)
		expect{code: "HASH_MISMATCH", severity: "CRITICAL", status: statusRejected, returnTo: "quality-validator", refused: true}.check(t, v)
		expect{code: "VAULT_VIOLATION", severity: "CRITICAL", status: statusRejected, returnTo: "quality-validator", refused: true}.check(t, v)
		if r := h.call(saveTool, saving(w)); !r.Failed {
			t.Error("saved with an outdated vault")
		}
		w = h.certified(week(0)) // a different schedule
		if v := h.verdict(certificateGate, w, nil); v.Valid {
			t.Error("the certificate of a rejected schedule is valid")
		}
	})
}

func TestWithoutKeys(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		signed := h.certified(week(54))
		h.VerifyKey = ""
		refusedAs(t, h, signed, "BAD_SIGNATURE")
		h.VerifyKey, h.SigningKey = string(testPublic), ""
		w := h.reviewed(week(54), approval)
		w["critic_certificate"] = signed["critic_certificate"]
		w["validation_proof"] = signed["validation_proof"]
		w["validation_certificate"] = details(h.verdict(qualityGate, w, nil))["validation_certificate"]
		if v := h.verdict(qualityGate, w, nil); !slices.Contains(codes(v), "CERTIFICATE_UNSIGNED") {
			t.Error("the unsigned certificate is not reported")
		}
		if v := h.verdict(certificateGate, w, nil); !slices.Equal(codes(v), []string{"MISSING_EVIDENCE", "BAD_SIGNATURE"}) {
			t.Errorf("unsigned: %v", codes(v)) // without a verification key, the quality gate trusts no critic's decision
		}
		for _, broken := range []string{"/no/such/file.pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", string(testPublic)} {
			if _, err := h.judge(qualityGate, w, map[string]any{"signing_key": broken}); err == nil || strings.Contains(err.Error(), "AAAA") {
				t.Errorf("a broken key: %v", err)
			}
		}
		if _, err := h.judge(certificateGate, w, map[string]any{"verification_key": string(testPrivate)}); err == nil {
			t.Error("a private key verifies nothing")
		}
		v := h.verdict(qualityGate, w, map[string]any{"signing_key": string(testPrivate)})
		w["validation_certificate"] = details(v)["validation_certificate"]
		refusedAs(t, h, w, "")
	})
}

func TestCertificateFields(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	c := h.certified(week(54))["validation_certificate"].(map[string]any)
	want := map[string]string{
		"certificate_version": "2.0", "creator_id": "ada", "validation_timestamp": "2026-01-04T12:00:00Z", "items_validated": "54", "quality_score": "100",
		"validation_status": "APPROVED", "violations_found": "map[avoid_tier:0 critical:0 vault:0]", "upstream_proof_verified": "true",
		"checks_performed": "map[avoid_tier_exclusion:true caption_quality:true send_type_diversity:true timing_validation:true vault_compliance:true volume_config:true]",
	}
	for field, value := range want {
		if got := fmt.Sprint(c[field]); got != value {
			t.Errorf("%s is %s, want %s", field, got, value)
		}
	}
	if len(c) != len(certificateFields) {
		t.Errorf("%d fields: %v", len(c), slices.Sorted(maps.Keys(c)))
	}
}
