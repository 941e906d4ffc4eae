/** One turn of many steps: time, bytes written, and how both grow with the thread. */
import { folderSize, written } from "../lib/disk.mjs";
import { mean, median } from "../lib/numbers.mjs";
import { bytesSaid } from "../lib/script.mjs";

const WINDOW = 50;

export default async function steps({ n, resultBytes, folder, start, now }) {
  const empty = await sizeOfEmpty(start, folder);
  const marks = [];
  const host = await start({ resultBytes, onTool: () => void marks.push({ at: now(), ...written() }) });
  await host.open("warm");
  await host.sendMessage("warm", "STEPS 10");
  marks.length = 0;
  await host.open("s1");
  host.subscribe("s1", () => {});

  const before = written();
  const cpu = process.cpuUsage();
  const from = now();
  await host.sendMessage("s1", `STEPS ${n}`);
  const ms = now() - from;
  const { user, system } = process.cpuUsage(cpu);
  const after = written();
  if (marks.length !== n) throw new Error(`${marks.length} steps were run, not ${n}`);

  await host.indexed?.();
  const indexed = written();
  const openSize = folderSize(folder);
  await host.close();
  const said = Array.from({ length: n }, (_, at) => bytesSaid(at + 1, resultBytes)).reduce((a, b) => a + b);
  const time = differences(marks.map(({ at }) => at));
  const bytes = differences(marks.map(({ wchar }) => wchar));
  return {
    msPerStep: ms / n,
    cpuMsPerStep: (user + system) / 1000 / n,
    firstMs: median(time.slice(0, WINDOW)),
    lastMs: median(time.slice(-WINDOW)),
    bytesPerStep: (after.wchar - before.wchar) / n,
    diskBytesPerStep: (after.write_bytes - before.write_bytes) / n,
    writesPerStep: (after.syscw - before.syscw) / n,
    indexBytesPerStep: (indexed.wchar - after.wchar) / n,
    bytesAt10: median(bytes.slice(4, 14)),
    bytesAtEnd: median(bytes.slice(-10)),
    meanBytesFirst: mean(bytes.slice(0, WINDOW)),
    meanBytesLast: mean(bytes.slice(-WINDOW)),
    saidPerStep: said / n,
    growth: (folderSize(folder) - empty) / said,
    growthWhileOpen: (openSize - empty) / said,
    peakRssMB: process.resourceUsage().maxRSS / 1024,
  };
}

/** The size of an empty store. */
async function sizeOfEmpty(start, folder) {
  const host = await start({});
  await host.open("warm");
  await host.close();
  return folderSize(folder);
}

const differences = (values) => values.slice(1).map((value, at) => value - values[at]);
