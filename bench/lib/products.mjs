/**
 * The products. `adapter`: the file in adapters/. `options`: passed to its `load`. `install`: the folder with the lock
 * file of its packages. To add a product, write an adapter (README.md says how) and add a line.
 */
export const products = {
  cinch: { adapter: "cinch", options: {} },
  ai7: { adapter: "ai7", options: {}, install: "." },
  pi: { adapter: "pi", options: { store: "sqlite" }, install: "peers/pi" },
  "pi-jsonl": { adapter: "pi", options: { store: "jsonl" }, install: "peers/pi" },
  deepagents: { adapter: "deepagents", options: {}, install: "peers/deepagents" },
  mastra: { adapter: "mastra", options: {}, install: "peers/mastra" },
};

export const US = "cinch";
