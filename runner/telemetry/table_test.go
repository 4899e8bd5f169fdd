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
		{string(providerName), modelsToo, "who was asked, in the conventions' word: `openai`, `anthropic`, `gcp.gemini`; `scripted`, `replay`", false},
		{string(requestModel), modelsToo, "the model as the cascade names it, without the provider's prefix", false},
		{string(responseModel), modelsToo, "the model that answered, as the endpoint names it", false},
		{string(outputType), "model", "`json` where a schema was asked for, else `text`", false},
		{string(inputTokens), "model", "tokens of the request", false},
		{string(outputTokens), "model", "tokens of the answer", false},
		{string(responseID), "model", "the answer's id, as the endpoint gives it", false},
		{string(finishReasons), "model", "why the answer ended, in the endpoint's word; where it has none `stop`, `tool_call`, `length`, `content_filter` or `error`", false},
		{string(cachedTokens), "model", "of the request's tokens, those that the endpoint had in its cache", false},
		{string(writtenTokens), "model", "of the request's tokens, those that the endpoint wrote to its cache", false},
		{string(reasoningTokens), "model", "of the answer's tokens, those that were thought and not said", false},
		{string(tokenType), tokenUsage, "`input` or `output`", false},
		{string(serverAddress), modelsToo, "the endpoint's host", false},
		{string(serverPort), modelsToo, "its port, where the address names one", false},
		{string(toolName), "tool", "the tool's name", false},
		{string(toolType), "tool", "`function`", false},
		{string(toolCallID), "tool", "the model's id of the call, where a model asked", false},
		{string(evaluated), evaluationEvent + ", " + verdictCount, "the validator's name", false},
		{string(scoreValue), evaluationEvent, "the validator's score, where it gives one", false},
		{string(scoreLabel), evaluationEvent + ", " + verdictCount, "`pass` or `fail`, or `skipped` where a judge was not asked; none where the validator could not say", false},
		{string(errorType), "every span, " + evaluationEvent + ", " + operationDuration + ", " + verdictCount, "why it did not succeed: the run's, phase's or attempt's status; the class of a model's failure; `tool_error`; `refused` and `not_made` of a call that its wards refused, or that was judged and not made; `validator_error`; `interrupted`", false},
		{string(explanation), evaluationEvent, "the verdict's reason, or why the validator could not say", true},
		{string(inputMessages), "model", "the conversation, in the conventions' JSON", true},
		{string(outputMessages), "model", "the answer, in the conventions' JSON", true},
		{string(toolArguments), "tool", "what the tool was called with, as JSON", true},
		{string(toolResult), "tool", "what it gave, as text", true},
		{string(said), feedbackEvent + ", " + waitingEvent + ", " + answeredEvent, "the feedback to the author, the question to a person, or what the person said", true},
		{string(shortened), "model, tool, events", "true where a text was too long to be sent whole", true},
		{string(runID), "run", "the run's id", false},
		{string(cascadeID), "run", "the cascade's id", false},
		{string(path), "every span but the run's", "the address in the run: `draft/attempt[1]/turn[0]`", false},
		{string(status), "run, phase, attempt", "what became of it", false},
		{string(phaseName), "phase", "the phase's name", false},
		{string(visit), "phase", "which visit to the phase this is, from 1", false},
		{string(attempt), "attempt", "its number, from 1", false},
		{string(turn), "turn", "its number, from 0", false},
		{string(sounding), "sounding", "its number, from 0", false},
		{string(item), "item", "its number, from 0", false},
		{string(validator), "ward, model", "the validator; on a model's span the judge that asked", false},
		{string(role), "model", "`evaluator` where the soundings' evaluator asked, `mutation` where instructions were put in other words, `summary` where a conversation was summed up", false},
		{string(prunedOf), prunedEvent, "how many messages left the conversation", false},
		{string(prunedFrom), prunedEvent, "what the call would have weighed, in tokens, estimated", false},
		{string(prunedTo), prunedEvent, "what it weighed then", false},
		{string(moment), "ward, " + verdictCount, "pre, turn, tool, result, post, loop_until or output_schema", false},
		{string(mode), "ward, " + verdictCount, "blocking, retry, advisory or shadow", false},
		{string(valid), "ward", "the verdict; none where the validator could not say, or was not asked", false},
		{string(issues), "ward", "how many issues the verdict has", false},
		{string(warnings), "ward", "how many warnings the verdict has", false},
		{string(errorPhase), "run", "the phase that the run's error is of", false},
		{string(httpStatus), "model", "the HTTP status of a failure, where there was one", false},
		{string(calls), "run, model", "requests that reached the endpoint, failed tries too", false},
		{string(totalInput), "run", "tokens of all requests", false},
		{string(totalOutput), "run", "tokens of all answers", false},
		{string(cost), "run, model", "cost in US dollars, where the model is priced", false},
		{string(estimated), "run, model, " + tokenUsage, "true where nobody counted the tokens, or some of them, and they are estimated", false},
		{string(routeFrom), routeEvent, "the phase that was left", false},
		{string(routeTo), routeEvent, "the phase that comes next", false},
	}
}
