import { describe, expect, it } from 'vitest';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import type { ServedRequest } from '../../../src/gateway/http/http-message.ts';
import { charactersIn, jsonPieces } from '../../../src/gateway/http/json-pieces.ts';
import { largeJsonResponse } from '../../../src/gateway/http/large-json.ts';

const LONG = 200_000;
const MEGABYTE = 1024 * 1024;

/** As the web server passes it on, as far as a large answer needs it. */
const requestOf = (more: Partial<ServedRequest> = {}): ServedRequest => ({
  method: 'GET',
  path: '/',
  query: '',
  headers: new Map(),
  peerAddress: '',
  body: async () => new Uint8Array(),
  context: ANYONE,
  ...more,
});

describe('JSON in pieces', () => {
  it.each([
    ['a short value', { a: 1, b: [true, null, 'x'], c: undefined }],
    ['a long text', 'word "quoted" \n'.repeat(LONG)],
    ['characters of two units, wherever a piece ends', ['😀'.repeat(LONG), `x${'😀'.repeat(LONG)}`]],
    ['half a character', `${'x'.repeat(65_535)}\ud83d${'x'.repeat(LONG)}`],
    ['nothing among what is long', { a: undefined, b: 'x'.repeat(LONG), c: [undefined, 'y'.repeat(LONG)] }],
    ['a long list', Array.from({ length: 20_000 }, (_, n) => ({ n, text: `${n}`, none: undefined }))],
    ['nested objects', { a: { b: { c: ['x'.repeat(LONG)], d: {} } }, e: [] }],
    ['long names', { ['x'.repeat(LONG)]: 1, '"': 2 }],
  ])('is the same as in one: %s', (_, value) => {
    const pieces = [...jsonPieces(value)];
    expect(pieces.join('') === JSON.stringify(value)).toBe(true);
  });

  it('has no long pieces', () => {
    const text = 'x'.repeat(3 * MEGABYTE);
    const pieces = [...jsonPieces({ history: [{ text }, { text }] })];
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(65_536);
  });

  it('is needed for what is long: no more is counted than that takes', () => {
    const history = Array.from({ length: 10 }, () => ({ text: 'x'.repeat(1_000) }));
    expect(charactersIn({ history }, 5_000)).toBeLessThan(7_000);
    expect(charactersIn({ history })).toBeGreaterThan(10_000);
  });
});

describe('a large answer', () => {
  const body = { text: 'x'.repeat(2 * MEGABYTE) };

  it('is made while its client reads, and counts for the client', async () => {
    const held: unknown[] = [];
    const rights = { scopes: new Set<never>(), roles: [], credential: 'key:1' };
    const context = { ...ANYONE, tenant: 'acme', principal: 'key:ada', rights };
    const request = requestOf({ context, hold: (...taken) => held.push(taken) });
    const response = largeJsonResponse<object>(body, request);
    expect(held).toEqual([[charactersIn(body), context]]);
    expect(response).toMatchObject({ headers: { 'Content-Type': 'application/json' }, stream: 'bytes' });
    if (!(response.body instanceof ReadableStream)) return expect.unreachable('it is no stream');
    expect((await new Response(response.body).text()) === JSON.stringify(body)).toBe(true);
  });

  it('is refused if there is no room for it', () => {
    const hold = () => {
      throw new Error('no room');
    };
    expect(() => largeJsonResponse<object>(body, requestOf({ hold }))).toThrow('no room');
  });

  it('breaks off when the credential that reads it has ended', async () => {
    const lost = new AbortController();
    const credential = { lost: lost.signal } as ServedRequest['credential'];
    const { body: stream } = largeJsonResponse<object>(body, requestOf({ credential }));
    if (!(stream instanceof ReadableStream)) return expect.unreachable('it is no stream');
    const reader = stream.getReader();
    await reader.read();
    lost.abort(new Error('revoked'));
    await expect(reader.read()).rejects.toThrow('revoked');
  });

  it('is none below a megabyte: its length is told', () => {
    const response = largeJsonResponse<object>({ text: 'x' }, requestOf());
    expect(response.body).toBe('{"text":"x"}');
  });
});
