package schedule

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// sent replaces ada's messages by PPV messages with these prices, one a day
// back from the day before noon.
func (h *house) sent(prices ...float64) {
	h.t.Helper()
	h.exec("DELETE FROM mass_messages WHERE creator_id = 'ada'")
	for i, price := range prices {
		h.message(noon.AddDate(0, 0, -i-1).Format(time.RFC3339), price)
	}
}

func (h *house) message(sent string, price float64) {
	h.t.Helper()
	h.exec("INSERT INTO mass_messages (creator_id, message_type, price, sent_at, earnings) VALUES ('ada', 'ppv', $1, $2, 1)", price, sent)
}

var anomalyRow = expect{severity: "HIGH", status: statusRejected, returnTo: "schedule-assembler", refused: true}

func TestPriceRows(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		// Mean 20, sample σ exactly 3: ±3·√0.9 of ten.
		d := 3 * math.Sqrt(0.9)
		spread := []float64{20 - d, 20 + d, 20 - d, 20 + d, 20 - d, 20 + d, 20 - d, 20 + d, 20 - d, 20 + d}
		same := slices.Repeat([]float64{19.99}, 10)
		for _, row := range []struct {
			history []float64
			price   any
			outlier bool
			tested  bool
			usual   string
		}{
			{spread, 29, false, true, ""}, {spread, 29.01, true, true, "11.00 to 29.00"}, {spread, 28, false, true, ""}, {spread, 11, false, true, ""}, {spread, 10.99, true, true, "11.00 to 29.00"}, {spread, nil, false, true, ""},
			{same, 19.99, false, true, ""}, {same, 20, true, true, "19.99"}, {same, 19.98, true, true, "19.99"}, {slices.Repeat([]float64{15.555}, 10), 15.55, true, true, "15.555"},
			{spread[:9], 999, false, false, ""}, {same[:9], 999, false, false, ""}, {append(spread, 20), 999, true, true, "11.47 to 28.53"}, {nil, 999, false, false, ""},
		} {
			h.sent(row.history...)
			w := week(54)
			for i := range items(w) {
				itemOf(w, i)["price"] = nil
			}
			itemOf(w, 18)["price"] = row.price
			itemOf(w, 1)["price"] = 5000 // no PPV slot, so its price is not compared
			v := h.verdict(anomalyGate, w, nil)
			if row.outlier {
				e := anomalyRow
				e.code, e.at = "PRICE_OUTLIER", "items[18]"
				e.check(t, v)
				if !strings.HasSuffix(v.Reason, ": usual is "+row.usual) {
					t.Errorf("usual is %s: %s", row.usual, v.Reason)
				}
				if n := len(v.Issues); n != 1 {
					t.Errorf("%d issues: %s", n, v.Reason)
				}
			} else {
				lacks(t, v, "PRICE_OUTLIER")
			}
			if got := !slices.Contains(codes(v), "NOT_TESTABLE"); got != row.tested {
				t.Errorf("%v: tested %v", row, got)
			}
		}
	})
}

func TestPriceWindow(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		nine := slices.Repeat([]float64{20}, 9)
		for _, row := range []struct {
			sent  string
			price float64
			kind  string
			now   time.Time
			n     int
		}{
			{"2025-12-05T12:00:00Z", 20, "ppv", noon, 10},      // exactly 30 days
			{"2025-12-05T11:59:59Z", 20, "ppv", noon, 9},       // and one second more
			{"2025-12-05 12:00:00", 20, "ppv_video", noon, 10}, // no offset is UTC
			{"2025-12-05T13:00:00+01:00", 20, "ppv_wall", noon, 10},
			{"2025-12-05T12:30:00+01:00", 20, "ppv", noon, 9},
			{"2025-12-05T12:00", 20, "ppv", noon, 10}, {"2025-12-05 11:59", 20, "ppv", noon, 9}, {"2025-12-05T12:00Z", 20, "ppv", noon, 10}, {"2025-12-05T12:30+01:00", 20, "ppv", noon, 9},
			{"2025-12-05T13:00:00+0100", 20, "ppv", noon, 10}, {"2025-12-05T12:30:00.5+0100", 20, "ppv", noon, 9},
			{"2025-12-05T07:00:00-05:00", 20, "ppv", noon, 10},
			{"2026-01-04T12:00:01Z", 20, "ppv", noon, 9}, // after the present
			{"2026-01-04T12:00:00Z", 20, "ppv", noon, 10},
			{"2025-12-20T12:00:00Z", 0, "ppv", noon, 9}, // the message was free
			{"2025-12-20T12:00:00Z", 20, "bump_normal", noon, 9},
			{"2026-01-07T00:00:00Z", 20, "ppv", noon.AddDate(0, 0, 3), 10}, // within the week, until now
			{"2026-01-04T00:00:00Z", 20, "ppv", noon.AddDate(1, 0, 0), 10}, // long before now, but within the days before the week
		} {
			h.sent(nine...)
			h.exec("INSERT INTO mass_messages (creator_id, message_type, price, sent_at) VALUES ('ada', $1, $2, $3)", row.kind, row.price, row.sent)
			h.Clock = at(row.now)
			tested := !slices.Contains(codes(h.verdict(anomalyGate, week(54), nil)), "NOT_TESTABLE")
			if tested != (row.n >= 10) {
				t.Errorf("%+v: tested %v", row, tested)
			}
		}
		h.message("yesterday-ish", 20)
		h.exec("UPDATE mass_messages SET sent_at = '2025-12-31 soon' WHERE sent_at = 'yesterday-ish'")
		if _, err := h.judge(anomalyGate, week(54), nil); err == nil {
			t.Error("a time that cannot be read is no verdict")
		}
	})
}

// day returns a schedule with items at these times of 2026-01-06, a Tuesday.
func day(times ...string) map[string]any {
	list := make([]any, len(times))
	for i, at := range times {
		list[i] = map[string]any{"scheduled_date": "2026-01-06", "scheduled_time": at, "send_type_key": "bump_normal", "content_type": "cooking"}
	}
	return map[string]any{"creator_id": "ada", "week_start": demoWeek, "items": list}
}

func spaced(n int) []string {
	times := make([]string, n)
	for i := range times {
		times[i] = fmt.Sprintf("%02d:%02d", i*31/60, i*31%60)
	}
	return times
}

func TestVolumeRows(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		for _, row := range []struct {
			n        int
			expected any
			anomaly  bool
		}{
			{15, map[string]any{"tuesday": 8}, false}, {16, map[string]any{"tuesday": 8}, false}, {17, map[string]any{"tuesday": 8}, true},
			{17, map[string]any{"2026-01-06": 9, "Tue": 1}, false}, {17, []any{99, 8, 99, 99, 99, 99, 99}, true}, {17, map[string]any{"1": 8, "0": 99}, true},
			{17, map[string]any{"TUE": 8.5}, false}, {1, map[string]any{"tuesday": 0}, true}, {17, map[string]any{"monday": 1}, false}, {17, nil, false},
		} {
			w := day(spaced(row.n)...)
			w["volume_config"] = map[string]any{"weekly_distribution": row.expected}
			v := h.verdict(anomalyGate, w, nil)
			if row.anomaly {
				e := anomalyRow
				e.code, e.at = "VOLUME_ANOMALY", "2026-01-06"
				e.check(t, v)
			} else {
				lacks(t, v, "VOLUME_ANOMALY")
			}
		}
	})
}

// TestDaysOfVolumes checks that a day under two keys is rejected, with the same reason each time.
func TestDaysOfVolumes(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	for _, row := range []struct {
		expected any
		reason   string
	}{
		{map[string]any{"tuesday": 9, "Mon": 8}, ""}, {map[string]any{"2026-01-06": 9, "Tue": 1}, ""}, {map[string]any{"2026-01-06": 9, "2026-01-13": 1}, ""},
		{map[string]any{"tuesday": 9, "Tue": 1}, `"tuesday" is a day that another key says`}, {map[string]any{"tuesday": 9, "TUESDAY": 9}, `"tuesday" is a day`},
		{map[string]any{"1": 9, "Tue": 1}, `"Tue" is a day`}, {map[string]any{"1": 9, "01": 1}, `"1" is a day`},
		{map[string]any{"foo": 9, "bar": 1, "baz": 2}, `"bar" is neither a date nor a day of the week; INVALID_INPUT volume_config.weekly_distribution: "baz" is neither`},
	} {
		w := day(spaced(17)...)
		w["volume_config"] = map[string]any{"weekly_distribution": row.expected}
		once := h.verdict(anomalyGate, w, nil)
		if once.Valid != (row.reason == "") || !strings.Contains(once.Reason, row.reason) {
			t.Errorf("%v: %s", row.expected, once.Reason)
		}
		for range 20 {
			if v := h.verdict(anomalyGate, w, nil); v.Reason != once.Reason {
				t.Fatalf("%v: not the same twice:\n%s\n%s", row.expected, once.Reason, v.Reason)
			}
		}
	}
}

func TestUnknownContentRows(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		for content, unknown := range map[any]bool{"knitting": true, "Cooking": true, nil: true, "hiking": false, "cooking'; DROP TABLE content_types; --": true} {
			w := day("10:00", "12:00")
			itemOf(w, 1)["content_type"] = content
			v := h.verdict(anomalyGate, w, nil)
			if unknown {
				e := anomalyRow
				e.code, e.at = "UNKNOWN_CONTENT_TYPE", "items[1]"
				e.check(t, v)
			} else {
				lacks(t, v, "UNKNOWN_CONTENT_TYPE")
			}
		}
	})
}

func TestClusteringRows(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		for _, row := range []struct {
			times []string
			found int
		}{
			{[]string{"10:00", "10:15", "10:29"}, 1}, {[]string{"10:00", "10:15", "10:30"}, 1}, {[]string{"10:00", "10:15", "10:31"}, 0},
			{[]string{"10:00", "10:15", "10:30:00"}, 1}, {[]string{"10:00", "10:15", "10:30:01"}, 0}, {[]string{"10:00", "10:30"}, 0},
			{[]string{"10:31", "10:00", "10:20", "10:45"}, 1}, // sliding: 10:20, 10:31, 10:45
			{[]string{"10:00", "10:10", "10:20", "14:00", "14:10", "14:20"}, 2},
			{[]string{"12:00", "12:00", "12:00"}, 1},
			// Times without an offset are in UTC. The creator's zone and daylight saving do not
			// matter.
			{[]string{"10:00", "15:10Z", "10:20-05:00", "15:25Z"}, 1}, {[]string{"10:00+02:00", "10:00", "10:00-02:00"}, 0}, {[]string{"10:00:00", "10:15:30.5", "00:30+14:00"}, 0}, {[]string{"00:01+14:00", "10:01:00Z", "09:58-00:10"}, 0}, {[]string{"08:00-02:00", "10:15:30.5", "20:30+10:30"}, 1},
		} {
			v := h.verdict(anomalyGate, day(row.times...), nil)
			n := 0
			for _, w := range v.Warnings {
				if w.Check == "TIME_CLUSTERING" {
					n++
				}
			}
			if n != row.found {
				t.Errorf("%v: %d clusters, want %d", row.times, n, row.found)
			}
			if n > 0 {
				expect{code: "TIME_CLUSTERING", severity: "LOW", status: statusWarning}.check(t, v)
				if details(v)["anomaly_status"] != "WARN" || details(v)["warnings"].([]any)[0].(map[string]any)["severity"] != "WARNING" {
					t.Errorf("%v", details(v))
				}
			}
		}
	})
}

// TestDaylightSaving checks that daylight saving does not change distances between times without
// offsets. On 2026-03-08, New York skips 02:00 to 03:00.
func TestDaylightSaving(t *testing.T) {
	h := newHouse(t, sqliteDSN(t))
	on := func(date string, times ...string) map[string]any {
		w := day(times...)
		for i := range times {
			itemOf(w, i)["scheduled_date"] = date
		}
		w["week_start"] = date
		return w
	}
	lacks(t, h.verdict(anomalyGate, on("2026-03-08", "01:45", "02:30", "03:10"), nil), "TIME_CLUSTERING")
	// With explicit offsets, the times are 25 minutes apart.
	v := h.verdict(anomalyGate, on("2026-03-08", "01:45-05:00", "01:55-05:00", "03:10-04:00"), nil)
	expect{code: "TIME_CLUSTERING", severity: "LOW", status: statusWarning, at: "items[0]"}.check(t, v)
	// In November the hour from 01:00 occurs twice; without offsets it counts once.
	v = h.verdict(anomalyGate, on("2026-11-01", "01:30", "01:40", "01:50"), nil)
	expect{code: "TIME_CLUSTERING", severity: "LOW", status: statusWarning}.check(t, v)
	lacks(t, h.verdict(anomalyGate, on("2026-11-01", "01:30-04:00", "01:40-05:00", "01:50-04:00"), nil), "TIME_CLUSTERING")
	// Midnight ends a day.
	w := on("2026-11-01", "23:50", "23:55", "00:05")
	itemOf(w, 2)["scheduled_date"] = "2026-11-02"
	lacks(t, h.verdict(anomalyGate, w, nil), "TIME_CLUSTERING")
}

func TestRevenueDayRows(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		for _, row := range []struct {
			tuesday, rest any
			found         bool
		}{{60, 40, false}, {60.1, 39.9, true}, {599, 401, false}, {601, 399, true}, {0, 0, false}, {nil, nil, false}, {1, nil, true}} {
			w := day("10:00", "12:00")
			itemOf(w, 0)["price"] = row.tuesday
			itemOf(w, 1)["price"], itemOf(w, 1)["scheduled_date"] = row.rest, "2026-01-07"
			v := h.verdict(anomalyGate, w, nil)
			if row.found {
				expect{code: "REVENUE_CONCENTRATION", severity: "LOW", status: statusWarning, at: "2026-01-06"}.check(t, v)
			} else {
				lacks(t, v, "REVENUE_CONCENTRATION")
			}
		}
	})
}

func TestAverageFreshnessRows(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		for _, row := range []struct {
			a, b  any
			found bool
		}{{20, 30, false}, {20, 29, true}, {25, nil, false}, {24, nil, true}, {nil, nil, false}, {26, 26, false}} {
			w := day("10:00", "12:00")
			itemOf(w, 0)["days_since_last_use"], itemOf(w, 1)["days_since_last_use"] = row.a, row.b
			v := h.verdict(anomalyGate, w, nil)
			if row.found {
				expect{code: "LOW_AVERAGE_FRESHNESS", severity: "LOW", status: statusWarning}.check(t, v)
			} else {
				lacks(t, v, "LOW_AVERAGE_FRESHNESS")
			}
		}
	})
}

func TestOpportunities(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, dsn string) {
		h := newHouse(t, dsn)
		w := day("09:00", "13:10", "15:00", "18:00")
		for i := range items(w) {
			itemOf(w, i)["send_type_key"], itemOf(w, i)["content_type"] = "ppv_unlock", "cooking"
			itemOf(w, i)["price"] = 20
		}
		itemOf(w, 3)["content_type"] = "travel"
		found := details(h.verdict(anomalyGate, w, nil))["opportunities"].([]any)
		var words []string
		for _, a := range found {
			a := a.(map[string]any)
			words = append(words, fmt.Sprint(a["type"], ": ", a["message"]))
		}
		want := []string{ // of the TOP types cooking has three slots; ada's best hours are 13 and 20
			"UNDERUTILIZED_CONTENT: travel content performs well but only 1 slot", "UNDERUTILIZED_CONTENT: fitness content performs well but only 0 slots",
			"UNUSED_PEAK_SLOT: nothing is sent in the peak hour 20:00 UTC",
		}
		if !slices.Equal(words, want) {
			t.Errorf("got %q", words)
		}
		for n, few := range map[int]bool{1: true, 2: true, 3: false} {
			for i := range items(w) {
				itemOf(w, i)["content_type"] = "travel"
				if i < n {
					itemOf(w, i)["content_type"] = "cooking"
				}
			}
			reported := fmt.Sprint(details(h.verdict(anomalyGate, w, nil))["opportunities"])
			if got := strings.Contains(reported, "cooking content performs well but only "+slots(n)); got != few {
				t.Errorf("%d slots: %s", n, reported)
			}
		}
		if lift := found[1].(map[string]any)["potential_lift"]; lift != "+13%" {
			t.Errorf("lift %q", lift)
		}
	})
}
