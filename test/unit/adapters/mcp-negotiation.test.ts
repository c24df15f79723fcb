import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { greet } from '../../../src/adapters/mcp/client/negotiation.ts';
import type { ServerHello } from '../../../src/adapters/mcp/client/server-hello.ts';

const hello = (era: ServerHello['era']): ServerHello => ({
  era,
  version: era === 'stateless' ? '2026-07-28' : '2025-11-25',
  capabilities: {},
  instructions: undefined,
});
const OLDER = hello('sessions');
const NEWER = hello('stateless');
/** Longer than a server may be silent. */
const LATE_MS = 6_000;

function later<T>(value: T, afterMs: number): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(value), afterMs));
}

describe('the handshake with a tool server over stdio', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  async function greeted(
    discover: () => Promise<ServerHello | null>,
    initialize: () => Promise<ServerHello>,
  ) {
    const sent: string[] = [];
    const noted = <T>(what: string, ask: () => Promise<T>) => {
      sent.push(what);
      return ask();
    };
    const greeting = greet(
      { discover: () => noted('discover', discover), initialize: () => noted('initialize', initialize) },
      true,
    );
    await vi.advanceTimersByTimeAsync(60_000);
    return { era: (await greeting).era, sent };
  }

  test('asks once if the server knows the newest revision', async () => {
    const result = await greeted(
      () => later(NEWER, 100),
      async () => OLDER,
    );
    expect(result).toEqual({ era: 'stateless', sent: ['discover'] });
  });

  test('asks in the older way if the server does not know the newest revision, or says nothing', async () => {
    const both = { era: 'sessions', sent: ['discover', 'initialize'] };
    expect(
      await greeted(
        async () => null,
        async () => OLDER,
      ),
    ).toEqual(both);
    expect(
      await greeted(
        () => new Promise(() => undefined),
        async () => OLDER,
      ),
    ).toEqual(both);
  });

  test('speaks as in the last handshake with a server that starts late and answers both', async () => {
    const result = await greeted(
      () => later(NEWER, LATE_MS),
      () => later(OLDER, 1_001),
    );
    expect(result.era).toBe('sessions');
  });

  test('speaks in the newer way with a server that starts late and knows only that', async () => {
    const refusing = () => later(null, 1_001).then(() => Promise.reject(new Error('unsupported')));
    expect((await greeted(() => later(NEWER, LATE_MS), refusing)).era).toBe('stateless');
    expect(
      (
        await greeted(
          () => later(NEWER, LATE_MS),
          () => new Promise(() => undefined),
        )
      ).era,
    ).toBe('stateless');
  });
});
