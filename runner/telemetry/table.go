package telemetry

import "go.opentelemetry.io/otel/attribute"

// The names of all attributes. Names of gen_ai and error are those of the GenAI semantic
// conventions (v1.41, development). docs/reference/telemetry.md describes each.
const (
	operationName   = attribute.Key("gen_ai.operation.name")
	workflowName    = attribute.Key("gen_ai.workflow.name")
	conversation    = attribute.Key("gen_ai.conversation.id")
	providerName    = attribute.Key("gen_ai.provider.name")
	requestModel    = attribute.Key("gen_ai.request.model")
	responseModel   = attribute.Key("gen_ai.response.model")
	outputType      = attribute.Key("gen_ai.output.type")
	inputTokens     = attribute.Key("gen_ai.usage.input_tokens")
	outputTokens    = attribute.Key("gen_ai.usage.output_tokens")
	responseID      = attribute.Key("gen_ai.response.id")
	finishReasons   = attribute.Key("gen_ai.response.finish_reasons")
	cachedTokens    = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	writtenTokens   = attribute.Key("gen_ai.usage.cache_creation.input_tokens")
	reasoningTokens = attribute.Key("gen_ai.usage.reasoning.output_tokens")
	tokenType       = attribute.Key("gen_ai.token.type")
	serverAddress   = attribute.Key("server.address")
	serverPort      = attribute.Key("server.port")
	toolName        = attribute.Key("gen_ai.tool.name")
	toolType        = attribute.Key("gen_ai.tool.type")
	toolCallID      = attribute.Key("gen_ai.tool.call.id")
	evaluated       = attribute.Key("gen_ai.evaluation.name")
	scoreValue      = attribute.Key("gen_ai.evaluation.score.value")
	scoreLabel      = attribute.Key("gen_ai.evaluation.score.label")
	errorType       = attribute.Key("error.type")

	explanation    = attribute.Key("gen_ai.evaluation.explanation")
	inputMessages  = attribute.Key("gen_ai.input.messages")
	outputMessages = attribute.Key("gen_ai.output.messages")
	toolArguments  = attribute.Key("gen_ai.tool.call.arguments")
	toolResult     = attribute.Key("gen_ai.tool.call.result")
	messageText    = attribute.Key("capstan.message")
	shortened      = attribute.Key("capstan.content.truncated")

	runID       = attribute.Key("capstan.run.id")
	cascadeID   = attribute.Key("capstan.cascade.id")
	path        = attribute.Key("capstan.path")
	status      = attribute.Key("capstan.status")
	phaseName   = attribute.Key("capstan.phase")
	visit       = attribute.Key("capstan.visit")
	attempt     = attribute.Key("capstan.attempt")
	turn        = attribute.Key("capstan.turn")
	sounding    = attribute.Key("capstan.sounding")
	item        = attribute.Key("capstan.item")
	validator   = attribute.Key("capstan.validator")
	role        = attribute.Key("capstan.role")
	moment      = attribute.Key("capstan.moment")
	mode        = attribute.Key("capstan.mode")
	valid       = attribute.Key("capstan.valid")
	issues      = attribute.Key("capstan.issues")
	warnings    = attribute.Key("capstan.warnings")
	errorPhase  = attribute.Key("capstan.error.phase")
	httpStatus  = attribute.Key("http.response.status_code")
	calls       = attribute.Key("capstan.usage.model_calls")
	totalInput  = attribute.Key("capstan.usage.input_tokens")
	totalOutput = attribute.Key("capstan.usage.output_tokens")
	cost        = attribute.Key("capstan.usage.cost_usd")
	estimated   = attribute.Key("capstan.usage.estimated")
	routeFrom   = attribute.Key("capstan.route.from")
	routeTo     = attribute.Key("capstan.route.to")
	prunedOf    = attribute.Key("capstan.pruned.messages")
	prunedFrom  = attribute.Key("capstan.pruned.tokens_before")
	prunedTo    = attribute.Key("capstan.pruned.tokens_after")
)

// The names of span events.
const (
	evaluationEvent = "gen_ai.evaluation.result"
	routeEvent      = "capstan.route"
	feedbackEvent   = "capstan.feedback"
	waitingEvent    = "capstan.waiting"
	answeredEvent   = "capstan.answered"
	prunedEvent     = "capstan.pruned"
)
