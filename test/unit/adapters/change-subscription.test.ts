import { expect, test } from 'vitest';
import { ChangeSubscription } from '../../../src/adapters/mcp/client/change-subscription.ts';
import type { JsonObject } from '../../../src/core/json-object.ts';

function listening() {
  const asked: unknown[] = [];
  const signals: AbortSignal[] = [];
  const listen = (params: JsonObject, signal: AbortSignal): Promise<unknown> => {
    asked.push(params);
    signals.push(signal);
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const subscription = new ChangeSubscription({ tools: false, prompts: false, resources: false }, listen);
  return { asked, signals, subscription };
}

const to = (...resourceSubscriptions: string[]) => ({ notifications: { resourceSubscriptions } });

test('listens anew only when other resources are watched than before', async () => {
  const { asked, signals, subscription } = listening();
  subscription.watch('a');
  subscription.watch('a');
  subscription.unwatch('b');
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  subscription.watch('c');
  await expect.poll(() => asked).toEqual([to('a'), to('a', 'c')]);
  subscription.unwatch('a');
  await expect.poll(() => asked.slice(2)).toEqual([to('c')]);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, false]);
  subscription.end();
});
