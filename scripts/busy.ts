import process from "node:process";

/** Keeps one core busy, for as long as the process that started it lives. */
process.on("disconnect", () => process.exit());
function spin(): void {
  for (const end = performance.now() + 50; performance.now() < end;);
  setImmediate(spin);
}
spin();
