import assert from "node:assert/strict";
import { chmodSync, existsSync as exists, lstatSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, test } from "node:test";
import { bwrapSandbox, sandboxShell, srtSandbox } from "@cinch/workspace";
import type { Probe } from "@cinch/workspace/shell";
import { kernelMounts } from "../../src/sandboxes/kernel.ts";
import { bubblewrap, sandboxRuntime } from "./sandboxes.ts";
import { closing, folder, ran, without } from "../shells/shell-support.ts";

/** Opens every file of the kernel that does not belong to a process for writing, writes nothing, and prints those that opened. */
const OPEN_ALL = `
find /proc /sys -regex '/proc/[0-9].*' -prune -o -type f -print 2>/dev/null | while read -r file; do
  ( : 3<> "$file" ) 2>/dev/null && echo "opened $file"
  ( : >> "$file" ) 2>/dev/null && echo "opened $file"
done
echo over`;

/** Files that set a program for the kernel to run, restart the machine, or show its memory and keys. */
const KERNEL = words(`
  /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/kernel/hotplug /proc/sys/vm/drop_caches
  /proc/sys/fs/binfmt_misc/register /proc/sysrq-trigger /proc/irq/default_smp_affinity /proc/bus/pci/00/00.0
  /proc/fs/ext4 /proc/acpi/wakeup /proc/scsi/scsi /proc/mtrr /sys/kernel/uevent_helper /sys/power/state
  /sys/fs/cgroup/release_agent /sys/kernel/debug/x /sys/firmware/efi/efivars/x /sys/module/kernel/parameters/panic
`);

const SHOWN = words("/proc/kcore /proc/keys /proc/timer_list /proc/sched_debug /proc/latency_stats /proc/asound/cards");

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

const isRoot = process.getuid?.() === 0;

test("neither sandbox on this machine lets the kernel's files be written: otherwise the tests below would be skipped", () => {
  for (const { why } of [bubblewrap, sandboxRuntime]) assert.doesNotMatch(String(why), /can be opened for writing/);
});

test("sandbox-runtime works where bubblewrap does and socat is installed: otherwise its tests would be skipped", () => {
  if (bubblewrap.why === false && !without("socat")) assert.equal(sandboxRuntime.why, false);
});

test("every file of the kernel with a writable mode is mounted read-only, even if the machine denies it to root", () => {
  const mounts = kernelMounts();
  const writable = readdirSync("/proc")
    .filter((name) => !/^\d+$/.test(name))
    .map((name) => `/proc/${name}`)
    .filter((path) => lstatSync(path).isFile() && (lstatSync(path).mode & 0o222) !== 0);
  assert.ok(writable.length > 0);
  assert.deepEqual(
    writable.filter((path) => !mounts.includes(path)),
    [],
  );
});

for (const { title, why, lend, close } of [bubblewrap, sandboxRuntime]) {
  describe(`the kernel's files in ${title}`, { skip: why }, () => {
    test("can't be opened for writing, not even by root", async () => {
      using root = folder();
      await using other = closing(sandboxShell({ root: root.path, sandbox: lend() }));
      assert.equal((await ran(other.shell, OPEN_ALL)).printed, "over\n");
      await close();
    });

    test("can't be written under any other name", async () => {
      using root = folder();
      await using other = closing(sandboxShell({ root: root.path, sandbox: lend() }));
      // Each only opens the file, so that nothing is written to the machine that runs the tests, even if a sandbox fails.
      const ways = KERNEL.flatMap((file) => [
        `: >> ${file}`,
        `: <> ${file}`,
        `ln -s ${file} link; : >> link`,
        `: >> /proc/self/root${file}`,
        `: >> /proc/self/task/$$/root${file}`,
        `: >> /proc/1/root${file}`,
        `cd / && : >> .${file}`,
        `cd /proc && : >> ../${file.slice(1)}`,
        `cd ${dirname(file)} && : >> ./${basename(file)}`,
        `exec 5< ${file} && : >> /proc/self/fd/5`,
        `chmod 666 ${file} && : >> ${file}`,
        `mkdir -p m && mount -t proc proc m && : >> m${file.slice(5)}`,
        `mount --bind ${dirname(file)} m && : >> m/${basename(file)}`,
        `mount -o remount,bind,rw ${dirname(file)}; : >> ${file}`,
        `umount -l /proc/sys; : >> ${file}`,
        `unshare -Urm sh -c 'umount -l /proc/sys; : >> ${file}'`,
      ]);
      const command = ways.map((way) => `( ${way} ) >/dev/null 2>&1 && echo "${way}"; rm -f link`).join("\n");
      assert.equal((await ran(other.shell, `${command}\necho over`)).stdout, "over\n");
      await close();
    });

    test("don't show memory and keys of the machine", async () => {
      using root = folder();
      await using other = closing(sandboxShell({ root: root.path, sandbox: lend() }));
      const { printed } = await ran(
        other.shell,
        `cat ${SHOWN.join(" ")} 2>/dev/null | wc -c; ls -A /sys 2>/dev/null | wc -l`,
      );
      assert.equal(printed.replaceAll(" ", ""), "0\n0\n");
      await close();
    });
  });
}

describe(
  "a sandbox in which the kernel's files can be written",
  { skip: !isRoot && "only root could write them" },
  () => {
    /** A bubblewrap without the options that make them read-only. */
    function careless(path: string): string {
      const file = join(path, "bwrap");
      writeFileSync(
        file,
        `#!/bin/bash
words=()
while [ $# -gt 0 ]; do
  if [ "$1" = --ro-bind ] && [ "$3" = /proc/sys ]; then shift 3; else words+=("$1"); shift; fi
done
exec ${JSON.stringify(bwrapOnPath())} "\${words[@]}"
`,
      );
      chmodSync(file, 0o755);
      return file;
    }
    const bwrapOnPath = () =>
      (process.env.PATH ?? "")
        .split(":")
        .map((one) => join(one, "bwrap"))
        .find(exists) ?? "bwrap";
    const refused = (probe: Probe) =>
      assert.match(probe.works ? "works" : probe.reason, /\/proc\/sys\/kernel\/core_pattern can be opened for writing/);

    test("is refused: bubblewrap", { skip: bubblewrap.why }, async () => {
      using bin = folder();
      refused(await bwrapSandbox({ bwrap: careless(bin.path) }).probe());
    });

    test("is refused: sandbox-runtime", { skip: sandboxRuntime.why }, async () => {
      using bin = folder();
      careless(bin.path);
      const sandbox = srtSandbox();
      const { PATH } = process.env;
      process.env.PATH = `${bin.path}:${PATH}`;
      refused(await sandbox.probe().finally(() => (process.env.PATH = PATH)));
      await sandbox.close?.();
    });
  },
);
