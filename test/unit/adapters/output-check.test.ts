import { afterEach, expect, it, vi } from 'vitest';
import { ajvSchemaCheck } from '../../../src/adapters/ajv/ajv-schema-check.ts';
import { OutputCheck } from '../../../src/adapters/mcp/tools/output-check.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

type Schemas = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** `problem` is what is wrong with a result of the tool; `unusable` names the tools whose schema is of no use. */
function start(schemas: Schemas) {
  const unusable: string[] = [];
  const check = new OutputCheck(new Map(Object.entries(schemas)), {
    schemas: ajvSchemaCheck(recordingLog()),
    onUnusable: (tool) => void unusable.push(tool),
  });
  const problem = (tool: string, structuredContent?: unknown) =>
    check.problem(tool, { content: [], ...(structuredContent !== undefined && { structuredContent }) });
  return { unusable, problem };
}

afterEach(() => vi.restoreAllMocks());

it('an output schema with a word of Ajv is checked like any other', async () => {
  const t = { $async: true, type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
  const { problem } = start({ t });
  expect(await problem('t', { a: 1 })).toBeUndefined();
  expect(await problem('t', {})).toContain("required property 'a'");
  expect(await problem('t')).toContain('gave no structured result');
});

it('output schemas of two tools may have the same name', async () => {
  const named = { $id: 'https://example.com/result', type: 'object' };
  const { problem } = start({ a: { ...named, required: ['q'] }, b: { ...named, required: ['z'] } });
  expect(await problem('a', { q: 1 })).toBeUndefined();
  expect(await problem('b', { z: 1 })).toBeUndefined();
  expect(await problem('b', { q: 1 })).toContain("required property 'z'");
});

it('an output schema has the tuples of JSON Schema 2020-12', async () => {
  const pair = { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false };
  const { problem } = start({ t: { type: 'object', properties: { pair } } });
  expect(await problem('t', { pair: ['a', 1] })).toBeUndefined();
  expect(await problem('t', { pair: ['a', 'b'] })).toContain('pair.1 must be number');
});

it('an unknown format of an output schema is no output of the service', async () => {
  const warn = vi.spyOn(console, 'warn');
  const { problem } = start({ t: { type: 'object', properties: { a: { format: 'uint32' } } } });
  expect(await problem('t', { a: 1 })).toBeUndefined();
  expect(warn).not.toHaveBeenCalled();
});

it('an output schema that cannot be used is told once, and nothing is checked', async () => {
  const { problem, unusable } = start({ t: { type: 'object', $ref: '#/nowhere' } });
  expect(await Promise.all([problem('t', {}), problem('t', {})])).toEqual([undefined, undefined]);
  expect(await problem('t')).toBeUndefined();
  expect(unusable).toEqual(['t']);
});
