package cascades

// PlanKnown returns known for the tests outside the package.
func PlanKnown() Known { return known() }
