import { expect, it } from 'vitest';
import { KeptAnswers } from '../../../../src/runtime/cluster/kept-answers.ts';

/** As many as are kept with their texts. */
const MAX_ANSWERS = 10_000;

/** Questions 1 to `count`, each with its answer. Question 0 is not answered. */
function answered(count: number): KeptAnswers {
  const kept = new KeptAnswers();
  kept.begin(0);
  for (let id = 1; id <= count; id += 1) {
    kept.begin(id);
    kept.keep(id, `answer ${id}`);
  }
  return kept;
}

it('keeps the last ten thousand answers', () => {
  const kept = answered(MAX_ANSWERS + 2);
  expect(kept.find(3)).toMatchObject({ text: 'answer 3' });
  expect(kept.find(MAX_ANSWERS + 2)).toMatchObject({ text: `answer ${MAX_ANSWERS + 2}` });
});

it('knows earlier questions, so that none of them is done again', () => {
  const kept = answered(2 * MAX_ANSWERS);
  for (let id = 1; id <= MAX_ANSWERS; id += 1) expect(kept.find(id)).toBe('given up');
  expect(kept.find(0)).toBe('answering');
  expect(kept.find(2 * MAX_ANSWERS + 1)).toBeUndefined();
});

it('keeps a late answer to an early question', () => {
  const kept = answered(2 * MAX_ANSWERS);
  kept.keep(0, 'at last');
  expect(kept.find(0)).toMatchObject({ text: 'at last' });
  expect(kept.find(MAX_ANSWERS + 1)).toBe('given up');
});

it('has room again when nobody waits for earlier answers', () => {
  const kept = answered(MAX_ANSWERS);
  kept.forgetBefore(MAX_ANSWERS);
  kept.begin(MAX_ANSWERS + 1);
  kept.keep(MAX_ANSWERS + 1, 'next');
  expect(kept.find(MAX_ANSWERS - 1)).toBe('given up');
  expect(kept.find(MAX_ANSWERS)).toMatchObject({ text: `answer ${MAX_ANSWERS}` });
});

it('keeps no more than it may while an early question waits for a person', () => {
  const MAX_GIVEN_UP = 100_000;
  const kept = answered(2 * MAX_GIVEN_UP);
  expect(kept.size).toBe(1 + MAX_ANSWERS + MAX_GIVEN_UP);
  for (const id of [1, MAX_GIVEN_UP, 2 * MAX_GIVEN_UP - MAX_ANSWERS]) expect(kept.find(id)).toBe('given up');
  expect(kept.find(0)).toBe('answering');
  kept.keep(0, 'at last');
  expect(kept.find(0)).toMatchObject({ text: 'at last' });
  kept.forgetBefore(2 * MAX_GIVEN_UP + 1);
  expect(kept.size).toBe(0);
});
