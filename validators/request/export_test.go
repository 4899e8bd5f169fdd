package request

// The JSON Schemas, draft-07, of both messages.
var RequestSchema, ResponseSchema = requestSchema, responseSchema
