import { flushCompileCache } from "node:module";
import { sqliteStore, type SqliteOptions } from "@cinch/sqlite";

/** A call of a method of the store, sent by the parent process. */
interface Call {
  id: number;
  method: "append" | "close" | "deleteThread" | "draft" | "holds" | "lease" | "open" | "read" | "saveDraft" | "threads";
  args: never[];
}

// Most of these processes are killed, which would lose the compile cache.
flushCompileCache();
if (process.env["UMASK"] !== undefined) process.umask(process.env["UMASK"]);
const store = sqliteStore(JSON.parse(process.argv[2]!) as SqliteOptions);

process.on("message", ({ id, method, args }: Call) => {
  const call = store[method] as (...values: never[]) => Promise<unknown>;
  call.apply(store, args).then(
    (value) => process.send!({ id, value }),
    (error: { code: string; message: string }) =>
      process.send!({ id, failure: { code: error.code, message: error.message } }),
  );
});
