import { inPackage } from "./mutant.ts";

/** What an operator of a server relies on: a log without secrets, metrics that are right, tokens that end, a stop that loses nothing. */
const ofServer = inPackage("packages/server", [
  {
    attacks: "log: the message of an error is written to it",
    file: "observe/request-record.ts",
    find: "this.#end = { cause: causeOf(error) };",
    replace: "this.#end = { cause: { name: String(error) } };",
    tests: ["observe/log", "observe/secrets"],
  },
  {
    attacks: "log: an id is written to it before it is checked",
    file: "request-handler.ts",
    find: "for (const [name, value] of Object.entries(params)) checkParam(name, value);",
    replace:
      'record.concerns(params["threadId"]);\n    for (const [name, value] of Object.entries(params)) checkParam(name, value);',
    tests: ["observe/secrets"],
  },
  {
    attacks: "log: any word that a caller sends as its method is written to it",
    file: "observe/request-record.ts",
    find: 'METHODS.has(method) ? method : "OTHER"',
    replace: "method",
    tests: ["observe/log"],
  },
  {
    attacks: "log: what Node refuses by itself is not in it",
    file: "observe/unread-requests.ts",
    find: "if (refusal) newRecord()",
    replace: "if (refusal?.status === 0) newRecord()",
    tests: ["observe/log"],
  },
  {
    attacks: "metrics: a caller that may only read gets them",
    file: "routes/metrics-route.ts",
    find: 'may: "manage"',
    replace: 'may: "read"',
    tests: ["observe/metrics"],
  },
  {
    attacks: "metrics: a label ends where its value has a quote",
    file: "observe/exposition.ts",
    find: "escaped(value).replaceAll('\"', '\\\\\"')",
    replace: "value",
    tests: ["observe/metrics"],
  },
  {
    attacks: "metrics: a bucket does not contain those below",
    file: "observe/instruments.ts",
    find: "total += counts[at]!;",
    replace: "total = counts[at]!;",
    tests: ["observe/metrics"],
  },
  {
    attacks: "metrics: a stream that has ended is counted",
    file: "observe/request-record.ts",
    find: "      closed();\n",
    replace: "",
    tests: ["observe/metrics"],
  },
  {
    attacks: "access: a caller that loses access while it waits gets its answer",
    file: "request-handler.ts",
    find: "? whileAllowed(answer, who) : answer",
    replace: "? answer : answer",
    tests: ["access/access"],
  },
  {
    attacks: "access: a caller that may only talk approves a plan",
    file: "routes/answers.ts",
    find: 'question.toolName === "submit_plan" ? "approve" : "talk"',
    replace: '"talk"',
    tests: ["routes/plans"],
  },
]);

const ofCommandLine = inPackage("apps/cli", [
  {
    attacks: "serve: other machines reach it before there is a token",
    file: "serve/serve.ts",
    find: "if (!hasPeople && !isLoopback(host))",
    replace: "if (false)",
    tests: ["serve/serve"],
  },
  {
    attacks: "serve: a token that the user has given is printed",
    file: "serve/serve.ts",
    find: "const fragment = own?.isNew ?",
    replace: "const fragment = own ?",
    tests: ["serve/serve"],
  },
  {
    attacks: "serve: with --read-only the tokens of people keep their roles",
    file: "serve/live-tokens.ts",
    find: "token.may.filter((role) => this.#ports.most.includes(role))",
    replace: "token.may",
    tests: ["serve/serve"],
  },
  {
    attacks: "serve: a signal does not wait for what runs",
    file: "serve/serve.ts",
    find: "    drainMs = DRAIN_MS;\n",
    replace: "",
    tests: ["serve/serve"],
  },
  {
    attacks: "serve: a second signal waits too",
    file: "serve/stop-signals.ts",
    find: "process.exit(code);",
    replace: "resolve();",
    tests: ["serve/serve"],
  },
  {
    attacks: "tokens: the streams of a person whose token is revoked stay open",
    file: "serve/live-tokens.ts",
    find: "if (!kept.has(one)) one.access.abort();",
    replace: "if (kept.size < 0) one.access.abort();",
    tests: ["serve/tokens"],
  },
  {
    attacks: "tokens: adding a person replaces the token that the person has",
    file: "serve/token-folder.ts",
    find: "linkSync(temporary, file);",
    replace: "rmSync(file, { force: true });\n      linkSync(temporary, file);",
    tests: ["serve/tokens"],
  },
  {
    attacks: "tokens: a token is for every folder of the user",
    file: "serve/token-folder.ts",
    find: "projectFolder(userFolders(env).state, folder)",
    replace: 'projectFolder(userFolders(env).state, folder && "/")',
    tests: ["serve/tokens"],
  },
]);

export const operations = [...ofServer, ...ofCommandLine];
