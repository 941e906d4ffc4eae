/**
 * The rules of the providers' APIs. `validate…` converts a prompt to the request that the provider would receive and lists its
 * problems; `check…` does so for a request body that a real SDK has built. An empty list means that the provider accepts it.
 */
export { checkAnthropic, validateAnthropic, type AnthropicBody } from "./anthropic.ts";
export { checkGemini, validateGemini, type GeminiBody } from "./gemini.ts";
export { checkOpenAIChat, validateOpenAIChat, type OpenAIChatBody } from "./openai-chat.ts";
export { checkOpenAIResponses, validateOpenAIResponses, type OpenAIResponsesBody } from "./openai-responses.ts";
export type { Validate } from "./wire.ts";
