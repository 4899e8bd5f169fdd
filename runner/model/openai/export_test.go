package openai

// BoundEvents has streams be too long already with more events than n.
func (c *Client) BoundEvents(n int) { c.events = n }
