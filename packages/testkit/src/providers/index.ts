/**
 * What the providers' APIs refuse, as functions. `validate…` turns a prompt into the request that the provider would get and lists
 * what is wrong with it; `check…` does the same for a request body that a real SDK has made. An empty list means: accepted.
 */
export { checkAnthropic, validateAnthropic, type AnthropicBody } from "./anthropic.ts";
export { checkGemini, validateGemini, type GeminiBody } from "./gemini.ts";
export { checkOpenAIChat, validateOpenAIChat, type OpenAIChatBody } from "./openai-chat.ts";
export { checkOpenAIResponses, validateOpenAIResponses, type OpenAIResponsesBody } from "./openai-responses.ts";
export type { Validate } from "./wire.ts";
