import assert from "node:assert/strict";
import { createServer } from "node:net";
import { describe, test } from "node:test";
import { outcome, Scene } from "./attack.ts";

/** A preparation, an attempt, and its required outcome. */
interface Attack {
  prepare?(scene: Scene): void;
  attempt(scene: Scene): Promise<string>;
  gives: string;
  /** What must be true afterwards, besides that nothing outside has changed. */
  leaves?(scene: Scene): Promise<void>;
}

const secretLink = (scene: Scene) => scene.link("link", scene.outside("secret.txt"));
const folderLink = (scene: Scene) => scene.link("folder", scene.outside("."));

const attacks: Record<string, Attack> = {
  "a path that climbs over the root": { attempt: (s) => s.read("/../outside/secret.txt"), gives: "outside" },
  "a path that climbs over the root from below": {
    attempt: (s) => s.read("/src/../../outside/secret.txt"),
    gives: "outside",
  },
  "a path that was not normalised": { attempt: (s) => s.read("/src/../src/a.txt"), gives: "invalid" },
  "a path with NUL": { attempt: (s) => s.read("/src/a.txt\0.png"), gives: "invalid" },
  "a path with a line break": { attempt: (s) => s.write("/a\nb", "x"), gives: "invalid" },
  "a real path of a file outside": { attempt: (s) => s.read(s.outside("secret.txt")), gives: "not_found" },
  "a path in which dots are encoded": { attempt: (s) => s.read("/%2e%2e/outside/secret.txt"), gives: "not_found" },
  "a path with full-width dots and slashes": {
    attempt: (s) => s.read("/．．／outside／secret.txt"),
    gives: "not_found",
  },
  "a path with backslashes": { attempt: (s) => s.read("/..\\outside\\secret.txt"), gives: "invalid" },
  "the folder beside the root that is called like it": { attempt: (s) => s.list("/../root-evil"), gives: "outside" },

  "reading a link to a file outside": { prepare: secretLink, attempt: (s) => s.read("/link"), gives: "outside" },
  "asking about a link to a file outside": { prepare: secretLink, attempt: (s) => s.stat("/link"), gives: "outside" },
  "writing a link to a file outside": { prepare: secretLink, attempt: (s) => s.write("/link", "x"), gives: "outside" },
  "searching a link to a file outside": {
    prepare: secretLink,
    attempt: (s) => s.grep("SECRET", "/link"),
    gives: "outside",
  },
  "listing a folder with a link to a file outside": { prepare: secretLink, attempt: (s) => s.list("/"), gives: "/src" },
  "finding a link to a file outside": { prepare: secretLink, attempt: (s) => s.glob("**"), gives: "/src/a.txt" },
  "finding a link to a file outside by its name": {
    prepare: secretLink,
    attempt: (s) => s.glob("link"),
    gives: "outside",
  },
  "searching where a link to a file outside is": { prepare: secretLink, attempt: (s) => s.grep("SECRET"), gives: "" },
  "deleting a link to a file outside": {
    prepare: secretLink,
    attempt: (s) => s.delete("/link"),
    gives: "deleted",
    leaves: async (s) => assert.equal(await s.stat("/link"), "nothing"),
  },

  "reading in a folder that is a link outside": {
    prepare: folderLink,
    attempt: (s) => s.read("/folder/secret.txt"),
    gives: "outside",
  },
  "reading what is not there in a folder that is a link outside": {
    prepare: folderLink,
    attempt: (s) => s.read("/folder/none"),
    gives: "outside",
  },
  "listing a folder that is a link outside": {
    prepare: folderLink,
    attempt: (s) => s.list("/folder"),
    gives: "outside",
  },
  "making a file in a folder that is a link outside": {
    prepare: folderLink,
    attempt: (s) => s.write("/folder/new.txt", "x"),
    gives: "outside",
  },
  "making folders in a folder that is a link outside": {
    prepare: folderLink,
    attempt: (s) => s.write("/folder/a/b/new.txt", "x", null),
    gives: "outside",
  },
  "deleting in a folder that is a link outside": {
    prepare: folderLink,
    attempt: (s) => s.delete("/folder/sub"),
    gives: "outside",
  },
  "finding in a folder that is a link outside": {
    prepare: folderLink,
    attempt: (s) => s.glob("**", "/folder"),
    gives: "outside",
  },
  "finding with a pattern that begins with a link outside": {
    prepare: folderLink,
    attempt: (s) => s.glob("folder/**"),
    gives: "outside",
  },
  "finding everywhere, where a folder is a link outside": {
    prepare: folderLink,
    attempt: (s) => s.glob("**/*.txt"),
    gives: "/src/a.txt",
  },
  "searching everywhere, where a folder is a link outside": {
    prepare: folderLink,
    attempt: (s) => s.grep("SECRET"),
    gives: "",
  },
  "deleting a folder with links outside in it": {
    prepare: (s) => {
      s.link("tree/file", s.outside("secret.txt"));
      s.link("tree/deep/folder", s.outside("."));
    },
    attempt: (s) => s.delete("/tree"),
    gives: "deleted",
  },

  "a relative link that climbs": {
    prepare: (s) => s.link("link", "../outside/secret.txt"),
    attempt: (s) => s.read("/link"),
    gives: "outside",
  },
  "a relative link that climbs from a folder": {
    prepare: (s) => s.link("src/link", "../../outside/secret.txt"),
    attempt: (s) => s.read("/src/link"),
    gives: "outside",
  },
  "a link that climbs above the root of the disk": {
    prepare: (s) => s.link("link", `${"../".repeat(40)}etc/passwd`),
    attempt: (s) => s.read("/link"),
    gives: "outside",
  },
  "a link that begins with the root and climbs": {
    prepare: (s) => s.link("link", `${s.root}/../outside/secret.txt`),
    attempt: (s) => s.read("/link"),
    gives: "outside",
  },
  "a link into the folder that is called like the root": {
    prepare: (s) => s.link("link", `${s.root}-evil/secret.txt`),
    attempt: (s) => s.read("/link"),
    gives: "outside",
  },
  "a relative link into the folder that is called like the root": {
    prepare: (s) => s.link("link", "../root-evil/secret.txt"),
    attempt: (s) => s.read("/link"),
    gives: "outside",
  },
  "links that lead outside together": {
    prepare: (s) => {
      s.link("a", "b");
      s.link("b", "src/c");
      s.link("src/c", "../../outside/secret.txt");
    },
    attempt: (s) => s.read("/a"),
    gives: "outside",
  },
  "a link through a link": {
    prepare: (s) => {
      s.link("up", "src/..");
      s.link("link", "up/../outside/secret.txt");
    },
    attempt: (s) => s.read("/link"),
    gives: "outside",
  },
  "a link to nothing outside, written": {
    prepare: (s) => s.link("link", s.outside("new.txt")),
    attempt: (s) => s.write("/link", "x"),
    gives: "outside",
  },
  "a link to nothing outside, read": {
    prepare: (s) => s.link("link", s.outside("none")),
    attempt: (s) => s.read("/link"),
    gives: "outside",
  },
  "a link to the root of the disk": {
    prepare: (s) => s.link("link", "/"),
    attempt: (s) => s.read("/link/etc/passwd"),
    gives: "outside",
  },
  "a link to what is above the root": {
    prepare: (s) => s.link("link", ".."),
    attempt: (s) => s.list("/link"),
    gives: "outside",
  },
  "a link to the environment of this process": {
    prepare: (s) => s.link("link", "/proc/self/environ"),
    attempt: (s) => s.read("/link"),
    gives: "outside",
  },
  "a link over the root of this process": {
    prepare: (s) => s.link("link", "/proc/self/root/etc/passwd"),
    attempt: (s) => s.read("/link"),
    gives: "outside",
  },
  "a link to the files of this process": {
    prepare: (s) => s.link("link", "/proc/self/fd/0"),
    attempt: (s) => s.read("/link"),
    gives: "outside",
  },
  "a link to a device": {
    prepare: (s) => s.link("link", "/dev/zero"),
    attempt: (s) => s.read("/link"),
    gives: "outside",
  },
  "a link to itself": { prepare: (s) => s.link("link", "link"), attempt: (s) => s.read("/link"), gives: "invalid" },
  "links to one another": {
    prepare: (s) => {
      s.link("a", "b/x");
      s.link("b", "a/x");
    },
    attempt: (s) => s.write("/a/new", "x"),
    gives: "invalid",
  },
  "folders that hold themselves": {
    prepare: (s) => {
      s.link("src/self", ".");
      s.link("src/up", "..");
    },
    attempt: (s) => s.glob("**"),
    gives: "/src/a.txt",
  },

  "a link to a file inside": {
    prepare: (s) => s.link("link", "src/a.txt"),
    attempt: (s) => s.read("/link"),
    gives: "inside",
  },
  "a link to a file inside by its real path": {
    prepare: (s) => s.link("link", `${s.root}/src//./a.txt`),
    attempt: (s) => s.read("/link"),
    gives: "inside",
  },
  "a link that goes out and comes back": {
    prepare: (s) => s.link("src/link", "../../root/src/a.txt"),
    attempt: (s) => s.read("/src/link"),
    gives: "inside",
  },
  "a link to a folder inside": {
    prepare: (s) => s.link("link", "src"),
    attempt: (s) => s.list("/link"),
    gives: "/link/a.txt",
  },
  "searching in a link to a folder inside": {
    prepare: (s) => s.link("link", "src"),
    attempt: (s) => s.grep("inside", "/link"),
    gives: "/link/a.txt:inside",
  },
  "finding over a link to a folder inside": {
    prepare: (s) => s.link("link", "src"),
    attempt: (s) => s.glob("link/*"),
    gives: "/link/a.txt",
  },
  "writing over a link inside": {
    prepare: (s) => s.link("link", "src/a.txt"),
    attempt: (s) => s.write("/link", "new"),
    gives: "written",
    leaves: async (s) => assert.deepEqual([await s.read("/src/a.txt"), await s.read("/link")], ["new", "new"]),
  },
  "writing a link to nothing inside": {
    prepare: (s) => s.link("link", "src/new/b.txt"),
    attempt: (s) => s.write("/link", "new"),
    gives: "written",
    leaves: async (s) => assert.equal(await s.read("/src/new/b.txt"), "new"),
  },
  "a link where none may be any more": {
    prepare: (s) => s.link("link", "src"),
    attempt: (s) => s.read("/link/a.txt", true),
    gives: "changed",
  },

  "writing a file that is outside too": {
    prepare: (s) => s.hardLink("hard", s.outside("secret.txt")),
    attempt: (s) => s.write("/hard", "x"),
    gives: "written",
  },
  "deleting a file that is outside too": {
    prepare: (s) => s.hardLink("hard", s.outside("secret.txt")),
    attempt: (s) => s.delete("/hard"),
    gives: "deleted",
  },

  "reading a pipe": { prepare: (s) => s.run("mkfifo", "pipe"), attempt: (s) => s.read("/pipe"), gives: "invalid" },
  "writing a pipe": {
    prepare: (s) => s.run("mkfifo", "pipe"),
    attempt: (s) => s.write("/pipe", "x"),
    gives: "invalid",
  },
  "asking about a pipe": { prepare: (s) => s.run("mkfifo", "pipe"), attempt: (s) => s.stat("/pipe"), gives: "invalid" },
  "listing a folder with a pipe": {
    prepare: (s) => s.run("mkfifo", "pipe"),
    attempt: (s) => s.list("/"),
    gives: "/src",
  },
  "searching a pipe": { prepare: (s) => s.run("mkfifo", "pipe"), attempt: (s) => s.grep("x", "/pipe"), gives: "" },
  "searching a folder with a pipe": {
    prepare: (s) => s.run("mkfifo", "src/pipe"),
    attempt: (s) => s.grep("inside"),
    gives: "/src/a.txt:inside",
  },
  "searching where the ignore file is a pipe": {
    prepare: (s) => s.run("mkfifo", "src/.gitignore", ".ignore"),
    attempt: (s) => s.grep("inside"),
    gives: "/src/a.txt:inside",
  },
  "searching where the ignore file is a link outside": {
    prepare: (s) => s.link(".gitignore", s.outside("secret.txt")),
    attempt: (s) => s.glob("**"),
    gives: "/src/a.txt",
  },
  "deleting a pipe": { prepare: (s) => s.run("mkfifo", "pipe"), attempt: (s) => s.delete("/pipe"), gives: "deleted" },
  "deleting a folder with a pipe": {
    prepare: (s) => s.run("mkfifo", "src/pipe"),
    attempt: (s) => s.delete("/src"),
    gives: "deleted",
  },

  "a name that no path can hold": {
    prepare: (s) => s.file("src/a\nb", "x"),
    attempt: (s) => s.list("/src"),
    gives: "/src/a.txt",
    leaves: async (s) => assert.equal(await s.delete("/src"), "deleted"),
  },
  "a name that is no text": {
    prepare: (s) => s.run("touch", "src/ok"),
    attempt: async (s) => {
      s.run("sh", "-c", `touch "$(printf 'src/\\377')"`);
      return `${await s.list("/src")} ${await s.glob("src/*")}`;
    },
    gives: "/src/a.txt /src/ok /src/a.txt /src/ok",
    leaves: async (s) => assert.equal(await s.delete("/src"), "deleted"),
  },
  "a name that is used for files that are being written": {
    attempt: (s) => s.write("/.cinch-tmp-x", "x"),
    gives: "invalid",
  },
};

for (const confinement of ["descriptors", "checks"] as const) {
  describe(`no path escapes a directory (${confinement})`, { concurrency: 4 }, () => {
    for (const [name, { prepare, attempt, gives, leaves }] of Object.entries(attacks)) {
      test(`${name}: ${gives === "" ? "nothing" : gives}`, async () => {
        await using scene = await Scene.make(confinement);
        prepare?.(scene);
        assert.equal(await outcome(attempt(scene)), gives);
        await leaves?.(scene);
        scene.checkOutside();
      });
    }

    test("a socket is neither read nor listed", async () => {
      await using scene = await Scene.make(confinement);
      const server = createServer().listen(scene.inside("socket"));
      try {
        await new Promise((resolve) => server.once("listening", resolve));
        assert.deepEqual([await outcome(scene.read("/socket")), await scene.list("/")], ["invalid", "/src"]);
      } finally {
        server.close();
      }
    });
  });
}
