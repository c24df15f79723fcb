import type { LocalBus } from '../bus/local-bus.ts';
import type { PushDeliveries } from './push-deliveries.ts';

/** Registers the handlers of the requests about push notifications. @param open loads what is needed for them, once. */
export function answerForPushes(bus: LocalBus, open: () => Promise<PushDeliveries>): void {
  bus.handle('push.register', async (registration, context) =>
    (await open()).register(registration, context),
  );
  bus.handle('push.list', async (turn) => (await open()).list(turn));
  bus.handle('push.end', async ({ configId, ...turn }) => {
    await (await open()).end(turn, configId);
    return undefined;
  });
  bus.handle('push.keys', async () => (await open()).keys());
}
