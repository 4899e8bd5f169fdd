package telemetry

// modelsToo is where attributes are that a model's metrics have too.
const modelsToo = "model, its metrics"

// An Attribute is one row of the table of what is sent.
type Attribute struct {
	Name    string
	On      string // the spans, events and metrics that have it
	Means   string
	Content bool // sent only where content is asked for
}

// Table gives every attribute that a span, an event or a metric may have.
func Table() []Attribute {
	return []Attribute{
		{string(operationName), "run, nested cascade, model and its metrics, tool", "`invoke_workflow`, `chat` or `execute_tool`", false},
		{string(workflowName), "run, nested cascade", "the cascade's id", false},
		{string(conversation), "run, model, tool", "the run's id", false},
		{string(providerName), modelsToo, "the provider, by the name of the conventions: `openai`, `anthropic`, `gcp.gemini`; also `scripted` and `replay`", false},
		{string(requestModel), modelsToo, "the model as the cascade names it, without the provider's prefix", false},
		{string(responseModel), modelsToo, "the model that answered, as the endpoint names it", false},
		{string(outputType), "model", "`json` if the request has a schema, otherwise `text`", false},
		{string(inputTokens), "model", "tokens of the request", false},
		{string(outputTokens), "model", "tokens of the answer", false},
		{string(responseID), "model", "the answer's id, as the endpoint gives it", false},
		{string(finishReasons), "model", "the reason for the end of the answer, as the endpoint names it; without a name `stop`, `tool_call`, `length`, `content_filter` or `error`", false},
		{string(cachedTokens), "model", "tokens of the request that the endpoint read from its cache", false},
		{string(writtenTokens), "model", "tokens of the request that the endpoint wrote to its cache", false},
		{string(reasoningTokens), "model", "tokens of the answer that are reasoning", false},
		{string(tokenType), tokenUsage, "`input` or `output`", false},
		{string(serverAddress), modelsToo, "the endpoint's host", false},
		{string(serverPort), modelsToo, "the port, if the address names one", false},
		{string(toolName), "tool", "the tool's name", false},
		{string(toolType), "tool", "`function`", false},
		{string(toolCallID), "tool", "the model's id of the call, if a model made it", false},
		{string(evaluated), evaluationEvent + ", " + verdictCount, "the validator's name", false},
		{string(scoreValue), evaluationEvent, "the score of the validator, if there is one", false},
		{string(scoreLabel), evaluationEvent + ", " + verdictCount, "`pass`, `fail`, or `skipped` for a judge that was not asked; absent if the validator could not decide", false},
		{string(errorType), "every span, " + evaluationEvent + ", " + operationDuration + ", " + verdictCount, "the failure: the status of a run, phase or attempt; the class of a model's failure; `tool_error`; `refused` or `not_made` for a tool call that wards refused or that was not made; `validator_error`; `interrupted`", false},
		{string(explanation), evaluationEvent, "the reason of the verdict, or of the validator's failure", true},
		{string(inputMessages), "model", "the conversation, in the JSON of the conventions", true},
		{string(outputMessages), "model", "the answer, in the JSON of the conventions", true},
		{string(toolArguments), "tool", "the arguments of the call, as JSON", true},
		{string(toolResult), "tool", "the result, as text", true},
		{string(messageText), feedbackEvent + ", " + waitingEvent + ", " + answeredEvent, "the feedback to the author, the question to a person, or the answer of the person", true},
		{string(shortened), "model, tool, events", "true if a text was cut", true},
		{string(runID), "run", "the run's id", false},
		{string(cascadeID), "run", "the cascade's id", false},
		{string(path), "every span but the run's", "the address in the run: `draft/attempt[1]/turn[0]`", false},
		{string(status), "run, phase, attempt", "the final status", false},
		{string(phaseName), "phase", "the phase's name", false},
		{string(visit), "phase", "number of the visit to the phase, from 1", false},
		{string(attempt), "attempt", "its number, from 1", false},
		{string(turn), "turn", "its number, from 0", false},
		{string(sounding), "sounding", "its number, from 0", false},
		{string(item), "item", "its number, from 0", false},
		{string(validator), "ward, model", "the validator; on the span of a model, the judge that made the call", false},
		{string(role), "model", "the purpose of the call: `evaluator` for soundings, `mutation` to vary instructions, `summary` to shorten a conversation", false},
		{string(prunedOf), prunedEvent, "number of messages that were removed from the conversation", false},
		{string(prunedFrom), prunedEvent, "estimated tokens of the call before the removal", false},
		{string(prunedTo), prunedEvent, "estimated tokens of the call after the removal", false},
		{string(moment), "ward, " + verdictCount, "pre, turn, tool, result, post, loop_until or output_schema", false},
		{string(mode), "ward, " + verdictCount, "blocking, retry, advisory or shadow", false},
		{string(valid), "ward", "the verdict; absent if the validator could not decide or was not asked", false},
		{string(issues), "ward", "number of issues of the verdict", false},
		{string(warnings), "ward", "number of warnings of the verdict", false},
		{string(errorPhase), "run", "the phase of the run's error", false},
		{string(httpStatus), "model", "the HTTP status of a failure, if there is one", false},
		{string(calls), "run, model", "number of requests that reached the endpoint, including failed ones", false},
		{string(totalInput), "run", "tokens of all requests", false},
		{string(totalOutput), "run", "tokens of all answers", false},
		{string(cost), "run, model", "cost in US dollars, if the price of the model is known", false},
		{string(estimated), "run, model, " + tokenUsage, "true if some tokens are estimated, because the endpoint did not count them", false},
		{string(routeFrom), routeEvent, "the phase before", false},
		{string(routeTo), routeEvent, "the next phase", false},
	}
}
