import { expect, it } from 'vitest';
import type { Task } from '../../../../src/gateway/a2a/a2a-objects.ts';
import { firstOf } from '../../../../src/gateway/a2a/list-tasks.ts';

const task = (id: string, text: string): Task => ({
  id,
  contextId: 'c',
  status: { state: 'TASK_STATE_COMPLETED', timestamp: '2026-11-30T12:00:00.000Z' },
  history: [{ messageId: 'm', role: 'ROLE_USER', parts: [{ text }] }],
});
const large = ['a', 'b', 'c', 'd'].map((id) => task(id, 'x'.repeat(3_000)));

it('a page has the tasks that fit into it, and the one that goes beyond', () => {
  const ids = (maxCharacters: number): string[] => firstOf(large, maxCharacters).map(({ id }) => id);
  expect(ids(10)).toEqual(['a']);
  expect(ids(4_000)).toEqual(['a', 'b']);
  expect(ids(100_000)).toEqual(['a', 'b', 'c', 'd']);
  expect(firstOf([])).toEqual([]);
});
