import { describe, expect, it } from 'vitest';
import { escaped } from '../../../bench/support/compatible-events.ts';
import { providerReplies } from '../../../bench/support/provider-replies.ts';
import { sourceCode, tokens, wholeWords } from '../../../bench/support/varied-pieces.ts';
import { allShapes } from '../../providers/all-shapes.ts';

const providerOf: Readonly<Record<string, string>> = {
  openai: 'openai',
  vllm: 'vllm',
  gemini: 'google',
  code: 'ollama',
  gateway: 'openai-compatible',
  anthropic: 'anthropic',
  responses: 'openai',
};
const published = await allShapes();

describe('the replies of the bench `providers`', () => {
  it.each(providerReplies)('have no field that $shape is not known to send', ({ shape, api, ...reply }) => {
    const known = new Set<string>();
    for (const { shapes } of published) {
      if (shapes.provider !== providerOf[shape] || shapes.api !== api) continue;
      for (const { answer } of shapes.shapes)
        for (const data of dataIn([answer.body].flat().join(''))) if (isJson(data)) addFields(known, data);
    }
    const sent = new Set<string>();
    for (const data of dataIn(reply.eventsOf(reply.piecesOf(100)).join(''))) addFields(sent, data);
    expect(sent.size).toBeGreaterThan(10);
    expect([...sent].filter((field) => !known.has(field))).toEqual([]);
  });

  it.each(providerReplies)('have an event for each piece of $shape', ({ piecesOf, eventsOf }) => {
    const pieces = piecesOf(100);
    const events = eventsOf(pieces);
    for (const piece of pieces) {
      const literals = [JSON.stringify(piece), escaped(JSON.stringify(piece))];
      expect(events.some((event) => literals.some((literal) => event.includes(`:${literal}`)))).toBe(true);
    }
    expect(events.length).toBeGreaterThanOrEqual(pieces.length + 1);
  });
});

describe('the pieces of the bench `providers`', () => {
  it.each([
    ['tokens', tokens],
    ['whole words', wholeWords],
  ])('vary as %s do', (_, piecesOf) => {
    const pieces = piecesOf(1_500);
    const lengths = new Set(pieces.map(({ length }) => length));
    expect(Math.max(...lengths)).toBeLessThanOrEqual(12);
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(1);
    expect(lengths.size).toBeGreaterThan(8);
    expect(new Set(pieces).size).toBeGreaterThan(100);
    const escaped = pieces.filter((piece) => JSON.stringify(piece).includes('\\'));
    expect(escaped.length).toBeGreaterThan(1_500 / 20);
    expect(escaped.length).toBeLessThan(1_500 / 11);
  });

  it('are in source code often such as JSON escapes', () => {
    const pieces = sourceCode(1_500);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(12);
    const escapes = pieces.map((piece) => escaped(JSON.stringify(piece)));
    expect(escapes.filter((literal) => literal.includes('\\')).length).toBeGreaterThan(1_500 / 5);
    for (const part of [
      '\\n',
      '\\t',
      '\\"',
      '\\\\',
      '\\u003c',
      '\\u003e',
      '\\u0026',
      '\\u00e7',
      '\\ud83d\\ude80',
    ])
      expect(escapes.join(''), part).toContain(part);
  });

  it('are the same in each run', () => {
    expect(tokens(100)).toEqual(tokens(100));
  });
});

function dataIn(body: string): string[] {
  return [...body.matchAll(/^data: (\{.*\})/gm)].map(([, data = '']) => data);
}

/** Some of the published events are broken. */
function isJson(data: string): boolean {
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}

/** The path of each field in the data of an event. */
function addFields(fields: Set<string>, data: string): void {
  addPaths(fields, '', JSON.parse(data));
}

function addPaths(fields: Set<string>, path: string, value: unknown): void {
  fields.add(path);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value))
    addPaths(fields, Array.isArray(value) ? `${path}[]` : `${path}.${name}`, inner);
}
