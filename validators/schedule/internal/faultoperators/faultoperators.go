// Package faultoperators plants faults in good schedules. The gates of schedules publish these
// faults, and their strength is measured with them.
//
//	for _, op := range faultoperators.Quality() {
//		planted := op.Apply(text, rng)
//	}
//
// The input is the input of a gate as a plain value. It is a schedule, or an object with the
// schedule, its review and its proof. Each gate has a list of operators for faults that it must
// never pass. An operator plants one fault in a copy and describes it, or finds no place for it.
// The package knows the fields of a schedule, but no policy and no database. Begin with
// [Selection].
package faultoperators

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/faults"
)

// A draft is a copy of a gate's input for a fault: the whole, and its schedule,
// review and certificate.
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

// A mutation plants a fault in a draft and describes its place and content. It
// returns "" if there is no place for it.
type mutation func(d *draft) (place, note string)

// operator returns a mutation as an operator.
func operator(name, description string, spoil mutation) faults.Operator {
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

// onItem returns a mutation of a random item.
func onItem(spoil func(d *draft, i int) (place, note string)) mutation {
	return func(d *draft) (string, string) {
		if len(d.items) == 0 {
			return "", ""
		}
		return spoil(d, d.rng.IntN(len(d.items)))
	}
}

// inItem returns a mutation that sets a field of a random item.
func inItem(field string, value any) mutation {
	return onItem(func(d *draft, i int) (string, string) { return d.itemHas(i, field, value) })
}

func (d *draft) itemHas(i int, field string, value any) (place, note string) {
	put(d.items[i], field, value)
	return fmt.Sprintf("items[%d]", i), fmt.Sprintf("%s is %s", field, describe(value))
}

func put(m map[string]any, field string, value any) {
	if value == faults.Removed {
		delete(m, field)
	} else {
		m[field] = value
	}
}

// describe returns a value for a note.
func describe(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(clips.Bytes(v, 60))
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	if value == faults.Removed {
		return "missing"
	}
	return fmt.Sprint(value)
}

// inObject returns a mutation that sets a field of the object that a function
// returns.
func inObject(of func(d *draft) map[string]any, field string, value any) mutation {
	return func(d *draft) (string, string) {
		m := of(d)
		if _, there := m[field]; m == nil || value == faults.Removed && !there {
			return "", ""
		}
		put(m, field, value)
		return field, "it is " + describe(value)
	}
}

func theWeek(d *draft) map[string]any        { return d.week }
func theWhole(d *draft) map[string]any       { return d.whole }
func theReview(d *draft) map[string]any      { return d.review }
func theCertificate(d *draft) map[string]any { return d.certificate }

// theProof returns the proof of layer 2 from the input or from the schedule.
func theProof(d *draft) map[string]any {
	for _, m := range []map[string]any{d.whole, d.week} {
		if proof, ok := m["validation_proof"].(map[string]any); ok {
			return proof
		}
	}
	return nil
}

// Selection returns the faults for layer 2: items with wrong content, or of an
// unknown creator.
func Selection() []faults.Operator {
	return []faults.Operator{
		operator("item_vault", "an item's content type is not in the vault", inItem("content_type", "glassblowing")),
		operator("item_type_null", "an item has no content type", inItem("content_type", nil)),
		operator("creator_unknown", "the schedule is of a creator that nobody knows", func(d *draft) (string, string) {
			d.whole["creator_id"], d.week["creator_id"] = "nobody", "nobody"
			return "creator_id", "it is nobody's"
		}),
		operator("items_gone", "the items are a text", inObject(theWeek, "items", "as discussed")),
	}
}

// Quality returns the faults for layer 3: those for layer 2, and faults of the
// mix, the fields, the week and the proof.
func Quality() []faults.Operator {
	return slices.Concat(Selection(), mix(), fields(), week(), proof())
}

// mix returns faults of the mix of send types and content types.
func mix() []faults.Operator {
	return []faults.Operator{
		operator("item_send_type", "an item's send type is none of the 22", inItem("send_type_key", "ppv_special")),
		operator("few_types", "there are fewer than ten send types", func(d *draft) (string, string) {
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

// Variety returns the faults for phase 2.5: too few send types, or too many
// items of one kind.
func Variety() []faults.Operator {
	return append(mix(),
		operator("one_type", "one send type has a third of the items", func(d *draft) (string, string) {
			for i, item := range d.items {
				if i%3 == 0 {
					item["send_type_key"] = "bump_normal"
				}
			}
			return "items", "every third is bump_normal"
		}),
		operator("one_content", "all PPV slots are of one content type", func(d *draft) (string, string) {
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

// fields returns faults in the fields of an item and of the week.
func fields() []faults.Operator {
	return []faults.Operator{
		operator("item_time", "an item's time is none", inItem("scheduled_time", "25:61")),
		operator("item_date", "an item's date is none", inItem("scheduled_date", "2026-02-30")),
		operator("item_undated", "an item has no date", inItem("scheduled_date", faults.Removed)),
		operator("item_price_text", "an item's price is a text", inItem("price", "twenty")),
		operator("item_price_negative", "an item's price is negative", inItem("price", -20)),
		operator("item_freshness", "an item's days since the last use are negative", inItem("days_since_last_use", -3)),
		operator("item_performance", "an item's performance score is a text", inItem("performance_score", "high")),
		operator("item_untyped", "an item has no send type", inItem("send_type_key", faults.Removed)),
		operator("confidence_range", "the confidence is above 1", inObject(theWeek, "confidence_score", 1.7)),
		operator("confidence_text", "the confidence is a word", inObject(theWeek, "confidence_score", "high")),
		operator("strategies_gone", "there are no strategies", inObject(theWeek, "strategy_metadata", faults.Removed)),
		operator("strategies_one", "all days have one strategy", inObject(theWeek, "strategy_metadata", map[string]any{"daily_strategies": map[string]any{"2026-01-05": "balanced", "2026-01-06": "balanced"}})),
	}
}

// week returns faults of the week as a whole.
func week() []faults.Operator {
	return []faults.Operator{
		operator("item_outside", "an item is a week late", onItem(func(d *draft, i int) (string, string) {
			date, _ := d.items[i]["scheduled_date"].(string)
			day, err := time.Parse(time.DateOnly, date)
			if err != nil {
				return "", ""
			}
			return d.itemHas(i, "scheduled_date", day.AddDate(0, 0, 7).Format(time.DateOnly))
		})),
		operator("item_page", "an item's send type is for the other kind of page", func(d *draft) (string, string) {
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

// category returns a fault that leaves one send type of a category.
func category(name, instead string, kinds ...string) faults.Operator {
	return operator("few_"+name, "there is one "+name+" type", func(d *draft) (string, string) {
		remaining := ""
		for _, item := range d.items {
			kind, _ := item["send_type_key"].(string)
			switch {
			case !slices.Contains(kinds, kind):
			case remaining == "":
				remaining = kind
			case kind != remaining:
				item["send_type_key"] = instead
			}
		}
		return "items", "of " + name + " there is " + remaining + " alone"
	})
}

// proof returns faults of the proof of layer 2.
func proof() []faults.Operator {
	return []faults.Operator{
		operator("proof_gone", "there is no proof of layer 2", func(d *draft) (string, string) {
			if theProof(d) == nil {
				return "", ""
			}
			delete(d.whole, "validation_proof")
			delete(d.week, "validation_proof")
			return "validation_proof", "it is missing"
		}),
		operator("proof_vault", "the proof's vault has a type too many", listed("vault_types_fetched", func(list []any) []any { return append(list, "glassblowing") })),
		operator("proof_vault_short", "the proof's vault lacks a type", listed("vault_types_fetched", func(list []any) []any { return list[1:] })),
		operator("proof_avoid", "the proof hides an AVOID type", listed("avoid_types_fetched", func(list []any) []any { return list[1:] })),
		operator("proof_avoid_item", "an item is of a type that the proof says to avoid", onItem(func(d *draft, i int) (string, string) {
			if list, _ := theProof(d)["avoid_types_fetched"].([]any); len(list) > 0 {
				return d.itemHas(i, "content_type", list[0])
			}
			return "", ""
		})),
	}
}

func listed(field string, change func([]any) []any) mutation {
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

// Critic returns reviews that a schedule must not pass.
func Critic() []faults.Operator {
	var list []faults.Operator
	for name, bad := range map[string]any{"strategic_score": 69, "revenue_aggressiveness": 81, "subscriber_health": 39, "brand_consistency": 49} {
		list = append(list,
			operator(name, name+" is beyond the line", inObject(theReview, name, bad)),
			operator(name+"_missing", name+" is missing", inObject(theReview, name, faults.Removed)),
			operator(name+"_text", name+" is a text", inObject(theReview, name, "high")),
			operator(name+"_range", name+" is above 100", inObject(theReview, name, 140)))
	}
	slices.SortFunc(list, func(a, b faults.Operator) int { return strings.Compare(a.Name, b.Name) })
	major := map[string]any{"text": "too many sendings", "severity": "major"}
	return append(list,
		operator("decision_block", "the critic's own decision is BLOCK", inObject(theReview, "critic_decision", "BLOCK")),
		operator("decision_revise", "the critic's own decision is REVISE", inObject(theReview, "critic_decision", "REVISE")),
		operator("decision_word", "the critic's own decision is none of the three", inObject(theReview, "critic_decision", "HOLD")),
		operator("concerns", "there are three major concerns", inObject(theReview, "concerns", []any{major, major, major})),
		operator("concerns_denied", "three major concerns are said to be none", func(d *draft) (string, string) {
			if d.review == nil {
				return "", ""
			}
			d.review["concerns"], d.review["major_concerns"] = []any{major, major, major}, 0
			return "major_concerns", "it is 0, of three"
		}),
		operator("review_gone", "there is no review", inObject(theWhole, "review", faults.Removed)))
}

// Anomaly returns deviations from the creator's usual values.
func Anomaly() []faults.Operator {
	return []faults.Operator{
		operator("content_unknown", "an item's content type is none that anybody knows", inItem("content_type", "underwater basket weaving")),
		operator("price_outlier", "a PPV slot costs a hundred times as much", func(d *draft) (string, string) {
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
		operator("day_crowded", "half of the items are on one day", onItem(func(d *draft, i int) (string, string) {
			day := d.items[i]["scheduled_date"]
			for i, item := range d.items {
				if i%2 == 0 {
					item["scheduled_date"] = day
				}
			}
			return "items", fmt.Sprintf("every second is on %v", day)
		})),
		operator("item_time", "an item's time is none", inItem("scheduled_time", "25:61")),
		operator("items_gone", "the items are a text", inObject(theWeek, "items", "as discussed")),
	}
}

// Certificate returns changes of a schedule after its certification, and
// changes of its certificate.
func Certificate() []faults.Operator {
	list := []faults.Operator{
		operator("certificate_gone", "there is no certificate", inObject(theWeek, "validation_certificate", faults.Removed)),
		operator("certified_price", "an item has another price than was certified", inItem("price", 44)),
		operator("certified_caption", "an item has another caption than was certified", inItem("caption_id", 99999)),
		operator("certified_time", "an item has another time than was certified", inItem("scheduled_time", "03:03")),
		operator("certified_fewer", "an item is gone that was certified", onItem(func(d *draft, i int) (string, string) {
			list, _ := d.week["items"].([]any)
			d.week["items"] = slices.Delete(list, i, i+1)
			return fmt.Sprintf("items[%d]", i), "it is gone"
		})),
		operator("certified_more", "an item stands twice that was certified once", onItem(func(d *draft, i int) (string, string) {
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
		list = append(list, operator("certificate_"+f.field, "the certificate's "+f.field+" is another", inObject(theCertificate, f.field, f.value)))
	}
	return list
}
