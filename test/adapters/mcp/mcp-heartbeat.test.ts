import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Heartbeat } from '../../../src/adapters/mcp/heartbeat.ts';
import { HttpStatusError } from '../../../src/adapters/mcp/http/http-status-error.ts';
import { RequestTimeoutError } from '../../../src/adapters/mcp/peer/rpc-errors.ts';
import { JsonRpcError } from '../../../src/core/json-rpc.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function heartbeat(ping: () => Promise<unknown>, busy = false) {
  const pings = vi.fn(ping);
  const onDead = vi.fn();
  const beat = new Heartbeat({ intervalMs: 10_000, ping: pings, isBusy: () => busy, onDead });
  return { beat, pings, onDead };
}

const timeout = () => Promise.reject(new RequestTimeoutError(10_000));

test('asks again and again as long as it is answered', async () => {
  const { pings, onDead } = heartbeat(() => Promise.resolve({}));
  await vi.advanceTimersByTimeAsync(35_000);
  expect(pings).toHaveBeenCalledTimes(3);
  expect(onDead).not.toHaveBeenCalled();
});

test('reports once that the server has gone, and asks no more', async () => {
  const { pings, onDead } = heartbeat(() => Promise.reject(new TypeError('fetch failed')));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(onDead).toHaveBeenCalledTimes(1);
  expect(pings).toHaveBeenCalledTimes(1);
});

test.each([
  ['a server that does not know ping', new JsonRpcError(-32601, 'what?')],
  ['a server that limits requests', new HttpStatusError(429, 'slow down')],
])('takes %s for alive', async (_who, error) => {
  const { pings, onDead } = heartbeat(() => Promise.reject(error));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(pings).toHaveBeenCalledTimes(2);
  expect(onDead).not.toHaveBeenCalled();
});

test('takes silence for death only when the server has nothing to do', async () => {
  const idle = heartbeat(timeout);
  const busy = heartbeat(timeout, true);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(idle.onDead).toHaveBeenCalledTimes(1);
  expect(busy.onDead).not.toHaveBeenCalled();
});

test.each([502, 503, 504])(
  'takes HTTP %i for death only when the server has nothing to do',
  async (status) => {
    const failing = () => Promise.reject(new HttpStatusError(status, 'no server'));
    const idle = heartbeat(failing);
    const busy = heartbeat(failing, true);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(idle.onDead).toHaveBeenCalledTimes(1);
    expect(busy.onDead).not.toHaveBeenCalled();
    expect(busy.pings).toHaveBeenCalledTimes(2);
  },
);

test('takes HTTP 404 for death, even when the server has something to do', async () => {
  const busy = heartbeat(() => Promise.reject(new HttpStatusError(404, 'no session')), true);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(busy.onDead).toHaveBeenCalledTimes(1);
});

test('asks at once on a suspicion, but not for each of many', async () => {
  const { beat, pings } = heartbeat(() => Promise.resolve({}));
  beat.suspect();
  await vi.advanceTimersByTimeAsync(0);
  expect(pings).toHaveBeenCalledTimes(1);
  for (let i = 0; i < 100; i += 1) {
    beat.suspect();
    await vi.advanceTimersByTimeAsync(1);
  }
  expect(pings).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(500);
  expect(pings).toHaveBeenCalledTimes(2);
});

test('asks nothing after it was stopped', async () => {
  const { beat, pings } = heartbeat(() => Promise.resolve({}));
  beat.stop();
  beat.suspect();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(pings).not.toHaveBeenCalled();
});
