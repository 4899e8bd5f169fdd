package request

// RequestSchema and ResponseSchema are the JSON Schemas of the messages,
// draft-07.
var RequestSchema, ResponseSchema = requestSchema, responseSchema
