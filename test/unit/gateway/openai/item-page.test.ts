import { expect, it } from 'vitest';
import { itemPage } from '../../../../src/gateway/openai/responses/item-page.ts';

/** Items of three million characters each, and how many of them were read. */
function largeItems(count: number) {
  const read: string[] = [];
  const text = 'x'.repeat(3_000_000);
  function* items() {
    for (let index = 0; index < count; index += 1) {
      read.push(`i${index}`);
      yield { id: `i${index}`, text };
    }
  }
  return { read, items: items() };
}

it('a page of large items ends early, and the next one begins behind it', async () => {
  const { read, items } = largeItems(20);
  const page = await itemPage(items, { limit: 100 });
  expect(page).toMatchObject({ first_id: 'i0', last_id: 'i2', has_more: true });
  expect(page.data).toHaveLength(3);
  expect(read).toEqual(['i0', 'i1', 'i2', 'i3']);
  const next = await itemPage(largeItems(5).items, { limit: 100, after: 'i2' });
  expect(next).toMatchObject({ first_id: 'i3', last_id: 'i4', has_more: false });
});
