/** The project of the tour, by path: a cart whose total is wrong, for two reasons. The second shows only when the first is mended. */
export const SHOP: Readonly<Record<string, string>> = {
  "package.json": `{
  "name": "shop",
  "private": true,
  "type": "module",
  "scripts": { "test": "node --test --test-reporter=spec" }
}
`,
  "src/cart.js": `/** What the items of a cart cost together. */
export function total(items) {
  let sum = 0;
  for (let i = 1; i < items.length; i++) {
    sum += items[i].price * items[i].count;
  }
  return sum;
}
`,
  "test/cart.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { total } from "../src/cart.js";

test("the total has every item", () => {
  assert.equal(total([{ price: 2, count: 3 }, { price: 5, count: 1 }]), 11);
});

test("the total is exact to the cent", () => {
  assert.equal(total([{ price: 0.1, count: 1 }, { price: 0.2, count: 1 }]), 0.3);
});
`,
};
