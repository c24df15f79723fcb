import { describe, expect, it, vi } from 'vitest';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { readToEnd } from '../../../../src/gateway/stream/read-to-end.ts';
import { answerTurn } from '../../../../src/gateway/turns/turn-answer.ts';
import { turnMessage } from '../../../../src/gateway/turns/turn-message.ts';
import { LocalBus } from '../../../../src/runtime/bus/local-bus.ts';

const sessionId = 's';

/** A turn that has begun and does not end, and a client that waits for its end and can go away. */
function makeWait() {
  const bus = new LocalBus((error) => {
    throw error;
  });
  const message = turnMessage({ sessionId, text: 'hello' });
  const start = vi.fn(async () => ({ turnId: message.turnId }));
  const cancel = vi.fn(async () => true);
  bus.handle('turn.start', start);
  bus.handle('turn.cancel', cancel);
  const listeners = new Set<() => void>();
  const client = {
    context: ANYONE,
    onLeft: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const leave = (): void => {
    for (const listener of listeners) listener();
  };
  return { bus, message, start, cancel, client, leave };
}

const LEFT = 'The client left before the end of its request.';

describe('a client that goes away while it waits for a turn', () => {
  it('is not waited with any longer, and the turn goes on', async () => {
    const { bus, message, start, cancel, client, leave } = makeWait();
    const joined = vi.spyOn(bus, 'onSession');
    const left = vi.spyOn(bus, 'offSession');
    const answer = answerTurn(bus, message, client);
    await new Promise(setImmediate);
    expect(joined).toHaveBeenCalledOnce();
    expect(left).not.toHaveBeenCalled();
    leave();
    await expect(answer).rejects.toThrow(LEFT);
    expect(left.mock.calls).toEqual(joined.mock.calls);
    expect(start).toHaveBeenCalledOnce();
    expect(cancel).not.toHaveBeenCalled();
  });

  it('is not read for any longer', async () => {
    const { bus, client, leave } = makeWait();
    const stop = vi.fn();
    const reading = readToEnd({ bus, client }, sessionId, () => ({ drained: () => undefined, stop }));
    leave();
    await expect(reading).rejects.toThrow(LEFT);
    expect(stop).toHaveBeenCalledOnce();
  });
});
