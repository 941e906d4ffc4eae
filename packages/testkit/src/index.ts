/** For tests of agents, stores and backends: a scripted model, conformance suites, provider validators, and crash points. */
export {
  call,
  fail,
  finish,
  hang,
  inTurn,
  parts,
  say,
  script,
  scriptedBy,
  type ScriptedModel,
  type Step,
} from "./model.ts";
export {
  checkAnthropic,
  checkGemini,
  checkOpenAIChat,
  checkOpenAIResponses,
  validateAnthropic,
  validateGemini,
  validateOpenAIChat,
  validateOpenAIResponses,
  type AnthropicBody,
  type GeminiBody,
  type OpenAIChatBody,
  type OpenAIResponsesBody,
  type Validate,
} from "./providers/index.ts";
export { hostPlacements } from "./placement-conformance/host-placements.ts";
export type { PlacementProgram, PlacementUnderTest } from "./placement-conformance/engine.ts";
export { placementConformance } from "./placement-conformance.ts";
export { storeConformance } from "./store-conformance.ts";
export {
  crashPoints,
  removeLeftovers,
  torture,
  tortureAll,
  type TorturedStore,
  type Verdict,
} from "./torture/torture.ts";
export { mainThread, playScenario, tortureHarness } from "./torture/scenario.ts";
export { crashWhenEmitted } from "./torture/crash-point.ts";
export { backendConformance, backendStreams, type BackendUnderTest } from "./backend-conformance.ts";
