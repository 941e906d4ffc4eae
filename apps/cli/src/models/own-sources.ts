import { registerHooks } from "node:module";

let registered = false;

/**
 * Our packages run from their sources under the export condition "source". Some packages in node_modules have that condition too,
 * and point it at TypeScript, which Node does not run from there. So it is taken away for whatever they import.
 */
export function ownSourcesOnly(): void {
  if (registered) return;
  registered = true;
  registerHooks({
    resolve(specifier, context, next) {
      if (!context.parentURL?.includes("/node_modules/")) return next(specifier, context);
      return next(specifier, { ...context, conditions: context.conditions.filter((name) => name !== "source") });
    },
  });
}
