// Package request is the validation request protocol: it judges a validator's
// response against the request that it answers, and dispatches requests to
// validators, by task_id. A response is not trusted: its verdict is computed
// again from its criteria and its evidence, and is never made better.
package request
