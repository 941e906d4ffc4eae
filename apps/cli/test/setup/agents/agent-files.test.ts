import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import { textOf } from "@cinch/core";
import { readAgentFiles } from "../../../src/setup/agents/agent-files.ts";
import { served, UserHome } from "../user-home.ts";

const mock = new LLMock({ port: 0 });
before(() => mock.start());
after(() => mock.stop());

const read = ({ config }: UserHome) => readAgentFiles([join(config, "agents")]);

test("tools are a list, or a text with commas or spaces", async () => {
  for (const tools of ["[read_file, grep]", "read_file, grep", "read_file grep", "\n  - read_file\n  - grep"]) {
    await using user = new UserHome().write({
      ".config/cinch/agents/reviewer.md": `---\ndescription: Reviews\ntools: ${tools}\n---\nReview.`,
    });
    const { agents, notes } = read(user);
    assert.deepEqual(notes, []);
    assert.deepEqual(agents, [
      {
        file: join(user.config, "agents/reviewer.md"),
        name: "reviewer",
        description: "Reviews",
        instructions: "Review.",
        availableTools: ["read_file", "grep"],
      },
    ]);
  }
});

test("a file that can't be used is named with its line, and does no harm to the others", async () => {
  const cases: [contents: string, problem: RegExp][] = [
    ["Review.", /a\.md:1: The file must begin with a line "---"/],
    ["---\nname: a\n---\nReview.", /a\.md:1: The description is missing\./],
    ["---\nname: Two Words\ndescription: x\n---\nReview.", /a\.md:2: The name "Two Words" may hold small letters/],
    ["---\ndescription: x\n---\n", /a\.md:1: There are no instructions\./],
    ["---\ndescription: [x, y]\n---\nReview.", /a\.md:2: "description" must be a text, not a list\./],
    [
      "---\ndescription: x\nmaxSteps: many\n---\nReview.",
      /a\.md:3: "maxSteps" must be a whole number from 1, not "many"\./,
    ],
  ];
  for (const [contents, problem] of cases) {
    await using user = new UserHome().write({
      ".config/cinch/agents/a.md": contents,
      ".config/cinch/agents/b.md": "---\ndescription: Fine\n---\nHelp.",
      ".config/cinch/agents/notes.txt": "not an agent",
    });
    const { agents, notes } = read(user);
    assert.deepEqual(
      agents.map(({ name }) => name),
      ["b"],
    );
    assert.equal(notes.length, 1);
    assert.match(notes[0]!, problem);
    assert.match(notes[0]!, /The agent is not used\.$/);
  }
});

test("of two agents with one name, that of the later folder counts", async () => {
  await using user = new UserHome().write({
    ".config/cinch/agents/reviewer.md": "---\ndescription: The user's\n---\nReview.",
    "shop/.cinch/agents/other.md": "---\nname: reviewer\ndescription: The project's\n---\nReview.",
  });
  const { agents } = readAgentFiles([join(user.config, "agents"), join(user.folder, ".cinch/agents")]);
  assert.deepEqual(
    agents.map(({ description }) => description),
    ["The project's"],
  );
});

test("a subagent works with its own instructions and tools", async () => {
  await using user = new UserHome(served(mock)).write({
    ".config/cinch/agents/reviewer.md": "---\ndescription: Reviews\ntools: read_file, grep\n---\nREVIEW-STRICTLY",
  });
  mock.on({ userMessage: /look at it/ }, { content: "Two mistakes." });
  mock.on({ userMessage: /go/, hasToolResult: true, toolResultContains: "Two mistakes." }, { content: "Done." });
  mock.on(
    { userMessage: /go/ },
    { toolCalls: [{ name: "task", arguments: JSON.stringify({ agent: "reviewer", prompt: "look at it" }) }] },
  );
  const { harness } = await user.open();
  const { message } = await harness.sendMessage({ content: "go" });
  assert.equal(textOf(message!.content), "Done.");
  const bodies = mock
    .getRequests()
    .map(({ body }) => body as { messages: unknown[]; tools: { function: { name: string } }[] });
  const own = bodies.find(({ messages }) => JSON.stringify(messages[0]).includes("REVIEW-STRICTLY"))!;
  assert.deepEqual(own.tools.map((tool) => tool.function.name).toSorted(), ["grep", "read_file"]);
});
