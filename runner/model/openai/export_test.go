package openai

// Bound has answers be too long already with more bytes, or events, or bytes of
// one event, than those.
func (c *Client) Bound(answer int64, event, events int) { c.most = bounds{answer, event, events} }
