import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { say, script } from "@cinch/testkit";
import type { Route } from "../../src/routes/route.ts";
import { routeTable } from "../../src/routes/table.ts";
import { errorOf, serving, type Answer } from "../serving.ts";
import { exampleBody, examplePath } from "./example-requests.ts";

const limits = { requestsPerSecond: 1_000_000, streams: 1_000 };
const serve = () => serving({ model: script(say("hi")), limits });
const withBody = routeTable.filter(({ body }) => body !== undefined);
const nested = (depth: number, [open, close]: readonly [string, string]) => open.repeat(depth) + close.repeat(depth);

const deepObject = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;

/** As text: `JSON.stringify` can't write most of them. */
const HOSTILE: readonly string[] = [
  "null",
  "true",
  "-1",
  "1e999",
  "-1e999",
  "1e-999",
  "-0",
  "9007199254740993",
  `1${"0".repeat(1_000)}`,
  "0.1",
  '""',
  '"\\u0000"',
  '"\\ud800"',
  '"\\u2028\\u202e\\ufeff"',
  '"../../etc/passwd"',
  '"%00"',
  '"her\\r\\nx-header: 1"',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"hasOwnProperty"',
  `"${"x".repeat(100_000)}"`,
  "[]",
  "[[[]]]",
  "{}",
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"toString":null,"valueOf":null,"toJSON":null,"then":null}',
  '{"length":-1,"0":"x"}',
  `[${"0,".repeat(1_000)}0]`,
];

/** The names that objects inherit. An unknown key is refused by its name, whatever objects inherit under it. */
const INHERITED = ["__proto__", ...Object.getOwnPropertyNames(Object.prototype)].filter(
  (name, at, all) => all.indexOf(name) === at,
);

type Tried = [route: Route, body: string, answer: Pick<Answer, "status" | "text">];

/** Sends bodies to every command. Not through a socket: these are thousands of requests. */
async function toEveryCommand(
  { at, server, url }: Awaited<ReturnType<typeof serve>>,
  bodiesOf: (route: Route) => Iterable<string>,
): Promise<Tried[]> {
  const { id } = await at.thread({ id: "target" });
  const headers = { "content-type": "application/json" };
  const answers: Tried[] = [];
  for (const route of withBody) {
    for (const body of bodiesOf(route)) {
      const request = new Request(url + examplePath(route, id), { method: route.method, headers, body });
      const response = await server.fetch(request);
      answers.push([route, body, { status: response.status, text: await response.text() }]);
    }
  }
  return answers;
}

/** No request of a test may make the server fail, nor change what all objects inherit. */
function watchForFailures(t: TestContext): () => void {
  const { mock } = t.mock.method(console, "error", () => undefined);
  return () => {
    assert.deepEqual(
      mock.calls.map((call) => call.arguments),
      [],
    );
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  };
}

const told = ([route, body, { status, text }]: Tried) =>
  `${route.path} ${body.slice(0, 200)}: ${status} ${text.slice(0, 200)}`;

test("whatever a field of a command holds, the server answers, and does not fail", async (t) => {
  const check = watchForFailures(t);
  await using at = await serve();
  const answers = await toEveryCommand(at, function* (route) {
    const example = exampleBody(route);
    const fields = new Set([...Object.keys(example), ...Object.keys(shapeOf(route))]);
    for (const value of HOSTILE) {
      yield value;
      for (const field of fields) {
        const others = Object.entries(example).filter(([name]) => name !== field);
        const pairs = others.map(([name, other]) => `${JSON.stringify(name)}:${JSON.stringify(other)}`);
        yield `{${[...pairs, `${JSON.stringify(field)}:${value}`].join(",")}}`;
      }
    }
  });
  assert.ok(answers.length > 1_000);
  for (const answer of answers) assert.ok(answer[2].status < 500 || answer[2].status === 501, told(answer));
  assert.equal((await at.at.get("/v1/health")).status, 200);
  check();
});

test("a key that objects inherit is an unknown key, in every body, query and form", async (t) => {
  const check = watchForFailures(t);
  await using at = await serve();
  const { id } = await at.at.thread();
  // The clients of other protocols may add fields of their own, which are not read.
  const keepsAnyKey = ({ path, adapter }: Route) => path.endsWith("/setState") || adapter !== undefined;
  const answers = await toEveryCommand(at, function* (route) {
    const pairs = Object.entries(exampleBody(route)).map(([name, value]) => `"${name}":${JSON.stringify(value)},`);
    for (const key of INHERITED)
      if (key === "__proto__" || !keepsAnyKey(route)) yield `{${pairs.join("")}"${key}":{"polluted":true}}`;
  });
  for (const answer of answers) {
    const [, body] = answer;
    const key = INHERITED.find((name) => body.includes(`"${name}":{"polluted"`));
    assert.deepEqual([answer[2].status, errorOf(answer[2]).field], [400, key], told(answer));
  }
  for (const route of routeTable.filter(({ method, may }) => method === "GET" && may !== null))
    for (const key of INHERITED) {
      const path = examplePath(route, id);
      const { status, text } = await at.at.get(`${path}${path.includes("?") ? "&" : "?"}${key}=1`);
      assert.equal(status, 400, `${route.path}?${key}: ${status} ${text}`);
    }
  for (const key of INHERITED) {
    const form = new FormData();
    form.set("body", '{"content":"x"}');
    form.set(key, "x");
    const response = await fetch(`${at.url}/v1/threads/${id}/steer`, { method: "POST", body: form });
    assert.equal(response.status, 400, key);
  }
  check();
});

test("a body that is nested too deeply is refused by every command, arrays and objects alike", async (t) => {
  const check = watchForFailures(t);
  await using at = await serve();
  const answers = await toEveryCommand(at, (route) => [
    nested(100_000, ["[", "]"]),
    `{"a":${nested(100_000, ["[", "]"])}}`,
    ...(route.path.endsWith("/setState") ? [nested(499_000, ["[", "]"]), deepObject, `[${deepObject}]`] : []),
  ]);
  for (const answer of answers) assert.equal(answer[2].status, 400, told(answer));
  check();
});

test("a body of many values, of which each is wrong, is refused with a short answer", async () => {
  await using at = await serve();
  const list = (length: number) => `[${"0,".repeat(length)}0]`;
  const keys = Array.from({ length: 40_000 }, (_, n) => `"key${n}":0`).join(",");
  const tried = new Set<string>();
  const answers = await toEveryCommand(at, (route) => {
    const fields = Object.keys(shapeOf(route)).filter((field) => !tried.has(field));
    for (const field of fields) tried.add(field);
    if (fields.length === 0) return [];
    return [
      ...fields.map((field) => `{"${field}":${list(40_000)}}`),
      `{${keys}}`,
      `{"${"k".repeat(900_000)}":0}`,
      `{"a":${list(490_000)}}`,
    ];
  });
  for (const answer of answers) {
    const expected = answer[1].startsWith('{"a"') ? [413] : [400, 409];
    assert.ok(expected.includes(answer[2].status), told(answer));
    assert.ok(answer[2].text.length < 2_000, `${told(answer)} ${answer[2].text.length}`);
  }
});

test("a message has at most 100 files, whether they come as JSON or as a form", async () => {
  await using at = await serve();
  const { id } = await at.at.thread();
  const one = { mediaType: "text/plain", data: "aGk=" };
  const send = (length: number) =>
    at.at.post(`/v1/threads/${id}/steer`, { content: "x", files: Array.from({ length }, () => one) });
  assert.equal((await send(100)).status, 200);
  const refused = await send(101);
  assert.deepEqual([refused.status, errorOf(refused).field], [400, "files"]);
  const form = (files: number) => {
    const part = (name: string, text: string) =>
      `--limit\r\nContent-Disposition: form-data; name="${name}\r\n\r\n${text}\r\n`;
    const file = part('files"; filename="x.txt"\r\nContent-Type: text/plain', "x");
    return `${part('body"', '{"content":"x"}')}${file.repeat(files)}--limit--\r\n`;
  };
  for (const parameters of [
    "boundary=limit",
    'boundary="limit"',
    "Boundary=limit",
    "xboundary=zzz; boundary=limit",
    'x="; boundary=zzz"; charset=utf-8; boundary=limit',
  ]) {
    const sent = at.at.with({ "content-type": `multipart/form-data; ${parameters}` });
    for (const [files, expected] of [
      [100, 200],
      [101, 413],
      [100_000, 413],
    ] as const) {
      const { status } = await sent.send("POST", `/v1/threads/${id}/steer`, form(files));
      assert.equal(status, expected, `${files} files, ${parameters}`);
    }
  }
  for (const parameters of [
    "boundary=limit; boundary=limit",
    "boundary=zzz; boundary=limit",
    'boundary="limit',
    'boundary="li\\mit"',
    "boundary=",
    "charset=utf-8",
    "boundary=limit; boundary",
    `boundary=${"limit".repeat(20)}`,
  ]) {
    const sent = at.at.with({ "content-type": `multipart/form-data; ${parameters}` });
    const { status } = await sent.send("POST", `/v1/threads/${id}/steer`, form(1));
    assert.equal(status, 400, parameters);
  }
});

test("a body in another encoding is refused, and a byte order mark is no part of it", async () => {
  await using at = await serve();
  const send = async (bytes: Uint8Array) =>
    fetch(`${at.url}/v1/threads`, {
      method: "POST",
      headers: { "content-type": "application/json; charset=utf-16" },
      body: bytes as Uint8Array<ArrayBuffer>,
    });
  const marked = await send(Buffer.from('\ufeff{"title":"marked"}'));
  assert.equal(marked.status, 201);
  assert.equal(((await marked.json()) as { title: string }).title, "marked");
  const wrong = [
    Buffer.from('{"title":"x"}', "utf16le"),
    Buffer.from('\ufeff{"title":"x"}', "utf16le"),
    Buffer.from([...Buffer.from('{"title":"'), 0xc0, 0xaf, ...Buffer.from('"}')]),
    Buffer.from([...Buffer.from('{"title":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')]),
    Buffer.from('\ufeff\ufeff{"title":"x"}'),
    Buffer.from('{"title":"x"}{"title":"y"}'),
    Buffer.from('{"title":"x"}\0'),
  ];
  for (const bytes of wrong) assert.equal((await send(bytes)).status, 400, bytes.toString("latin1"));
  assert.equal((await at.at.json<unknown[]>("/v1/threads")).length, 1);
});

test("of a key that is given twice the last value counts, for the check and for the command", async () => {
  await using at = await serve();
  const { id } = await at.at.thread();
  const json = at.at.with({ "content-type": "application/json" });
  const twice = await json.send("POST", `/v1/threads/${id}/renameThread`, '{"title":7,"title":"last"}');
  assert.equal(twice.status, 204);
  const wrong = await json.send("POST", `/v1/threads/${id}/renameThread`, '{"title":"first","title":7}');
  assert.deepEqual([wrong.status, errorOf(wrong).field], [400, "title"]);
  assert.deepEqual(
    (await at.at.json<{ title: string }[]>("/v1/threads")).map(({ title }) => title),
    ["last"],
  );
});

const shapeOf = ({ body }: Route): object => (body as { shape?: object } | undefined)?.shape ?? {};
