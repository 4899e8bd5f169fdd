package openai

// Bound sets the maximum number of bytes of an answer, of bytes of an event,
// and of events.
func (c *Client) Bound(answer int64, event, events int) { c.most = bounds{answer, event, events} }
