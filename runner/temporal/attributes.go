package temporal

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// The search attributes of a run, for Temporal's web page and its queries. The
// namespace must define them: see docs/explanation/scale.md. They are set only
// if [Workers.Search] is set, because a namespace without them fails the
// workflow.
var (
	attributeCascade = temporal.NewSearchAttributeKeyKeyword("CapstanCascade")
	attributeStatus  = temporal.NewSearchAttributeKeyKeyword("CapstanStatus")
	attributePhase   = temporal.NewSearchAttributeKeyKeyword("CapstanPhase")
)

// setAttributes shows the status of the run on Temporal's page.
func (h *host) setAttributes(status, phase string) {
	if !h.run.crew.Search {
		return
	}
	updates := []temporal.SearchAttributeUpdate{attributeStatus.ValueSet(status)}
	if phase != "" {
		updates = append(updates, attributePhase.ValueSet(phase))
	}
	if !h.run.hasCascade {
		h.run.hasCascade = true
		updates = append(updates, attributeCascade.ValueSet(h.run.cascade.ID))
	}
	if err := workflow.UpsertTypedSearchAttributes(h.run.ctx, updates...); err != nil {
		workflow.GetLogger(h.run.ctx).Warn("search attributes are not set", "error", err)
	}
}
