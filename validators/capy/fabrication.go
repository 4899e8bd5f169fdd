package capy

import "math"

// fabricationCheck is check 5: a stage states no value that only the kernel
// computes.
func (r *run) fabricationCheck(f *findings) {
	known := r.known()
	told := map[int32]bool{} // containers that have been reported whole
	for _, s := range r.ledger.list {
		if s.absent || s.hush || !r.forbidden(s) || r.quotes(s) || s.value == 0 {
			continue
		}
		if equalsAny(s, r.prior) || s.state <= 0 && !s.fresh && equalsAny(s, known) {
			continue
		}
		if (s.metric == sse || s.metric == jpd) && s.group != 0 {
			if told[s.group] {
				continue
			}
			told[s.group] = true
		}
		f.fail(s.at, "%s states %s as %s, which only the kernel may compute: %s", r.stage.Name, s.metric, amount(s), r.ledger.quote(s))
	}
	if len(f.fails) > 0 {
		f.note = "Computed values stated"
	}
}

// known are the values that the text itself says are an earlier stage's:
// without a label they may be named again.
func (r *run) known() []float64 {
	var list []float64
	for _, s := range r.ledger.list {
		if !s.absent && r.quotes(s) && s.state != anyT2 && (s.metric.perShare() || s.metric == eirr) && len(list) < maxKnown {
			list = append(list, s.value)
		}
	}
	return list
}

// maxKnown bounds how many earlier values are remembered.
const maxKnown = 1000

// forbidden says whether the stage's row forbids a statement.
func (r *run) forbidden(s statement) bool {
	for _, b := range r.stage.Forbids {
		if metrics[b.Value] != s.metric {
			continue
		}
		if b.State == 0 || int(s.state) == b.State || s.state == 0 && s.fresh {
			return true
		}
	}
	return false
}

// equalsAny says whether a value is one of the known ones, to the last digit
// shown.
func equalsAny(s statement, known []float64) bool {
	half := number{digits: s.digits}.half() + epsilon
	for _, k := range known {
		if math.Abs(s.value-k) <= half || s.percent && math.Abs(s.value-100*k) <= half {
			return true
		}
		if s.digits > 4 && math.Abs(s.value-k) <= 0.005 {
			return true // the other one was rounded to cents
		}
	}
	return false
}

func amount(s statement) string {
	text := trimFloat(s.value)
	if s.percent {
		text += "%"
	}
	return text
}
