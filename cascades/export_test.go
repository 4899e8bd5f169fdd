package cascades

// PlanKnown is known, for tests outside the package.
func PlanKnown() Known { return known() }
