import { flushCompileCache } from "node:module";
import { sqliteStore } from "@cinch/sqlite";

/** Opens and closes the store at each path that it receives, and reports the result. */
flushCompileCache();
process.on("message", (path: string) => {
  const store = sqliteStore({ path });
  const opened = store.open().finally(() => store.close());
  opened.then(
    () => process.send!("opened"),
    (error: { code: string; message: string }) => process.send!(`${error.code}: ${error.message}`),
  );
});
