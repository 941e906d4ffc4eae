import process from "node:process";

/** Keeps one core busy until the parent process ends. */
process.on("disconnect", () => process.exit());
function spin(): void {
  for (const end = performance.now() + 50; performance.now() < end;);
  setImmediate(spin);
}
spin();
