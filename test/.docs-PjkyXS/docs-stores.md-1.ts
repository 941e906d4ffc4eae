import { memoryStore } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { storeConformance } from "@cinch/testkit";

storeConformance("my store", async () => {
  const data = new MemoryData();
  const store = memoryStore(data);
  await store.open();
  const another = async () => {
    const second = memoryStore(data);
    await second.open();
    return second;
  };
  return { store, another, dispose: () => store.close() };
});
