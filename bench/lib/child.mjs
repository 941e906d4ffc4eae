/** Runs one scenario of one product: `node child.mjs PRODUCT SCENARIO JSON`. Prints "RESULT {…}". */
import { performance } from "node:perf_hooks";
import { products } from "./products.mjs";

const [product, scenario, json] = process.argv.slice(2);
const parameters = JSON.parse(json);
const { adapter, options } = products[product];
const { default: measure } = await import(`../scenarios/${scenario}.mjs`);

/** Imports the product. Separate from `start`, because only some scenarios measure the import. */
const load = () => import(`../adapters/${adapter}.mjs`).then(({ load: loadProduct }) => loadProduct(options));

const hooksOf = (hooks) => ({ runTag: process.pid, ...hooks });

const bench = {
  ...parameters,
  now: () => performance.now(),
  load,
  /** Starts the product with its files in `folder`. `hooks` are called for requests to the model and runs of the tool. */
  async start(hooks = {}, folder = parameters.folder) {
    const start = await load();
    return start({ folder, hooks: hooksOf(hooks) });
  },
  hooksOf,
  /** Serves one thread of the product over HTTP, with an agent that says what `pieces` yields. */
  serve: (pieces) =>
    import(`../adapters/${adapter}.mjs`).then(({ serve }) => serve({ folder: parameters.folder, pieces })),
};

try {
  process.stdout.write(`RESULT ${JSON.stringify(await measure(bench))}\n`);
} catch (error) {
  process.stdout.write(`RESULT ${JSON.stringify({ failed: String(error?.stack ?? error).slice(0, 600) })}\n`);
}
process.exit(0);
