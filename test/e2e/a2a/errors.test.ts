import { describe, expect } from 'vitest';
import { A2aJsonRpcError, A2aRestError } from '../../../src/gateway/a2a/a2a-error.ts';
import { A2aRig } from '../../support/a2a/a2a-rig.ts';
import { verifies } from '../requirements.ts';

const SAID = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
const request = (method: string, params?: unknown) => ({ jsonrpc: '2.0', id: 'r1', method, params });
const sending = (said: object) => request('SendMessage', { message: { ...SAID, ...said } });

const pushing = (taskPushNotificationConfig: object) =>
  request('SendMessage', { message: SAID, configuration: { taskPushNotificationConfig } });

/** A request of JSON-RPC, and the number, the reason and the wrong field of its error. */
const WRONG: readonly [unknown, number, string, string | undefined][] = [
  ['{', -32_700, 'INVALID_REQUEST', undefined],
  [`${'['.repeat(300)}${']'.repeat(300)}`, -32_700, 'INVALID_REQUEST', 'body'],
  [[], -32_600, 'INVALID_REQUEST', 'body'],
  [{ ...sending({}), id: undefined }, -32_600, 'INVALID_REQUEST', 'id'],
  [{ ...request('GetTask'), jsonrpc: '1.0' }, -32_600, 'INVALID_REQUEST', 'jsonrpc'],
  [request('GetTask', []), -32_602, 'INVALID_PARAMS', 'params'],
  [request('tasks/get', {}), -32_601, 'INVALID_REQUEST', undefined],
  [request('GetTask', {}), -32_602, 'INVALID_PARAMS', 'id'],
  [request('GetTask', { id: 'nobody' }), -32_001, 'TASK_NOT_FOUND', undefined],
  [request('SendMessage', {}), -32_602, 'INVALID_PARAMS', 'message'],
  [sending({ parts: [] }), -32_602, 'INVALID_PARAMS', 'message.parts'],
  [sending({ parts: [{}] }), -32_602, 'INVALID_PARAMS', 'message.parts.0'],
  [sending({ role: 'ROLE_AGENT' }), -32_602, 'INVALID_PARAMS', 'message.role'],
  [sending({ contextId: 'a b' }), -32_602, 'INVALID_PARAMS', 'message.contextId'],
  [sending({ taskId: 'nobody' }), -32_001, 'TASK_NOT_FOUND', undefined],
  [
    sending({ parts: [{ url: 'https://example.com/a.png' }] }),
    ...([-32_005, 'CONTENT_TYPE_NOT_SUPPORTED', 'message.parts.0.url'] as const),
  ],
  [
    sending({ parts: [{ raw: 'aGk=', mediaType: 'application/pdf' }] }),
    ...([-32_005, 'CONTENT_TYPE_NOT_SUPPORTED', 'message.parts.0.mediaType'] as const),
  ],
  [
    sending({ parts: [{ raw: 'iVBORw0KGgoAAAAN', mediaType: 'image/jpeg' }] }),
    ...([-32_602, 'INVALID_PARAMS', 'message.parts.0.mediaType'] as const),
  ],
  [
    sending({ parts: [{ raw: 'no base64', mediaType: 'image/png' }] }),
    ...([-32_602, 'INVALID_PARAMS', 'message.parts.0.raw'] as const),
  ],
  [
    pushing({ url: 'http://example.com/hook' }),
    ...([-32_602, 'INVALID_PARAMS', 'configuration.taskPushNotificationConfig.url'] as const),
  ],
  [
    pushing({ url: 'https://127.0.0.1/hook' }),
    ...([-32_602, 'INVALID_PARAMS', 'configuration.taskPushNotificationConfig.url'] as const),
  ],
  [
    pushing({ url: 'https://example.com/hook', id: 'a~b' }),
    ...([-32_602, 'INVALID_PARAMS', 'configuration.taskPushNotificationConfig.id'] as const),
  ],
  [
    pushing({ url: 'https://example.com/hook', token: 'two\nlines' }),
    ...([-32_602, 'INVALID_PARAMS', 'configuration.taskPushNotificationConfig.token'] as const),
  ],
  [
    request('CreateTaskPushNotificationConfig', { taskId: 'any', url: 'https://example.com' }),
    ...([-32_001, 'TASK_NOT_FOUND', undefined] as const),
  ],
  [request('ListTasks', { pageSize: 0 }), -32_602, 'INVALID_PARAMS', 'pageSize'],
  [request('GetExtendedAgentCard', {}), -32_004, 'UNSUPPORTED_OPERATION', undefined],
];

function told(details: A2aJsonRpcError['error']['data']) {
  const [info, bad] = details;
  const reason = info && 'reason' in info ? info.reason : undefined;
  return [reason, bad && 'fieldViolations' in bad ? bad.fieldViolations[0]?.field : undefined];
}

describe('errors of A2A', () => {
  verifies('a2a.errors', 'JSON-RPC', async () => {
    await using rig = await A2aRig.start();
    for (const [body, number, reason, field] of WRONG) {
      const answer = await rig.call(typeof body === 'string' ? body : JSON.stringify(body));
      const { id, error } = A2aJsonRpcError.parse(await answer.json());
      expect([body, answer.status, error.code, ...told(error.data)]).toEqual([
        ...[body, 200, number, reason, field],
      ]);
      expect(id).toBe(JSON.stringify(body).includes('"r1"') ? 'r1' : null);
    }
    expect(rig.model.calls).toEqual([]);
  });

  verifies('a2a.errors', 'HTTP+JSON', async () => {
    await using rig = await A2aRig.start();
    const asked = async (path: string, init: RequestInit = {}, version = '1.0') => {
      const headers = { 'A2A-Version': version, 'Content-Type': 'application/a2a+json', ...init.headers };
      const answer = await rig.service.fetch(path, { ...init, headers });
      expect(answer.headers.get('Content-Type')).toBe('application/a2a+json');
      const { error } = A2aRestError.parse(await answer.json());
      expect(error.code).toBe(answer.status);
      return [answer.status, error.status, ...told(error.details)];
    };
    const post = (body: string) => ({ method: 'POST', body });
    expect(await asked('/a2a/tasks/nobody')).toEqual([404, 'NOT_FOUND', 'TASK_NOT_FOUND', undefined]);
    expect(await asked('/a2a/tasks?pageSize=500')).toEqual([
      ...[400, 'INVALID_ARGUMENT', 'INVALID_PARAMS', 'pageSize'],
    ]);
    for (const [query, field, issue] of [
      ['historyLength=-1', 'historyLength', 'must be a whole number, 0 or more'],
      ['historyLength=few', 'historyLength', 'must be a whole number, 0 or more'],
      ['pageSize=0', 'pageSize', 'must be a whole number from 1 to 100'],
      ['includeArtifacts=True', 'includeArtifacts', 'must be true or false'],
    ]) {
      const answer = await rig.service.fetch(`/a2a/tasks?A2A-Version=1.0&${query}`);
      expect(A2aRestError.parse(await answer.json()).error.details[1]).toMatchObject({
        fieldViolations: [{ field, description: issue }],
      });
    }
    expect(await asked('/a2a/message:send', post('{"message":{}}'))).toEqual([
      ...[400, 'INVALID_ARGUMENT', 'INVALID_PARAMS', 'message.messageId'],
    ]);
    expect(await asked('/a2a/message:send', post('{'))).toEqual([
      ...[400, 'INVALID_ARGUMENT', 'INVALID_PARAMS', 'body'],
    ]);
    const configs = '/a2a/tasks/any/pushNotificationConfigs';
    for (const path of ['/a2a/message:send', '/a2a/message:stream', configs])
      expect(await asked(path, { ...post('{}'), headers: { 'Content-Type': 'text/plain' } })).toEqual([
        ...[400, 'INVALID_ARGUMENT', 'CONTENT_TYPE_NOT_SUPPORTED', 'Content-Type'],
      ]);
    for (const [path, init] of [
      [configs, post('{"url":"https://example.com"}')],
      [configs, {}],
      [`${configs}/one`, {}],
      [`${configs}/one`, { method: 'DELETE' }],
    ] as const)
      expect(await asked(path, init)).toEqual([404, 'NOT_FOUND', 'TASK_NOT_FOUND', undefined]);
    expect(await asked(configs, post('{}'))).toEqual([...[400, 'INVALID_ARGUMENT', 'INVALID_PARAMS', 'url']]);
    expect(await asked('/a2a/nothing')).toEqual([...[400, 'INVALID_ARGUMENT', 'INVALID_PARAMS', undefined]]);
    for (const version of ['', '0.3', '2.0'])
      expect(await asked('/a2a/tasks', {}, version)).toEqual([
        ...[400, 'FAILED_PRECONDITION', 'VERSION_NOT_SUPPORTED', 'A2A-Version'],
      ]);
  });

  verifies('a2a.errors', 'versions, types, texts and origins', async () => {
    await using rig = await A2aRig.start();
    const listing = request('ListTasks', {});
    for (const version of ['', '0.3', '1.1']) {
      const answer = await rig.call(listing, { 'A2A-Version': version });
      expect(await answer.json()).toMatchObject({ id: 'r1', error: { code: -32_009 } });
    }
    expect(await (await rig.call(listing, { 'A2A-Version': '1.0.3' })).json()).toMatchObject({
      result: {},
    });
    const inQuery = await rig.service.fetch('/a2a/tasks?A2A-Version=1.0');
    expect(inQuery.status).toBe(200);
    const text = await rig.call(listing, { 'Content-Type': 'text/plain' });
    expect(await text.json()).toMatchObject({ id: null, error: { code: -32_005 } });
    const notText = await rig.service.fetch('/a2a', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
      body: new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
    });
    expect(await notText.json()).toMatchObject({ id: null, error: { code: -32_700 } });
    const elsewhere = await rig.call(listing, { Origin: 'https://elsewhere.example' });
    expect([elsewhere.status, await elsewhere.json()]).toMatchObject([
      403,
      { jsonrpc: '2.0', id: null, error: { code: 403 } },
    ]);
  });
});
