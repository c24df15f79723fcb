import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { ajvSchemaCheck } from '../../../src/adapters/ajv/ajv-schema-check.ts';
import type { SchemaCheck, SchemaVerdict } from '../../../src/ports/schema-check.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

type Schema = Readonly<Record<string, unknown>>;

const red = { type: 'object', properties: { colour: { const: 'red' } }, required: ['colour'] };

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** The schemas are those of one client, unless another is named. */
function start(): SchemaCheck & {
  ofClient(schema: Schema, value: unknown, owner?: string): Promise<SchemaVerdict>;
} {
  const { ofClient, ...check } = ajvSchemaCheck(recordingLog());
  return { ...check, ofClient: (schema, value, owner = 'acme/ada/') => ofClient(schema, value, owner) };
}

describe('a schema of a client', () => {
  it('is checked, whatever came before', async () => {
    const check = start();
    expect(await check.ofClient(red, { colour: 'red' })).toEqual({});
    expect(await check.ofClient(red, {})).toEqual({
      issue: "the value must have required property 'colour'",
      field: 'colour',
    });
    expect(await check.ofClient(red, { colour: 'blue' })).toEqual({
      issue: 'colour must be equal to constant: "red"',
      field: 'colour',
    });
    expect(await check.ofClient({ $id: 'a', type: 'number' }, 1)).toEqual({});
    expect(await check.ofClient({ $id: 'a', type: 'string' }, 1)).toEqual({
      issue: 'the value must be string',
    });
  });

  it('that cannot be used is told', async () => {
    const check = start();
    const { unusable } = await check.ofClient({ type: 'strong' }, 'x');
    expect(unusable).toContain('type');
  });

  it('has no words for Ajv: it is checked like any other', async () => {
    const check = start();
    expect((await check.ofClient({ $async: true, ...red }, {})).issue).toContain('colour');
    expect((await check.issueWith({ $async: true, ...red }, {})) ?? '').toContain('colour');
    const within = { $defs: { a: { $id: 'a', $async: true, ...red } }, properties: { a: { $ref: 'a' } } };
    await check.ofClient(within, { a: {} });
    await check.issueWith(within, { a: {} });
    expect(await check.ofClient(red, { colour: 'red' })).toEqual({});
  });

  it('that never comes to an end is given up, and holds up nothing else', async () => {
    const check = start();
    let ticks = 0;
    const ticking = setInterval(() => {
      ticks += 1;
    }, 20);
    const endless = check.ofClient({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(40)}!`);
    const next = check.ofClient(red, { colour: 'red' });
    expect((await endless).issue).toContain('reasonable time');
    expect(await next).toEqual({});
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(10);
  });

  it('that never came to an end makes its owner wait in a thread of their own', async () => {
    const { ofClient } = start();
    const endless = () => ofClient({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(40)}!`, 'eve');
    const [first, second] = [endless(), endless()];
    expect((await first).issue).toContain('reasonable time');
    const checked: string[] = [];
    const others = [second, endless()].map((check) => check.then(() => checked.push('eve')));
    for (const _time of ['first', 'again']) {
      expect(await ofClient(red, { colour: 'red' }, 'bob')).toEqual({});
      checked.push('bob');
    }
    await Promise.all(others);
    expect(checked).toEqual(['bob', 'bob', 'eve', 'eve']);
  });

  it('is compiled as often as clients want, in bounded memory', async () => {
    const check = start();
    for (let round = 0; round < 12; round += 1) {
      const verdicts = await Promise.all(
        Array.from({ length: 100 }, (_, index) => check.ofClient({ const: index }, index)),
      );
      expect(verdicts.every(({ issue }) => issue === undefined)).toBe(true);
    }
    const tooMany = await Promise.all(
      // One is checked, and 100 wait.
      Array.from({ length: 111 }, (_, index) => check.ofClient({ const: index }, index)),
    );
    expect(tooMany.filter(({ issue }) => issue !== undefined)).toHaveLength(10);
  });

  it('waits for one of each other client at most, however many those send', async () => {
    const { ofClient } = start();
    const checked: string[] = [];
    const check = async (owner: string) => {
      const verdict = await ofClient(red, { colour: 'red' }, owner);
      checked.push(owner);
      return verdict;
    };
    const all = [...Array.from({ length: 100 }, () => 'ada'), 'bob', 'eve', 'bob'].map(check);
    expect(await Promise.all(all)).toEqual(all.map(() => ({})));
    expect(checked.slice(0, 7)).toEqual(['ada', 'ada', 'bob', 'eve', 'ada', 'bob', 'ada']);
  });
});

describe('the version of JSON Schema', () => {
  const draft07 = 'http://json-schema.org/draft-07/schema#';
  const [text, number] = [{ type: 'string' }, { type: 'number' }];
  const newTuple = { type: 'array', prefixItems: [text, number], items: false };
  const oldTuple = { type: 'array', items: [text, number], additionalItems: false };

  it.each([
    ['2020-12 if none is declared', newTuple],
    ['2020-12', { $schema: 'https://json-schema.org/draft/2020-12/schema', ...newTuple }],
    ['2019-09', { $schema: 'https://json-schema.org/draft/2019-09/schema', ...oldTuple }],
    ['draft-07', { $schema: draft07, ...oldTuple }],
    ['draft-04', { $schema: 'http://json-schema.org/draft-04/schema#', ...oldTuple }],
    ['an older one that is not declared', oldTuple],
  ])('is %s', async (_version, pair) => {
    const check = start();
    const { $schema, ...tuple }: Schema = pair;
    const schema = { type: 'object', properties: { pair: tuple }, ...($schema !== undefined && { $schema }) };
    const inThread = (value: unknown) => check.ofClient(schema, value);
    const here = (value: unknown) => check.ofServer(schema, value);
    for (const verdictOn of [inThread, here]) {
      expect(await verdictOn({ pair: ['a', 1] })).toEqual({});
      expect(await verdictOn({ pair: ['a', 'b'] })).toEqual({
        issue: 'pair.1 must be number',
        field: 'pair.1',
      });
      expect((await verdictOn({ pair: ['a', 1, 2] })).field).toBe('pair');
    }
  });

  it('that is declared is used for a word that another one knows', async () => {
    const check = start();
    const anything = { $schema: draft07, prefixItems: [number] };
    expect(await check.ofServer(anything, ['a'])).toEqual({});
  });

  it('may be what a value is checked against', async () => {
    const check = start();
    const schema = { type: 'object', properties: { schema: { $ref: draft07 } } };
    expect(await check.ofServer(schema, { schema: { type: 'string' } })).toEqual({});
    expect((await check.ofServer(schema, { schema: { type: 'strong' } })).field).toBe('schema.type');
  });
});

describe('a schema of a tool server', () => {
  it('is forgotten with its tool', async () => {
    const check = start();
    const seen: WeakRef<object>[] = [];
    const checkOne = async () => {
      const schema = { type: 'object', properties: { a: { type: 'string' } } };
      seen.push(new WeakRef(schema.properties));
      await check.ofServer(schema, { a: 'x' });
    };
    for (let index = 0; index < 20; index += 1) await checkOne();
    const kept = () => {
      collectGarbage();
      return seen.filter((ref) => ref.deref() !== undefined).length;
    };
    await expect.poll(kept).toBeLessThan(3);
  });

  it('with a regular expression that never comes to an end holds up nothing', async () => {
    const check = start();
    const schema = { type: 'object', properties: { q: { type: 'string', pattern: '^([a-z]+\\s?)*$' } } };
    let ticks = 0;
    const ticking = setInterval(() => {
      ticks += 1;
    }, 20);
    const issue = await check.issueWith(schema, { q: `${'a'.repeat(40)}!` });
    clearInterval(ticking);
    expect(issue).toContain('reasonable time');
    expect(ticks).toBeGreaterThan(10);
    expect(await check.issueWith(schema, { q: 'fine' })).toBeUndefined();
    expect(await check.issueWith(schema, { q: 1 })).toBe('q must be string');
  });

  it('names the property, and the values that it may have', async () => {
    const check = start();
    const schema = {
      type: 'object',
      properties: {
        city: { enum: ['Paris', 'Rome', null] },
        unit: { const: 'kelvin' },
        within: { type: 'object', properties: { 'a/b': { type: 'array', items: { type: 'number' } } } },
        none: { type: 'object', additionalProperties: false },
        many: { enum: Array.from({ length: 30 }, (_, index) => index) },
        long: { enum: ['x'.repeat(500)] },
      },
      required: ['city'],
    };
    const wrong = (value: object) => check.ofServer(schema, { city: 'Rome', ...value });
    expect(await wrong({})).toEqual({});
    expect(await check.ofServer(schema, {})).toMatchObject({ field: 'city' });
    expect(await wrong({ city: 'Oslo' })).toEqual({
      issue: 'city must be equal to one of the allowed values: "Paris", "Rome", null',
      field: 'city',
    });
    expect(await wrong({ unit: 'celsius' })).toMatchObject({
      issue: 'unit must be equal to constant: "kelvin"',
    });
    expect(await wrong({ within: { 'a/b': [1, 'two'] } })).toEqual({
      issue: 'within.a/b.1 must be number',
      field: 'within.a/b.1',
    });
    expect(await wrong({ none: { a: 1 } })).toMatchObject({ field: 'none.a' });
    expect((await wrong({ many: -1 })).issue).toMatch(/values: 0, 1, .*19 and others$/);
    expect((await wrong({ long: '' })).issue?.length).toBeLessThan(300);
    expect(await check.ofServer({ type: 'object', minProperties: 1 }, {})).toEqual({
      issue: 'arguments must NOT have fewer than 1 properties',
    });
  });
});
