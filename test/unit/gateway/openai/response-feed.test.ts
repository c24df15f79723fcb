import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../../../src/core/log/events.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { readResponse } from '../../../../src/gateway/openai/responses/response-feed.ts';
import type { TurnResponses } from '../../../../src/gateway/openai/responses/turn-responses.ts';
import { SignalFanOut } from '../../../../src/gateway/stream/signal-fan-out.ts';
import { LocalBus } from '../../../../src/runtime/bus/local-bus.ts';
import { FakeBroadcast } from '../../../support/sockets/fake-broadcast.ts';

const place = { agentId: 'default', sessionId: 's', turnId: 't', firstStep: 1 };
const source = { api: 'a', provider: 'p', model: 'm' };
const history: SessionEvent[] = [
  { type: 'turn.requested', turnId: 't', text: 'hello' },
  { type: 'turn.started', turnId: 't' },
  {
    type: 'step.completed',
    turnId: 't',
    step: 1,
    separator: '',
    source,
    parts: [{ type: 'text', text: 'Hello you.' }],
  },
  { type: 'turn.completed', turnId: 't', content: 'Hello you.' },
];

/** Reads the response from a log with these events; of a log without any, nothing can be read. */
function read(events: readonly SessionEvent[]) {
  const bus = new LocalBus(() => undefined);
  const fanOut = new SignalFanOut(bus, new FakeBroadcast());
  bus.handle('session.position', async () => {
    if (events.length === 0) throw new Error('EIO');
    return { head: events.length, running: null, reasoning: null };
  });
  bus.handle('session.events', async ({ afterSeq }) =>
    events.slice(afterSeq).map((event, index) => ({
      event,
      sessionId: 's',
      seq: afterSeq + index + 1,
      time: 5_000,
      meta: null,
    })),
  );
  const types: string[] = [];
  const over = new Promise<TurnResponses>((onOver, onError) => {
    readResponse(
      { bus, fanOut, context: ANYONE },
      { place, afterSeq: 0 },
      {
        sink: { send: () => true, bufferedBytes: () => 0 },
        encode: (type) => {
          types.push(type);
          return '';
        },
        onOver,
        onError,
        onGivenUp: onError,
      },
    );
  });
  return { bus, over, types, fanOut };
}

describe('a reader of a response', () => {
  it('leaves the session when the response is over', async () => {
    const { over, types, fanOut } = read(history);
    expect(fanOut.hasReaders('s')).toBe(true);
    const { response } = await over;
    expect(response).toMatchObject({ status: 'completed', created_at: 5, completed_at: 5 });
    expect(types.at(-1)).toBe('response.completed');
    expect(fanOut.hasReaders('s')).toBe(false);
  });

  it('leaves it when the service gives the turn up, and not when the turn goes on by itself', async () => {
    const { bus, over, fanOut } = read(history.slice(0, 2));
    await new Promise(setImmediate);
    const fault = (continues: boolean): void =>
      bus.publish({
        type: 'session.fault',
        sessionId: 's',
        error: { code: 'INTERNAL_ERROR', message: 'The turn was interrupted.', details: { continues } },
      });
    fault(true);
    await new Promise(setImmediate);
    expect(fanOut.hasReaders('s')).toBe(true);
    fault(false);
    await expect(over).rejects.toMatchObject({ code: 'INTERNAL_ERROR', details: { continues: false } });
    expect(fanOut.hasReaders('s')).toBe(false);
  });

  it('leaves it, too, when the log cannot be read', async () => {
    const { over, fanOut } = read([]);
    await expect(over).rejects.toThrow('EIO');
    expect(fanOut.hasReaders('s')).toBe(false);
  });
});
