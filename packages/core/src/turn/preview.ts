import { toJson } from "../events/json.ts";
import type { ThreadFiles } from "../events/files.ts";
import type { Json } from "../events/message.ts";
import type { JudgedCall } from "../permissions/gate.ts";
import type { PathRuleLists } from "../permissions/path-rule.ts";
import { withTimeout } from "../ports/clock.ts";
import { CallFiles } from "./call-files.ts";
import type { Driver } from "./driver.ts";

const PREVIEW_MS = 1_000;
/** As JSON. */
const PREVIEW_CHARS = 50_000;

/** What the tool's `preview` says of a call that has to ask, as a field of its question. Never rejects: a question needs no preview. */
export async function previewField(
  { tool, input, context: { threadId, resourceId } }: JudgedCall,
  driver: Driver,
  pathRules: PathRuleLists,
): Promise<{ preview?: Json }> {
  if (!tool.preview) return {};
  const over = new AbortController();
  const signal = AbortSignal.any([driver.signal, over.signal]);
  const context = { threadId, resourceId, signal, pathRules, files: unchangeable(new CallFiles(driver)) };
  const compute = async () => boundedJson(await tool.preview!(input, context));
  try {
    const limits = { ms: PREVIEW_MS, signal: driver.signal };
    const preview = await withTimeout(driver.ports.clock, compute(), limits).catch(() => undefined);
    return preview === undefined || preview === null ? {} : { preview };
  } finally {
    over.abort("over");
  }
}

function boundedJson(value: unknown): Json {
  const json = toJson(value);
  return JSON.stringify(json).length <= PREVIEW_CHARS ? json : null;
}

/** The record of files without what changes it: a call that asks has done nothing yet. */
const unchangeable = (files: CallFiles): ThreadFiles => ({
  resourceId: files.resourceId,
  held: () => files.held(),
  offloaded: () => files.offloaded(),
  seen: (path) => files.seen(path),
  blob: (hash) => files.blob(hash),
  record: async () => false,
  checkpoint: async () => {},
  read: () => {},
  print: () => {},
});
