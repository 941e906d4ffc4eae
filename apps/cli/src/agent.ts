import { Agent } from "@cinch/core";
import { withLedger } from "./tools/ledger.ts";
import { tools } from "./tools/index.ts";

const INSTRUCTIONS = `You are a helpful assistant in a terminal. Answer in plain text, briefly.
Use the tools where they help; call several at once when they do not depend on each other.
When the outcome of a call is unknown, verify before you repeat it, or say that it is unknown.`;

/** The agent of `cinch run`. */
export function cliAgent({ model, ledger }: { model: string; ledger: string | undefined }): Agent {
  const own = ledger === undefined ? tools : withLedger(tools, ledger);
  return new Agent({ name: "cinch", instructions: INSTRUCTIONS, model, tools: own });
}
