import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { decodeEventId, encodeEventId } from '../../../../src/gateway/mcp/resume/event-id.ts';
import { KeptStream, KeptStreams } from '../../../../src/gateway/mcp/resume/kept-streams.ts';

const FIVE_MINUTES_MS = 5 * 60_000;
const MEBI = 1024 * 1024;
const owner = {};
const streamNamed = (name: string) =>
  new KeptStream({ name, streamId: `s-${name}`, owner, isChat: false, sessionIds: [] });

function tell(kept: KeptStreams, stream: KeptStream, text = 'x'): void {
  stream.count += 1;
  const message: JSONRPCMessage = { jsonrpc: '2.0', method: 'notifications/message', params: { text } };
  kept.add(stream, { number: stream.count, id: `${stream.name}~0~${stream.count}`, message });
}

const numbersAfter = (stream: KeptStream, number: number) =>
  stream.after(number)?.map((event) => event.number);

describe('the streams that are kept', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('tell what came after an event, or that it is not all there', () => {
    const kept = new KeptStreams();
    const stream = streamNamed('a');
    for (let count = 0; count < 1_001; count += 1) tell(kept, stream);
    expect(numbersAfter(stream, 999)).toEqual([1_000, 1_001]);
    expect(numbersAfter(stream, 1_001)).toEqual([]);
    expect(stream.after(1)).toHaveLength(1_000);
    expect(stream.after(0)).toBeNull();
    expect(stream.after(1_002)).toBeNull();
  });

  it('belong to one MCP session', () => {
    const kept = new KeptStreams();
    const stream = streamNamed('a');
    tell(kept, stream);
    expect(kept.find('a', owner)).toBe(stream);
    expect(kept.find('a', {})).toBeUndefined();
  });

  it('have at most a million characters each and 32 million together; what changed longest ago goes first', () => {
    const kept = new KeptStreams();
    const streams = Array.from({ length: 40 }, (_, index) => streamNamed(String(index)));
    for (const stream of streams) tell(kept, stream, 'x'.repeat(MEBI - 2_000));
    const names = streams.filter(({ name }) => kept.find(name, owner)).map(({ name }) => Number(name));
    expect(names).toEqual(Array.from({ length: 32 }, (_, index) => index + 8));
    const [last] = streams.slice(-1);
    if (!last) throw new Error('no stream');
    tell(kept, last, 'x'.repeat(10_000));
    expect(last.after(0)).toBeNull();
    expect(numbersAfter(last, 1)).toEqual([2]);
  });

  it('are forgotten five minutes after their last event, and go on where they were', () => {
    const kept = new KeptStreams();
    const [old, young] = [streamNamed('old'), streamNamed('young')];
    tell(kept, old);
    vi.advanceTimersByTime(FIVE_MINUTES_MS - 1);
    tell(kept, young);
    kept.expire();
    expect(numbersAfter(old, 0)).toEqual([1]);
    vi.advanceTimersByTime(1);
    kept.expire();
    expect(old.after(0)).toBeNull();
    expect(numbersAfter(young, 0)).toEqual([1]);
    expect(numbersAfter(old, 1)).toEqual([]);
    tell(kept, old);
    expect(numbersAfter(old, 1)).toEqual([2]);
  });
});

describe('the id of an event', () => {
  it('is read as it was written', () => {
    for (const id of [
      { stream: '1.abcd0123.a-b_c', told: 7, number: 3 },
      { stream: '1.abcd0123.a-b_c', told: 0 },
      { stream: 'a', told: 'end', number: 1 },
    ] as const)
      expect(decodeEventId(encodeEventId(id))).toEqual(id);
  });

  it('is nothing else', () => {
    for (const text of [
      '',
      'a',
      'a~',
      '~1',
      'a~1~',
      'a~-1',
      'a~1~2~3',
      'a b~1',
      'a~1.5',
      `a~${'9'.repeat(16)}`,
    ])
      expect([text, decodeEventId(text)]).toEqual([text, null]);
  });
});
