import { registerHooks } from "node:module";

// Our packages run from their sources under the export condition "source". Packages of others have that condition too, and Node
// does not strip types below node_modules, so for what they import it does not hold.
registerHooks({
  resolve(specifier, context, next) {
    if (!context.parentURL?.includes("/node_modules/")) return next(specifier, context);
    return next(specifier, { ...context, conditions: context.conditions.filter((name) => name !== "source") });
  },
});

export const { createAnthropic } = await import("@ai-sdk/anthropic");
export const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
export const { createOpenAI } = await import("@ai-sdk/openai");
