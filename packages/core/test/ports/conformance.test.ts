import { MemoryData } from "@cinch/core/store";
import { memoryStore } from "@cinch/core";
import { storeConformance } from "@cinch/testkit";

storeConformance("memory", async () => {
  const data = new MemoryData();
  const opened = async () => {
    const store = memoryStore(data);
    await store.open();
    return store;
  };
  const store = await opened();
  const mortal = async () => {
    const dying = await opened();
    return { append: dying.append.bind(dying), kill: async () => dying.die() };
  };
  return { store, another: opened, mortal, dispose: () => store.close() };
});
