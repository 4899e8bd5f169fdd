package temporal

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// The search attributes of a run, for Temporal's own page and its queries. A
// namespace has to know them: see docs/explanation/scale.md. They are set where [Crew.Search]
// says so, since a namespace that does not know them fails the workflow.
var (
	attributeCascade = temporal.NewSearchAttributeKeyKeyword("CapstanCascade")
	attributeStatus  = temporal.NewSearchAttributeKeyKeyword("CapstanStatus")
	attributePhase   = temporal.NewSearchAttributeKeyKeyword("CapstanPhase")
)

// noted shows on Temporal's page how the run stands.
func (h *host) noted(status, phase string) {
	if !h.run.crew.Search {
		return
	}
	updates := []temporal.SearchAttributeUpdate{attributeStatus.ValueSet(status)}
	if phase != "" {
		updates = append(updates, attributePhase.ValueSet(phase))
	}
	if !h.run.named {
		h.run.named = true
		updates = append(updates, attributeCascade.ValueSet(h.run.cascade.ID))
	}
	if err := workflow.UpsertTypedSearchAttributes(h.run.ctx, updates...); err != nil {
		workflow.GetLogger(h.run.ctx).Warn("search attributes are not set", "error", err)
	}
}
