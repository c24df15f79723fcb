import { expect, it } from 'vitest';
import { ServiceError } from '../../../../src/core/errors.ts';
import { contextOf } from '../../../../src/core/request/request-context.ts';
import { withPushConfig } from '../../../../src/gateway/a2a/push-configs.ts';
import { LocalBus } from '../../../../src/runtime/bus/local-bus.ts';
import { identity } from '../../../support/access/known-tokens.ts';
import { recordingLog } from '../../../support/telemetry/recording-log.ts';

const awaited = {
  place: { agentId: 'default', sessionId: 'trip', turnId: 't1' },
  afterSeq: 0,
  hasBegun: false,
};

it('a message that is refused says why, also when its push config cannot be taken back', async () => {
  const bus = new LocalBus((error) => expect.unreachable(String(error)));
  bus.handle('push.register', async ({ config: { id, url } }) => ({ id, url }));
  bus.handle('push.end', () => Promise.reject(new Error('the disk is full')));
  const log = recordingLog();
  const call = { bus, context: contextOf(identity('ada')), log };
  const refusal = new ServiceError('SESSION_BUSY', 'Another message waits.');
  const taken = withPushConfig(call, { url: 'https://receiver.example' }, awaited, () =>
    Promise.reject(refusal),
  );
  await expect(taken).rejects.toBe(refusal);
  expect(log.lines).toMatchObject([
    { level: 'warn', fields: { sessionId: 'trip', turnId: 't1', err: { message: 'the disk is full' } } },
  ]);
});

it.each([
  ['url', 'configuration.taskPushNotificationConfig.url'],
  [undefined, 'configuration.taskPushNotificationConfig'],
])('a config that is refused names its place in the message: %s', async (field, place) => {
  const bus = new LocalBus((error) => expect.unreachable(String(error)));
  const refusal = new ServiceError('INVALID_REQUEST', 'No.', { ...(field && { field }) });
  bus.handle('push.register', () => Promise.reject(refusal));
  const call = { bus, context: contextOf(identity('ada')), log: recordingLog() };
  const taken = withPushConfig(call, { url: 'https://receiver.example' }, awaited, async () => awaited);
  await expect(taken).rejects.toMatchObject({ message: 'No.', details: { field: place } });
});
