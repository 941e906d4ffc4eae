import { Harness, type Store } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { cliAgent } from "../agent.ts";
import { DEFAULT_DB } from "../args.ts";
import { chooseModel } from "../models/choice.ts";
import type { DriveOptions } from "./drive.ts";
import type { Printer } from "./printer.ts";

export async function openForRun({ flags, json }: DriveOptions, printer: Printer) {
  const model = chooseModel(flags.model, process.env);
  if (model.fallback && !json) {
    printer.note("model: offline (rule-based, built in; set a provider's key or give --model for a real one)");
  }
  const db = flags.db ?? DEFAULT_DB;
  const store: Store = sqliteStore({ path: db });
  const agent = cliAgent({ model: model.id, ledger: process.env["CINCH_LEDGER"] || undefined });
  const harness = new Harness({
    id: "cinch-cli",
    storage: store,
    agent,
    resolveModel: () => model.load(),
    // The tools are harmless: dice, a counter, a pause.
    permissions: [{ category: "other", policy: "allow" }],
  });
  return { harness, store, db, close: () => harness.close() };
}
