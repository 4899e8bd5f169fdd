// Package spoilings makes bad schedules of good ones: the faults that the gates
// of a schedule publish, and by which they are measured.
//
// In comes what a gate looks at, as a plain value: a schedule, alone or within an
// object that has its review and its proof beside it. Each gate has a list of
// operators for what it may never pass; an operator spoils one thing in a copy and
// tells where and what, or finds no place. Whether that is noticed is no matter of
// this room, which knows the words of a schedule, no policy and no database.
package spoilings

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/validators/faults"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A draft is a copy of what a gate looks at, to be spoilt: the whole, and what it
// has of a schedule, a review and a certificate.
type draft struct {
	whole, week, review, certificate map[string]any
	items                            []map[string]any
	rng                              *rand.Rand
}

func newDraft(v any, rng *rand.Rand) *draft {
	whole, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	d := &draft{whole: whole, week: whole, rng: rng}
	if within, ok := whole["schedule"].(map[string]any); ok {
		d.week = within
	}
	list, _ := d.week["items"].([]any)
	for _, e := range list {
		if item, ok := e.(map[string]any); ok {
			d.items = append(d.items, item)
		}
	}
	d.review, _ = whole["review"].(map[string]any)
	if d.certificate, ok = whole["validation_certificate"].(map[string]any); !ok {
		d.certificate, _ = d.week["validation_certificate"].(map[string]any)
	}
	return d
}

// A spoiling makes a fault in a draft, and tells where and what; "" where there is
// no place for it.
type spoiling func(d *draft) (place, note string)

// spoilt is a spoiling as an operator.
func spoilt(name, description string, spoil spoiling) faults.Operator {
	return faults.Operator{Name: "schedule_" + name, Description: description, Apply: func(t *faults.Text, rng *rand.Rand) []faults.Fault {
		return t.Remade(rng, func(v any, rng *rand.Rand) (any, string, string) {
			d := newDraft(v, rng)
			if d == nil {
				return v, "", ""
			}
			place, note := spoil(d)
			return v, place, note
		})
	}}
}

// anItem spoils some item.
func anItem(spoil func(d *draft, i int) (place, note string)) spoiling {
	return func(d *draft) (string, string) {
		if len(d.items) == 0 {
			return "", ""
		}
		return spoil(d, d.rng.IntN(len(d.items)))
	}
}

// inItem makes another value of a field of some item.
func inItem(field string, value any) spoiling {
	return anItem(func(d *draft, i int) (string, string) { return d.itemHas(i, field, value) })
}

func (d *draft) itemHas(i int, field string, value any) (place, note string) {
	put(d.items[i], field, value)
	return fmt.Sprintf("items[%d]", i), fmt.Sprintf("%s is %s", field, told(value))
}

func put(m map[string]any, field string, value any) {
	if value == faults.Gone {
		delete(m, field)
	} else {
		m[field] = value
	}
}

// told is a value in a note.
func told(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(schema.Clip(v, 60))
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	if value == faults.Gone {
		return "missing"
	}
	return fmt.Sprint(value)
}

// in makes another value of a field of what a function finds.
func in(of func(d *draft) map[string]any, field string, value any) spoiling {
	return func(d *draft) (string, string) {
		m := of(d)
		if _, there := m[field]; m == nil || value == faults.Gone && !there {
			return "", ""
		}
		put(m, field, value)
		return field, "it is " + told(value)
	}
}

func theWeek(d *draft) map[string]any        { return d.week }
func theWhole(d *draft) map[string]any       { return d.whole }
func theReview(d *draft) map[string]any      { return d.review }
func theCertificate(d *draft) map[string]any { return d.certificate }

// theProof is that of layer 2, wherever it stands.
func theProof(d *draft) map[string]any {
	for _, m := range []map[string]any{d.whole, d.week} {
		if proof, ok := m["validation_proof"].(map[string]any); ok {
			return proof
		}
	}
	return nil
}

// Selection are the faults of layer 2: items of the wrong content, or of nobody.
func Selection() []faults.Operator {
	return []faults.Operator{
		spoilt("item_vault", "an item's content type is not in the vault", inItem("content_type", "glassblowing")),
		spoilt("item_type_null", "an item has no content type", inItem("content_type", nil)),
		spoilt("creator_unknown", "the schedule is of a creator that nobody knows", func(d *draft) (string, string) {
			d.whole["creator_id"], d.week["creator_id"] = "nobody", "nobody"
			return "creator_id", "it is nobody's"
		}),
		spoilt("items_gone", "the items are a text", in(theWeek, "items", "as discussed")),
	}
}

// Quality are the faults of layer 3: those of layer 2, and of the mix, the fields,
// the week and the proof.
func Quality() []faults.Operator {
	return slices.Concat(Selection(), mix(), fields(), week(), proof())
}

// mix are what the mix of send types and content types may not be.
func mix() []faults.Operator {
	return []faults.Operator{
		spoilt("item_send_type", "an item's send type is none of the 22", inItem("send_type_key", "ppv_special")),
		spoilt("few_types", "there are fewer than ten send types", func(d *draft) (string, string) {
			kinds := map[any]bool{}
			for _, item := range d.items {
				if kind := item["send_type_key"]; len(kinds) == 9 && !kinds[kind] {
					item["send_type_key"] = "dm_farm"
				} else {
					kinds[kind] = true
				}
			}
			return "items", "nine send types are left"
		}),
	}
}

// Variety are the faults of phase 2.5: too few send types, or too much of one kind.
func Variety() []faults.Operator {
	return append(mix(),
		spoilt("one_type", "one send type has a third of the items", func(d *draft) (string, string) {
			for i, item := range d.items {
				if i%3 == 0 {
					item["send_type_key"] = "bump_normal"
				}
			}
			return "items", "every third is bump_normal"
		}),
		spoilt("one_content", "all PPV slots are of one content type", func(d *draft) (string, string) {
			n := 0
			for _, item := range d.items {
				if kind, _ := item["send_type_key"].(string); strings.HasPrefix(kind, "ppv_") && kind != "ppv_followup" {
					item["content_type"] = "cooking"
					n++
				}
			}
			if n < 2 {
				return "", ""
			}
			return "items", "they are all of cooking"
		}))
}

// fields are in the fields of an item, and of the week.
func fields() []faults.Operator {
	return []faults.Operator{
		spoilt("item_time", "an item's time is none", inItem("scheduled_time", "25:61")),
		spoilt("item_date", "an item's date is none", inItem("scheduled_date", "2026-02-30")),
		spoilt("item_undated", "an item has no date", inItem("scheduled_date", faults.Gone)),
		spoilt("item_price_text", "an item's price is a text", inItem("price", "twenty")),
		spoilt("item_price_negative", "an item's price is negative", inItem("price", -20)),
		spoilt("item_freshness", "an item's days since the last use are negative", inItem("days_since_last_use", -3)),
		spoilt("item_performance", "an item's performance score is a text", inItem("performance_score", "high")),
		spoilt("item_untyped", "an item has no send type", inItem("send_type_key", faults.Gone)),
		spoilt("confidence_range", "the confidence is above 1", in(theWeek, "confidence_score", 1.7)),
		spoilt("confidence_text", "the confidence is a word", in(theWeek, "confidence_score", "high")),
		spoilt("strategies_gone", "there are no strategies", in(theWeek, "strategy_metadata", faults.Gone)),
		spoilt("strategies_one", "all days have one strategy", in(theWeek, "strategy_metadata", map[string]any{"daily_strategies": map[string]any{"2026-01-05": "balanced", "2026-01-06": "balanced"}})),
	}
}

// week are what the week as a whole may not be.
func week() []faults.Operator {
	return []faults.Operator{
		spoilt("item_outside", "an item is a week late", anItem(func(d *draft, i int) (string, string) {
			date, _ := d.items[i]["scheduled_date"].(string)
			day, err := time.Parse(time.DateOnly, date)
			if err != nil {
				return "", ""
			}
			return d.itemHas(i, "scheduled_date", day.AddDate(0, 0, 7).Format(time.DateOnly))
		})),
		spoilt("item_page", "an item's send type is for the other kind of page", func(d *draft) (string, string) {
			paid := slices.ContainsFunc(d.items, func(item map[string]any) bool {
				return item["send_type_key"] == "tip_goal" || item["send_type_key"] == "renew_on_post"
			})
			kind := map[bool]string{true: "ppv_wall", false: "tip_goal"}[paid]
			return inItem("send_type_key", kind)(d)
		}),
		category("revenue", "bump_normal", "ppv_unlock", "ppv_wall", "tip_goal", "bundle", "flash_bundle", "game_post", "first_to_tip", "vip_program", "snapchat_bundle"),
		category("engagement", "bundle", "link_drop", "wall_link_drop", "bump_normal", "bump_descriptive", "bump_text_only", "bump_flyer", "dm_farm", "like_farm", "live_promo"),
	}
}

// category takes all send types of a category but one away.
func category(name, instead string, kinds ...string) faults.Operator {
	return spoilt("few_"+name, "there is one "+name+" type", func(d *draft) (string, string) {
		kept := ""
		for _, item := range d.items {
			kind, _ := item["send_type_key"].(string)
			switch {
			case !slices.Contains(kinds, kind):
			case kept == "":
				kept = kind
			case kind != kept:
				item["send_type_key"] = instead
			}
		}
		return "items", "of " + name + " there is " + kept + " alone"
	})
}

// proof are what layer 2 did not prove.
func proof() []faults.Operator {
	return []faults.Operator{
		spoilt("proof_gone", "there is no proof of layer 2", func(d *draft) (string, string) {
			if theProof(d) == nil {
				return "", ""
			}
			delete(d.whole, "validation_proof")
			delete(d.week, "validation_proof")
			return "validation_proof", "it is missing"
		}),
		spoilt("proof_vault", "the proof's vault has a type too many", listed("vault_types_fetched", func(list []any) []any { return append(list, "glassblowing") })),
		spoilt("proof_vault_short", "the proof's vault lacks a type", listed("vault_types_fetched", func(list []any) []any { return list[1:] })),
		spoilt("proof_avoid", "the proof hides an AVOID type", listed("avoid_types_fetched", func(list []any) []any { return list[1:] })),
		spoilt("proof_avoid_item", "an item is of a type that the proof says to avoid", anItem(func(d *draft, i int) (string, string) {
			if list, _ := theProof(d)["avoid_types_fetched"].([]any); len(list) > 0 {
				return d.itemHas(i, "content_type", list[0])
			}
			return "", ""
		})),
	}
}

func listed(field string, change func([]any) []any) spoiling {
	return func(d *draft) (string, string) {
		proof := theProof(d)
		list, _ := proof[field].([]any)
		if len(list) == 0 {
			return "", ""
		}
		proof[field] = change(list)
		return "validation_proof." + field, "it is another"
	}
}

// Critic are reviews that a schedule may not go on with.
func Critic() []faults.Operator {
	var list []faults.Operator
	for name, bad := range map[string]any{"strategic_score": 69, "revenue_aggressiveness": 81, "subscriber_health": 39, "brand_consistency": 49} {
		list = append(list,
			spoilt(name, name+" is beyond the line", in(theReview, name, bad)),
			spoilt(name+"_missing", name+" is missing", in(theReview, name, faults.Gone)),
			spoilt(name+"_text", name+" is a text", in(theReview, name, "high")),
			spoilt(name+"_range", name+" is above 100", in(theReview, name, 140)))
	}
	slices.SortFunc(list, func(a, b faults.Operator) int { return strings.Compare(a.Name, b.Name) })
	major := map[string]any{"text": "too many sendings", "severity": "major"}
	return append(list,
		spoilt("decision_block", "the critic's own decision is BLOCK", in(theReview, "critic_decision", "BLOCK")),
		spoilt("decision_revise", "the critic's own decision is REVISE", in(theReview, "critic_decision", "REVISE")),
		spoilt("decision_word", "the critic's own decision is none of the three", in(theReview, "critic_decision", "HOLD")),
		spoilt("concerns", "there are three major concerns", in(theReview, "concerns", []any{major, major, major})),
		spoilt("concerns_denied", "three major concerns are said to be none", func(d *draft) (string, string) {
			if d.review == nil {
				return "", ""
			}
			d.review["concerns"], d.review["major_concerns"] = []any{major, major, major}, 0
			return "major_concerns", "it is 0, of three"
		}),
		spoilt("review_gone", "there is no review", in(theWhole, "review", faults.Gone)))
}

// Anomaly are what the creator's past speaks against.
func Anomaly() []faults.Operator {
	return []faults.Operator{
		spoilt("content_unknown", "an item's content type is none that anybody knows", inItem("content_type", "underwater basket weaving")),
		spoilt("price_outlier", "a PPV slot costs a hundred times as much", func(d *draft) (string, string) {
			var slots []int
			for i, item := range d.items {
				if item["send_type_key"] == "ppv_unlock" {
					slots = append(slots, i)
				}
			}
			if len(slots) == 0 {
				return "", ""
			}
			return d.itemHas(slots[d.rng.IntN(len(slots))], "price", 1999)
		}),
		spoilt("day_crowded", "half of the items are on one day", anItem(func(d *draft, i int) (string, string) {
			day := d.items[i]["scheduled_date"]
			for i, item := range d.items {
				if i%2 == 0 {
					item["scheduled_date"] = day
				}
			}
			return "items", fmt.Sprintf("every second is on %v", day)
		})),
		spoilt("item_time", "an item's time is none", inItem("scheduled_time", "25:61")),
		spoilt("items_gone", "the items are a text", in(theWeek, "items", "as discussed")),
	}
}

// Certificate are what was done to a schedule after it was certified, or to
// its certificate.
func Certificate() []faults.Operator {
	list := []faults.Operator{
		spoilt("certificate_gone", "there is no certificate", in(theWeek, "validation_certificate", faults.Gone)),
		spoilt("certified_price", "an item has another price than was certified", inItem("price", 44)),
		spoilt("certified_caption", "an item has another caption than was certified", inItem("caption_id", 99999)),
		spoilt("certified_time", "an item has another time than was certified", inItem("scheduled_time", "03:03")),
		spoilt("certified_fewer", "an item is gone that was certified", anItem(func(d *draft, i int) (string, string) {
			list, _ := d.week["items"].([]any)
			d.week["items"] = slices.Delete(list, i, i+1)
			return fmt.Sprintf("items[%d]", i), "it is gone"
		})),
		spoilt("certified_more", "an item stands twice that was certified once", anItem(func(d *draft, i int) (string, string) {
			list, _ := d.week["items"].([]any)
			d.week["items"] = append(list, list[i])
			return fmt.Sprintf("items[%d]", i), "it stands twice"
		})),
	}
	for _, f := range []struct {
		field string
		value any
	}{
		{"creator_id", "ben"}, {"page_type", "free"}, {"week_start", "2026-01-12"}, {"database_id", "another"}, {"policy_digest", "sha256:0"},
		{"validation_timestamp", "2026-01-01T00:00:00Z"}, {"schedule_hash", "sha256:0"}, {"avoid_types_hash", "sha256:0"}, {"vault_types_hash", "sha256:0"},
		{"items_validated", 1}, {"quality_score", 100.5}, {"validation_status", "APPROVED_BY_ME"}, {"violations_found", map[string]any{"vault": 1, "avoid_tier": 0, "critical": 0}},
		{"evidence", []any{}}, {"signing_key_id", "another"}, {"certificate_signature", "AAAA"},
	} {
		list = append(list, spoilt("certificate_"+f.field, "the certificate's "+f.field+" is another", in(theCertificate, f.field, f.value)))
	}
	return list
}
