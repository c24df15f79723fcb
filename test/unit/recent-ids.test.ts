import { expect, it } from 'vitest';
import { RecentIds } from '../../src/runtime/sessions/recent-ids.ts';

it('keeps the ids that were given last, so many of them', () => {
  const ids = new RecentIds(2);
  for (const id of ['a', 'b', 'a', 'c']) ids.add(id);
  expect(['a', 'b', 'c'].filter((id) => ids.has(id))).toEqual(['a', 'c']);
});
