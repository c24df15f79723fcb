import { expect, it } from 'vitest';
import { OutputCheck } from '../../../src/adapters/mcp/tools/output-check.ts';

it('an output schema with a word of Ajv is checked like any other', async () => {
  const schema = { $async: true, type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
  const check = new OutputCheck(new Map([['t', schema]]), (_, error) => expect.unreachable(String(error)));
  expect(await check.problem('t', { content: [], structuredContent: { a: 1 } })).toBeUndefined();
  expect(await check.problem('t', { content: [], structuredContent: {} })).toContain("required property 'a'");
});
