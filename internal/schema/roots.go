package schema

// rootTypes returns whether the schema's root allows objects, arrays or both.
// If it allows neither, it returns both, so that a reply is still parsed and
// reported.
func (s *Schema) rootTypes() typeSet {
	both := objectType | arrayType
	if s == nil {
		return both
	}
	if types := (rootTypes{}).of(s.root) & both; types != 0 {
		return types
	}
	return both
}

// rootTypes stores the types that nodes may allow. A node whose types are being
// computed counts as one that allows every type.
type rootTypes map[*node]typeSet

func (r rootTypes) of(n *node) typeSet {
	if types, known := r[n]; known {
		return types
	}
	r[n] = ^typeSet(0)
	types := r.own(n)
	for _, to := range append([]*node{n.ref, n.recursiveRef}, n.allOf...) {
		if to != nil {
			types &= r.of(to)
		}
	}
	for _, list := range [][]*node{n.anyOf, n.oneOf} {
		either := typeSet(0)
		for _, branch := range list {
			either |= r.of(branch)
		}
		if len(list) > 0 {
			types &= either
		}
	}
	r[n] = types
	return types
}

// own returns the types that a node allows without its subschemas.
func (r rootTypes) own(n *node) typeSet {
	if n.truth != nil && !*n.truth {
		return 0
	}
	types := ^typeSet(0)
	if n.types != 0 {
		types = n.types
	}
	if n.constant != nil {
		types &= typeOf(n.constant.value)
	}
	if n.enum != nil {
		types &= n.enum.types
	}
	return types
}
