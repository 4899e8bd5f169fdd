package schedule

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Names of the tools.
const (
	vaultTool    = "get_vault_availability"
	rankingsTool = "get_content_type_rankings"
	typeTool     = "get_send_type_captions"
	topTool      = "get_top_captions"
	saveTool     = "save_schedule"
)

// Tools returns the five tools: layer 1, which reads, and save_schedule, which
// is layer 4. Their arguments can fill in missing options but not override
// them, because a model may have written the arguments.
func Tools(o Options) []tool.Tool {
	d := o.resolve()
	save := tool.Declared(saveTool, "Save a schedule and replace the creator's schedule of that week. Requires the certificate of schedule_quality.", saveParams(), d.saveSchedule).WithEffect(tool.Writes)
	save.Idempotent = true // saving the same week again has no effect
	return []tool.Tool{
		tool.New(vaultTool, "List the content types in a creator's vault, with quantities.", d.getVault).WithEffect(tool.Reads),
		tool.New(rankingsTool, "List the ranks of a creator's content types at the latest analysis date, with the AVOID tier.", d.getRankings).WithEffect(tool.Reads),
		tool.New(typeTool, "List the best captions of a send type that a creator may use: in the vault and not AVOID.", d.getTypeCaptions).WithEffect(tool.Reads),
		tool.New(topTool, "List the best captions that a creator may use: in the vault and not AVOID.", d.getTopCaptions).WithEffect(tool.Reads),
		save,
	}
}

type creatorArguments struct {
	Creator string `json:"creator_id" jsonschema:"the creator's id or page name"`
	DB      string `json:"db,omitempty" jsonschema:"database, if the operator set none"`
}

type typeArguments struct {
	creatorArguments
	SendType string `json:"send_type_key" jsonschema:"one of the 22 send types"`
	Limit    int    `json:"limit,omitempty" jsonschema:"maximum number of captions, 1 to 500. Default: 20"`
}

type topArguments struct {
	creatorArguments
	Limit int `json:"limit,omitempty" jsonschema:"maximum number of captions, 1 to 500. Default: 20"`
}

// withCreator runs body for a creator in the database, in one snapshot.
func (d *environment) withCreator(ctx context.Context, a creatorArguments, body func(tx, facts) (map[string]any, error)) (any, error) {
	dsn, err := operatorOr("db", d.DSN, a.DB)
	if err != nil {
		return nil, err
	}
	db, err := d.Databases.get(dsn)
	if err != nil {
		return nil, err
	}
	if a.Creator == "" || !storable(a.Creator) {
		return nil, fmt.Errorf("creator_id %q is not the name of a creator", clip(a.Creator))
	}
	var out map[string]any
	err = db.reading(ctx, func(t tx) error {
		f, err := t.facts(a.Creator)
		if err == nil && !f.known() {
			err = fmt.Errorf("no creator is called %q", clip(a.Creator))
		}
		if err == nil {
			out, err = body(t, f)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (d *environment) getVault(ctx context.Context, a creatorArguments) (any, error) {
	return d.withCreator(ctx, a, func(_ tx, f facts) (map[string]any, error) {
		return map[string]any{"creator_id": f.id, "available_content": f.vault, "total_types": len(f.vault)}, nil
	})
}

func (d *environment) getRankings(ctx context.Context, a creatorArguments) (any, error) {
	return d.withCreator(ctx, a, func(_ tx, f facts) (map[string]any, error) {
		return map[string]any{
			"creator_id": f.id, "analysis_date": optional(f.analysisDate), "rankings": f.rankings,
			"top_types": f.tier("TOP"), "mid_types": f.tier("MID"), "low_types": f.tier("LOW"), "avoid_types": f.avoid(),
		}, nil
	})
}

func (d *environment) getTypeCaptions(ctx context.Context, a typeArguments) (any, error) {
	kind := sendTypes()[a.SendType]
	if kind == nil {
		return nil, fmt.Errorf("no send type is called %q; there are %s", clip(a.SendType), strings.Join(typeNames(), ", "))
	}
	return d.getCaptions(ctx, a.creatorArguments, kind, a.Limit)
}

func (d *environment) getTopCaptions(ctx context.Context, a topArguments) (any, error) {
	return d.getCaptions(ctx, a.creatorArguments, nil, a.Limit)
}

// Limits for the number of captions in one result.
const (
	defaultCaptions = 20
	maxCaptions     = 500
)

func (d *environment) getCaptions(ctx context.Context, a creatorArguments, kind *sendType, limit int) (any, error) {
	limit = cmp.Or(limit, defaultCaptions)
	if limit < 1 || limit > maxCaptions {
		return nil, fmt.Errorf("limit must be from 1 to %d, not %d", maxCaptions, limit)
	}
	return d.withCreator(ctx, a, func(t tx, f facts) (map[string]any, error) {
		list, err := t.captions(captionQuery{f.id, kind, limit, d.Clock()})
		out := map[string]any{"creator_id": f.id, "captions": list, "count": len(list)}
		if kind != nil {
			out["send_type_key"] = kind.Key
		}
		return out, err
	})
}

func typeNames() []string {
	types := everySendType()
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.Key
	}
	return names
}

// saveParams returns the JSON Schema of save_schedule: the fields of a
// schedule, and where to save it.
func saveParams() map[string]any {
	text := func(description string) map[string]any {
		return map[string]any{"type": "string", "description": description}
	}
	properties := map[string]any{
		"schedule":               map[string]any{"type": "object", "description": "schedule as one object, instead of its fields"},
		"creator_id":             text("the creator's id or page name"),
		"week_start":             text("first day of the week, such as 2025-12-22"),
		"items":                  map[string]any{"type": "array", "items": map[string]any{"type": "object"}, "description": "items of the certified schedule"},
		"validation_certificate": map[string]any{"description": "certificate of schedule_quality"},
		"db":                     text("database, if the operator set none. A cascade may set it, a model may not"),
		"verification_key":       text("public keys that verify certificates, if the operator set none. A cascade may set them, a model may not"),
		"policy":                 text("policy of the certificate, if the operator set none. A cascade may set it, a model may not"),
		"phase":                  map[string]any{"type": "integer", "minimum": 1, "maximum": 2, "description": "2: refuse schedules that phase 1 of the database would accept with a warning"},
	}
	for _, name := range []string{"page_type", "strategy_metadata", "validation_proof", "volume_config", "confidence_score", "critic_certificate"} {
		properties[name] = map[string]any{"description": "part of the schedule that is not saved"}
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false, "anyOf": []any{
		map[string]any{"required": []any{"schedule"}}, map[string]any{"required": []any{"creator_id", "week_start", "items"}},
	}}
}

// saveContract is compiled at the first use.
var saveContract = sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(saveParams()) })

func (d *environment) saveSchedule(ctx context.Context, c tool.Call) (any, error) {
	arguments := c.Arguments
	if arguments == nil {
		arguments = map[string]any{}
	}
	for _, of := range []struct{ name, operator string }{{"verification_key", d.VerifyKey}, {"policy", d.Policy}, {"db", d.DSN}} {
		if c.ID != "" && of.operator == "" && argument(arguments, of.name) != "" {
			// A caller that chooses the key can forge the certificate. A caller that chooses the
			// policy or the database needs no forgery.
			return nil, fmt.Errorf("%s is not a model's to choose: the operator sets it with the tools", of.name)
		}
	}
	g, err := d.gatekeeper(arguments)
	if err != nil {
		return nil, err
	}
	plan := unwrapSchedule(arguments)
	if list, _ := plan["items"].([]any); len(list) > g.policy.Limits.MaxItems {
		return nil, fmt.Errorf("%s: a schedule has at most %d items, not %d", itemAt(g.policy.Limits.MaxItems), g.policy.Limits.MaxItems, len(list))
	}
	contract, err := saveContract()
	if err != nil {
		return nil, err
	}
	if err := contract.Validate(ctx.Err, arguments); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	dsn, err := operatorOr("db", d.DSN, argument(arguments, "db"))
	if err != nil {
		return nil, err
	}
	db, err := d.Databases.get(dsn)
	if err != nil {
		return nil, err
	}
	plan = maps.Clone(plan)
	// Other fields of a schedule are not needed for saving.
	maps.DeleteFunc(plan, func(name string, _ any) bool {
		return !slices.Contains([]string{"creator_id", "week_start", "items", "validation_certificate"}, name)
	})
	return db.save(ctx, plan, g)
}

func argument(arguments map[string]any, name string) string {
	s, _ := arguments[name].(string)
	return s
}

func (d *environment) gatekeeper(arguments map[string]any) (gatekeeper, error) {
	text, err := operatorOr("policy", d.Policy, argument(arguments, "policy"))
	if err != nil {
		return gatekeeper{}, err
	}
	p, err := d.policies()
	if text != d.Policy {
		p, err = loadPolicy(text)
	}
	if err != nil {
		return gatekeeper{}, err
	}
	g := gatekeeper{policy: p, now: d.Clock()}
	key, err := operatorOr("verification_key", d.VerifyKey, argument(arguments, "verification_key"))
	if err != nil {
		return g, err
	}
	if g.keys, err = trustedKeys(key); err != nil {
		return g, err
	}
	if phase, ok := number(arguments["phase"]); ok {
		g.phase = int(phase)
	}
	return g, nil
}

func checkPhase(phase int) error {
	if phase < 0 || phase > 2 {
		return fmt.Errorf("phase must be 1 or 2, not %d", phase)
	}
	return nil
}
