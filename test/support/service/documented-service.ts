import { sha256Hash } from '../../../src/adapters/sha256/sha256-hash.ts';
import { withEventStore } from '../../../src/cli/transfer/stored-log.ts';
import { AuditEntry } from '../../../src/core/access/audit-entry.ts';
import { API_KEYS_STREAM, auditStream, GRANTS_STREAM } from '../../../src/core/log/streams.ts';
import { auditOperation } from '../../../src/gateway/documents/operations/audit-operation.ts';
import type { Operation } from '../../../src/gateway/documents/operations/operation.ts';
import { eventually } from '../project/eventually.ts';
import { viewOf } from '../sessions/session-api.ts';
import { serverWith } from '../tools/tool-server-client.ts';
import type { RunningService } from './running-service.ts';

const everything = {
  type: 'stdio',
  command: 'mcp-server-everything',
  args: ['stdio'],
};

/** The agent whose answers the examples of the documents show. */
export const documentedAgent = {
  llm: {
    provider: 'scripted',
    model: 'offline',
    script: [
      { when: '^fail$', fail: 'the script says so' },
      { when: '^take your time$', reply: 'So be it.', delayMs: 600_000 },
      { when: '^hello$', reply: 'Hello!' },
      { when: '^What is this', reply: 'What a nice picture.' },
    ],
  },
  mcpServers: {
    everything: { ...everything, description: 'Reference server with tools for trying things out' },
    paused: everything,
    asking: { type: 'stdio', command: 'none', sampling: { policy: 'auto' } },
  },
  server: { drainTimeoutMs: 0 },
  approval: { rules: [{ tool: 'echo', policy: 'ask' }] },
};

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Brings about what the examples take for granted: sessions, tool calls that wait, a server that is disconnected. */
export async function prepareDocumentedState(service: RunningService): Promise<void> {
  // A turn waits ten seconds for it, which a busy machine may need longer for.
  await serverWith(service, 'everything', 'connected');
  await service.fetch('/api/mcp/servers/paused', { method: 'DELETE' });
  const say = (message: string, sessionId: string) => service.post('/api/message', { message, sessionId });
  for (const sessionId of ['demo', 'old', 'background'])
    await service.post('/api/message-sync', { message: 'hello', sessionId });
  const imageData = { base64: PIXEL, mimeType: 'image/png' };
  const picture = { message: 'What is this?', sessionId: 'pictured', imageData };
  await service.post('/api/message-sync', picture);
  await say('take your time', 'busy');
  await service.post('/api/message', {
    message: 'use pick_colour {"of": "the door"}',
    sessionId: 'painting',
    clientTools: [{ name: 'pick_colour' }],
  });
  await eventually(
    () => viewOf(service, 'painting'),
    ({ clientCalls = [] }) => clientCalls.length > 0,
  );
  for (const sessionId of ['asked', 'shy']) {
    await say('use order_tea {}', sessionId);
    await eventually(
      () => viewOf(service, sessionId),
      ({ inputs = [] }) => inputs.length > 0,
    );
  }
  for (const sessionId of ['careful', 'wary']) {
    await say('use echo {"message": "hi"}', sessionId);
    await waitsForApproval(service, sessionId);
  }
}

/** Stores the responses and tasks of the examples, whose ids nobody could foresee otherwise. */
export async function prepareDocumentedResponses(dataDir: string): Promise<void> {
  const turnId = '0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e';
  const usage = { inputTokens: 9, outputTokens: 2 };
  const parts = [{ type: 'text' as const, text: 'Hello!' }];
  const source = { api: 'scripted', provider: 'scripted', model: 'offline' };
  await withEventStore({ dataDir }, 'create', async (store) => {
    for (const sessionId of ['trip-9d51', 'trip-over'])
      await store.append(sessionId, 0, [{ type: 'session.described', metadata: { topic: 'trip' } }]);
    const heads = { 'trip-6b1f': 0, 'trip-gone': 0, 'trip-9d51': 1 };
    for (const [sessionId, head] of Object.entries(heads))
      await store.append(sessionId, head, [
        { type: 'turn.requested', turnId, text: 'hello', options: { note: { isAlone: true } } },
        { type: 'turn.started', turnId },
        { type: 'step.completed', turnId, step: 1, parts, separator: '', source, usage },
        { type: 'turn.completed', turnId, content: 'Hello!' },
      ]);
    for (const sessionId of ['trip-open', 'trip-left'])
      await store.append(sessionId, 0, [
        { type: 'turn.requested', turnId, text: 'take your time' },
        { type: 'turn.started', turnId },
      ]);
  });
}

/** Stores the API key and the grant of the examples in a data directory. Others have ids that nobody can foresee. */
export async function prepareDocumentedAccess(dataDir: string): Promise<void> {
  const key = { keyId: 'c1Q3mJr7', name: 'ci', roles: ['user'], tenant: 'default' };
  const event = { type: 'api-key.created', ...key, hash: sha256Hash.hash('nobody knows it') } as const;
  const sessionId = 'default/test:admin/shared';
  const grantId = '0c7b5a9e-52f1-4d35-8d1f-5b8f3f6f1d11';
  const shared = {
    type: 'session.shared',
    grantId,
    sessionId,
    principal: 'key:bob',
    access: 'read',
  } as const;
  await withEventStore({ dataDir }, 'create', async (store) => {
    await store.append(API_KEYS_STREAM, 0, [event]);
    await store.append(sessionId, 0, [{ type: 'session.renamed', title: 'Shared' }]);
    await store.append(GRANTS_STREAM, 0, [shared]);
    await store.append(auditStream(Date.now()), 0, [
      { type: 'audit.recorded', entries: [entryOf(auditOperation)] },
    ]);
  });
}

/** The entry that the example shows. */
function entryOf({ examples }: Operation): AuditEntry {
  const [example] = examples;
  if (!example || !('body' in example.answer)) throw new Error('the operation has no example');
  return AuditEntry.parse(JSON.parse(String(example.answer.body)));
}

async function waitsForApproval(service: RunningService, sessionId: string): Promise<void> {
  await eventually(
    () => viewOf(service, sessionId),
    ({ approvals }) => approvals.length > 0,
  );
}
