import { expect, it } from 'vitest';
import { z } from 'zod';
import { explainIssue } from '../../../src/config/problems/explain-issue.ts';

it('an unknown key of a map that nothing lists the keys of is told without a list', () => {
  const schema = z.union([z.strictObject({ a: z.string() }), z.strictObject({ b: z.string() })]);
  const [explained] = explainIssue(
    { code: 'unrecognized_keys', keys: ['c'], path: [], message: '' },
    { schema, data: { c: 1 }, writtenAt: () => undefined },
  );
  expect(explained).toEqual({ path: ['c'], text: 'unknown key' });
});
