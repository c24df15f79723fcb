import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { describe, expect } from 'vitest';
import { withEventStore } from '../../../src/cli/transfer/stored-log.ts';
import { contentHash } from '../../../src/core/content-hash.ts';
import { PUSH_KEY_STREAM, PUSH_STREAMS } from '../../../src/core/log/streams.ts';
import { BINDINGS, data, listed, message, taskFor } from '../../support/a2a/a2a-client.ts';
import { A2A_AGENT, A2aRig } from '../../support/a2a/a2a-rig.ts';
import { isGenuine } from '../../support/a2a/documented-push-check.ts';
import { PushReceiver, saidIn } from '../../support/a2a/push-receiver.ts';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { testStore } from '../../support/postgres/test-store.ts';
import { filesWith } from '../../support/service/files-with.ts';
import { freePort, type ServiceOptions } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { MetricValues } from '../../support/telemetry/metric-values.ts';
import { verifies } from '../requirements.ts';

/** Receivers of tests have private addresses. */
const yaml = JSON.stringify({ ...A2A_AGENT, a2a: { push: { allowPrivateAddresses: true } } });

const pushRig = (options: ServiceOptions = {}) => A2aRig.start({ yaml, ...options });

const config = (
  url: string,
  others: Partial<TaskPushNotificationConfig> = {},
): TaskPushNotificationConfig => ({
  tenant: '',
  id: '',
  taskId: '',
  url,
  token: '',
  authentication: undefined,
  ...others,
});

/** What a message says besides, to begin a task with a receiver. */
const told = (url: string, others: Partial<TaskPushNotificationConfig> = {}) => ({
  configuration: { returnImmediately: true, taskPushNotificationConfig: config(url, others) },
});

const idsOf = ({ received }: PushReceiver) => received.map(({ headers }) => headers['webhook-id']);
const saidTo = ({ received }: PushReceiver) => received.map(({ told: one }) => saidIn(one));

const WHOLE = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'reply: Hello Ann.',
  'reply: ',
  'TASK_STATE_COMPLETED',
];

/** The streams that a stopped service has kept for push notifications. */
function streamsIn(dataDir: string): Promise<string[]> {
  return withEventStore({ dataDir, store: testStore(dataDir) }, 'read', async (store) => {
    const ids = await store.streamIds('~', 100);
    return ids.filter((id) => id.startsWith(PUSH_STREAMS) || id === PUSH_KEY_STREAM);
  });
}

function configsAmong(streams: readonly string[]): (string | undefined)[] {
  return streams.filter((id) => id.startsWith(PUSH_STREAMS)).map((id) => id.split('~').at(-1));
}

describe.each(BINDINGS)('push notifications over %s', (binding) => {
  verifies('a2a.push', binding, async () => {
    await using receiver = await PushReceiver.start();
    await using rig = await pushRig();
    const client = await rig.client(binding);
    expect((await client.getAgentCard()).capabilities?.pushNotifications).toBe(true);
    const secrets = { token: 'for-me', authentication: { scheme: 'Bearer', credentials: 'let-me-in' } };
    const { id } = await taskFor(client, message('hello', told(receiver.url, secrets)));
    (await rig.model.call(0)).answer('Hello ', 'Ann.');
    const [first] = await receiver.end();
    expect(first).toMatchObject({ method: 'POST', path: '/hook', told: { task: { id } } });
    for (const { headers } of receiver.received)
      expect(headers).toMatchObject({
        'content-type': 'application/a2a+json',
        'x-a2a-notification-token': 'for-me',
        authorization: 'Bearer let-me-in',
      });
    expect(saidTo(receiver)).toEqual(WHOLE);
    expect(new Set(idsOf(receiver)).size).toBe(WHOLE.length);
  });

  verifies('a2a.push', `with a stream, ${binding}`, async () => {
    await using receiver = await PushReceiver.start();
    await using rig = await pushRig();
    const client = await rig.client(binding);
    const said = message('hello', told(receiver.url));
    for await (const { payload } of client.sendMessageStream(said))
      if (payload?.$case === 'task') (await rig.model.call(0)).answer('Hello ', 'Ann.');
    await receiver.end();
    expect(saidTo(receiver)).toEqual(WHOLE);
  });

  verifies('a2a.push', `of a task that waits already, ${binding}`, async () => {
    await using receiver = await PushReceiver.start();
    await using rig = await pushRig();
    const client = await rig.client(binding);
    const asking = taskFor(client, message('pay the bill'));
    (await rig.model.call(0)).askFor({ name: 'pay', callId: 'c1' });
    const { id: taskId } = await asking;
    await client.createTaskPushNotificationConfig(config(receiver.url, { taskId }));
    await receiver.until(({ told: one }) => saidIn(one) === 'TASK_STATE_INPUT_REQUIRED');
    const denying = taskFor(client, message('deny', { taskId }));
    (await rig.model.call(1)).answer('Then not.');
    await denying;
    await receiver.end();
    expect(saidTo(receiver)).toEqual([
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_WORKING',
      'TASK_STATE_WORKING',
      'reply: Then not.',
      'reply: ',
      'TASK_STATE_COMPLETED',
    ]);
  });

  verifies(
    'a2a.push-configs',
    `an answer that is refused leaves the one that the task has, ${binding}`,
    async () => {
      await using receiver = await PushReceiver.start();
      await using rig = await pushRig();
      const client = await rig.client(binding);
      const mine = told(receiver.url, { id: 'mine' });
      const asking = taskFor(client, message('pay the bill', mine));
      (await rig.model.call(0)).askFor({ name: 'pay', callId: 'c1' });
      const { id: taskId } = await asking;
      const other = data({ approve: true, callId: 'c1', argumentsHash: await contentHash({ amount: 5 }) });
      await expect(taskFor(client, message(other, { taskId, ...mine }))).rejects.toThrow();
      expect(await client.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'mine' })).toMatchObject({
        url: receiver.url,
      });
      await taskFor(client, message('deny', { taskId, ...mine }));
      (await rig.model.call(1)).answer('Then not.');
      await receiver.end();
      expect(saidTo(receiver)).toContain('reply: Then not.');
    },
  );

  verifies(
    'a2a.push-configs',
    `one without an id is there once, although each message has it, ${binding}`,
    async () => {
      await using receiver = await PushReceiver.start();
      await using rig = await pushRig();
      const client = await rig.client(binding);
      const asking = taskFor(client, message('pay the bills', told(receiver.url)));
      const calls = ['c1', 'c2'].map((callId) => ({ name: 'pay', callId }));
      (await rig.model.call(0)).askFor(...calls);
      const { id: taskId } = await asking;
      await receiver.until(({ told: one }) => saidIn(one) === 'TASK_STATE_INPUT_REQUIRED');
      for (const callId of ['c1', 'c2'])
        await taskFor(client, message(data({ approve: false, callId }), { taskId, ...told(receiver.url) }));
      const all = { tenant: '', taskId, pageSize: 0, pageToken: '' };
      expect((await client.listTaskPushNotificationConfig(all)).configs).toHaveLength(1);
      (await rig.model.call(1)).answer('Then not.');
      await receiver.end();
      expect(saidTo(receiver).filter((said) => said.startsWith('reply: Then'))).toHaveLength(1);
    },
  );

  verifies('a2a.push-configs', binding, async () => {
    await using kept = await PushReceiver.start();
    await using dropped = await PushReceiver.start();
    await using rig = await pushRig();
    const client = await rig.client(binding);
    const secrets = { token: 'for-me', authentication: { scheme: 'Bearer', credentials: 'let-me-in' } };
    const { id: taskId } = await taskFor(
      client,
      message('hello', told(kept.url, { id: 'kept', ...secrets })),
    );
    const shown = { ...config(kept.url), id: 'kept', taskId };
    const authentication = { scheme: 'Bearer', credentials: '' };
    expect(await client.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'kept' })).toEqual({
      ...shown,
      authentication,
    });
    const created = await client.createTaskPushNotificationConfig(config(dropped.url, { taskId }));
    expect(created).toMatchObject({
      taskId,
      url: dropped.url,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const all = { tenant: '', taskId, pageSize: 0, pageToken: '' };
    const { configs } = await client.listTaskPushNotificationConfig(all);
    expect(configs.map(({ url }) => url).sort()).toEqual([kept.url, dropped.url].sort());
    await dropped.until(() => true);
    await client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: created.id });
    await client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: created.id });
    (await rig.model.call(0)).answer('Hello ', 'Ann.');
    await kept.end();
    expect(saidTo(dropped)).toEqual(['TASK_STATE_WORKING']);
    for (const id of [created.id, 'never', 'a/b'])
      await expect(client.getTaskPushNotificationConfig({ tenant: '', taskId, id })).rejects.toMatchObject({
        reason: 'TASK_NOT_FOUND',
      });
    await expect(client.createTaskPushNotificationConfig(config(kept.url, { taskId }))).rejects.toMatchObject(
      { reason: 'UNSUPPORTED_OPERATION' },
    );
  });

  verifies('a2a.push-access', binding, async () => {
    await using receiver = await PushReceiver.start();
    const verifiers = [
      new KnownTokens({
        ann: identity('ann'),
        bob: identity('bob'),
        reader: identity('ann', { scopes: new Set(['sessions:read']) }),
      }),
    ];
    await using rig = await pushRig({ verifiers });
    const ann = await rig.client(binding, { token: 'test-ann' });
    const { id: taskId } = await taskFor(
      ann,
      message('hello', { contextId: 'trip', ...told(receiver.url, { id: 'own' }) }),
    );
    const bob = await rig.client(binding, { token: 'test-bob' });
    for (const denied of [
      () => bob.createTaskPushNotificationConfig(config(receiver.url, { taskId })),
      () => bob.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'own' }),
      () => bob.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' }),
      () => bob.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: 'own' }),
    ])
      await expect(denied()).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    const reader = await rig.client(binding, { token: 'test-reader' });
    await expect(reader.createTaskPushNotificationConfig(config(receiver.url, { taskId }))).rejects.toThrow(
      'sessions:write',
    );
    const grant = await rig.service.post(
      '/api/sessions/trip/grants',
      { principal: 'test:bob', access: 'talk' },
      bearer('ann'),
    );
    expect(grant.status).toBe(200);
    const shared = taskId.replace('~trip', '~acme/test:ann/trip');
    expect(await bob.getTask({ tenant: '', id: shared })).toMatchObject({ id: shared });
    await expect(
      bob.createTaskPushNotificationConfig(config(receiver.url, { taskId: shared })),
    ).rejects.toThrow('not for this');
    (await rig.model.call(0)).answer('Hello.');
    const [first] = await receiver.end();
    expect(first?.told).toMatchObject({ task: { id: taskId, contextId: 'trip' } });
    // Receivers have no credential.
    expect((await rig.service.fetch('/.well-known/jwks.json')).status).toBe(200);
  });
});

describe('push notifications', () => {
  verifies('a2a.push-signature', async () => {
    await using receiver = await PushReceiver.start();
    await using rig = await pushRig();
    const keys = async () => await (await rig.service.fetch('/.well-known/jwks.json')).json();
    expect(await keys()).toEqual({ keys: [] });
    const client = await rig.client('JSONRPC');
    await taskFor(client, message('hello', told(receiver.url)));
    (await rig.model.call(0)).answer('Hello.');
    await receiver.end();
    expect(await keys()).toMatchObject({ keys: [{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA' }] });
    for (const { headers, body } of receiver.received) {
      const { url } = rig.service;
      expect(await isGenuine(url, headers, body)).toBe(true);
      expect(await isGenuine(url, headers, body.replace('TASK', 'task'))).toBe(!body.includes('TASK'));
      expect(await isGenuine(url, { ...headers, 'webhook-id': 'msg_other' }, body)).toBe(false);
      expect(await isGenuine(url, { ...headers, 'webhook-timestamp': '1' }, body)).toBe(false);
    }
  });

  verifies('a2a.push-retry', async () => {
    await using receiver = await PushReceiver.start();
    receiver.answers.push(
      { status: 500 },
      { status: 200 },
      { status: 400 },
      { status: 302, headers: { Location: '/' } },
    );
    await using rig = await pushRig();
    const client = await rig.client('JSONRPC');
    await taskFor(client, message('hello', told(receiver.url)));
    (await rig.model.call(0)).answer('Hello ', 'Ann.');
    await receiver.end();
    // What was refused is not sent again, and nobody follows a redirection.
    expect(saidTo(receiver)).toEqual([WHOLE[0], ...WHOLE]);
    const [failed, again, ...others] = idsOf(receiver);
    expect(again).toBe(failed);
    expect(others).not.toContain(failed);
    expect(receiver.received.map(({ path }) => path)).not.toContain('/');
    const metrics = () => MetricValues.at(rig.service.url);
    const accepted = async () => (await metrics()).value('agent_push_attempts_total{outcome=accepted}');
    await expect.poll(accepted).toBe(3);
    expect((await metrics()).value('agent_push_attempts_total{outcome=refused}')).toBe(3);
  });

  verifies('a2a.push-retry', 'nobody listens at first', async () => {
    const port = await freePort();
    await using rig = await pushRig();
    const client = await rig.client('JSONRPC');
    // Nobody listens there yet, and the task does not wait for that.
    const { id } = await taskFor(client, message('hello', told(`http://127.0.0.1:${port}/hook`)));
    (await rig.model.call(0)).answer('Hello ', 'Ann.');
    await rig.service.fetch(`/a2a/tasks/${id}:subscribe?A2A-Version=1.0`).then((stream) => stream.text());
    await using receiver = await PushReceiver.start(port);
    await receiver.end();
    expect(saidTo(receiver)).toEqual(WHOLE);
  });

  verifies('a2a.push-retry', 'a receiver that is gone gets nothing more', async () => {
    await using receiver = await PushReceiver.start();
    receiver.answers.push({ status: 410 });
    await using other = await PushReceiver.start();
    await using rig = await pushRig();
    const client = await rig.client('JSONRPC');
    const { id: taskId } = await taskFor(client, message('hello', told(receiver.url)));
    await client.createTaskPushNotificationConfig(config(other.url, { taskId }));
    await receiver.until(() => true);
    (await rig.model.call(0)).answer('Hello.');
    await other.end();
    expect(receiver.received).toHaveLength(1);
  });

  verifies('a2a.push-restart', async () => {
    await using folder = await tempDirectory();
    await using receiver = await PushReceiver.start();
    const secrets = { token: 'sesame-1', authentication: { scheme: 'Bearer', credentials: 'sesame-2' } };
    await (async () => {
      await using rig = await pushRig({ dataDir: folder.path });
      const client = await rig.client('JSONRPC');
      await taskFor(client, message('hello', { contextId: 'trip', ...told(receiver.url, secrets) }));
      await rig.model.call(0);
      await receiver.until(({ told: one }) => saidIn(one) === 'TASK_STATE_WORKING');
      // The next one stays without an answer, and so is sent again.
      receiver.isSilent = true;
      (await rig.model.call(0)).askFor({ name: 'pay', callId: 'c1' });
      await receiver.until(
        ({ told: one }) => 'statusUpdate' in one && one.statusUpdate.metadata !== undefined,
      );
    })();
    receiver.isSilent = false;
    const before = idsOf(receiver);
    await using rig = await pushRig({ dataDir: folder.path });
    const client = await rig.client('JSONRPC');
    await receiver.until(({ told: one }) => saidIn(one) === 'TASK_STATE_INPUT_REQUIRED');
    const { tasks } = await client.listTasks(listed({ contextId: 'trip' }));
    const denying = taskFor(client, message('deny', { taskId: tasks[0]?.id ?? '' }));
    (await rig.model.call(0)).answer('Then not.');
    await denying;
    const all = await receiver.end();
    const after = idsOf(receiver).slice(before.length);
    expect(after[0]).toBe(before.at(-1));
    expect(after.slice(1).filter((id) => before.includes(id))).toEqual([]);
    expect(all.at(-1)?.headers).toMatchObject({ authorization: 'Bearer sesame-2' });
    const { url } = rig.service;
    for (const { headers, body } of all) expect(await isGenuine(url, headers, body)).toBe(true);
    for (const secret of ['sesame-1', 'sesame-2']) expect(await filesWith(folder.path, secret)).toEqual([]);
  });

  verifies('a2a.push-secret', async () => {
    await using folder = await tempDirectory();
    await using receiver = await PushReceiver.start();
    const environment = { AGENT_SERVICE_SECRET_KEY: randomBytes(32).toString('base64') };
    const keysOf = async ({ service }: A2aRig) =>
      (await service.fetch('/.well-known/jwks.json')).json() as Promise<unknown>;
    const published: unknown[] = [];
    await (async () => {
      await using rig = await pushRig({ dataDir: folder.path });
      const client = await rig.client('JSONRPC');
      const asking = taskFor(client, message('pay', { contextId: 'trip', ...told(receiver.url) }));
      (await rig.model.call(0)).askFor({ name: 'pay', callId: 'c1' });
      await receiver.until(({ told: one }) => saidIn(one) === 'TASK_STATE_INPUT_REQUIRED');
      await asking;
      published.push(await keysOf(rig));
    })();
    await (async () => {
      await using rig = await pushRig({ dataDir: folder.path, environment });
      await rig.client('JSONRPC');
      published.push(await keysOf(rig));
    })();
    await rm(join(folder.path, 'secret.key'));
    await using rig = await pushRig({ dataDir: folder.path, environment });
    const client = await rig.client('JSONRPC');
    published.push(await keysOf(rig));
    const { tasks } = await client.listTasks(listed({ contextId: 'trip' }));
    const denying = taskFor(client, message('deny', { taskId: tasks[0]?.id ?? '' }));
    (await rig.model.call(0)).answer('Then not.');
    await denying;
    const all = await receiver.end();
    expect(all.length).toBeGreaterThan(3);
    for (const { headers, body } of all) expect(await isGenuine(rig.service.url, headers, body)).toBe(true);
    expect(published[1]).toEqual(published[0]);
    expect(published[2]).toEqual(published[0]);
  });

  verifies('a2a.push-erased', async () => {
    await using folder = await tempDirectory();
    await using receiver = await PushReceiver.start();
    receiver.isSilent = true;
    await (async () => {
      await using rig = await pushRig({ dataDir: folder.path });
      const client = await rig.client('JSONRPC');
      await taskFor(client, message('hello', { contextId: 'trip', ...told(receiver.url, { id: 'one' }) }));
      await taskFor(client, message('hello', { contextId: 'kept', ...told(receiver.url, { id: 'two' }) }));
      await receiver.until(() => receiver.received.length >= 2);
    })();
    expect(configsAmong(await streamsIn(folder.path))).toEqual(['two', 'one']);
    await (async () => {
      await using rig = await pushRig({ dataDir: folder.path });
      await rig.model.call(1);
      expect((await rig.service.fetch('/api/sessions/trip', { method: 'DELETE' })).status).toBe(200);
    })();
    expect(configsAmong(await streamsIn(folder.path))).toEqual(['two']);
  });

  verifies('a2a.push-address', async () => {
    await using receiver = await PushReceiver.start();
    await using rig = await A2aRig.start();
    const client = await rig.client('JSONRPC');
    for (const url of [
      receiver.url,
      receiver.url.replace('http:', 'https:'),
      'https://localhost/hook',
      'https://10.0.0.1/hook',
      'https://[::1]/hook',
      'https://[::ffff:192.168.0.1]/hook',
      'https://169.254.169.254/latest/meta-data',
      'https://2130706433/hook',
      'https://ann:secret@example.com/hook',
      'ftp://example.com/hook',
      'not a url',
    ])
      await expect(taskFor(client, message('hello', told(url))), url).rejects.toMatchObject({
        reason: 'INVALID_PARAMS',
      });
    expect(rig.model.calls).toEqual([]);
    expect(receiver.received).toEqual([]);
  });

  verifies('a2a.push-limits', async () => {
    await using receiver = await PushReceiver.start();
    await using rig = await pushRig();
    const client = await rig.client('JSONRPC');
    const { id: taskId } = await taskFor(client, message('hello', told(receiver.url, { id: 'c0' })));
    for (let number = 1; number < 10; number += 1)
      await client.createTaskPushNotificationConfig(config(receiver.url, { taskId, id: `c${number}` }));
    const eleventh = client.createTaskPushNotificationConfig(config(receiver.url, { taskId, id: 'c10' }));
    await expect(eleventh).rejects.toThrow('too many');
    // One that takes the place of another is none more.
    await client.createTaskPushNotificationConfig(config(receiver.url, { taskId, id: 'c3' }));
  });

  verifies('a2a.push-unused', async () => {
    await using folder = await tempDirectory();
    await (async () => {
      await using rig = await pushRig({ dataDir: folder.path });
      const client = await rig.client('JSONRPC');
      const asking = taskFor(client, message('hello'));
      (await rig.model.call(0)).answer('Hello.');
      await asking;
    })();
    expect(await streamsIn(folder.path)).toEqual([]);
  });
});
