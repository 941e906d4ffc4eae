import { defaultPrices, type PriceTable } from "@cinch/core";

/** `-20250929`, `-2025-08-07`, `-latest`, `-001`, `-preview-09-2025` */
const RELEASE = /-(?:\d{8}|\d{4}-\d\d-\d\d|latest|\d{3}|preview-\d\d-\d{4})$/;

/** Whether a budget in dollars can bind the model. The names are those by which the harness finds a price: a test compares them. */
export function hasKnownPrice(modelId: string, ofUser: PriceTable): boolean {
  if (modelId === "offline") return true;
  const prices = { ...defaultPrices, ...ofUser };
  const name = modelId.slice(modelId.indexOf("/") + 1);
  return [modelId, name, name.replace(RELEASE, "")].some((known) => Object.hasOwn(prices, known));
}
