import { flushCompileCache } from "node:module";
import { sqliteStore } from "@cinch/sqlite";

/** A process that opens and closes the stores whose paths it is sent, and says how that went. */
flushCompileCache();
process.on("message", (path: string) => {
  const store = sqliteStore({ path });
  const opened = store.open().finally(() => store.close());
  opened.then(
    () => process.send!("opened"),
    (error: { code: string; message: string }) => process.send!(`${error.code}: ${error.message}`),
  );
});
