import { describe, expect } from 'vitest';
import { z } from 'zod';
import { Scope } from '../../../src/core/access/scopes.ts';
import { type ErrorBody, ErrorCode } from '../../../src/core/errors.ts';
import { A2aJsonRpcError, A2aRestError } from '../../../src/gateway/a2a/a2a-error.ts';
import { A2A_SCOPES } from '../../../src/gateway/a2a/a2a-scopes.ts';
import { MCP_RESOURCE_SCOPES, MCP_TOOL_SCOPES } from '../../../src/gateway/mcp/mcp-scopes.ts';
import { OpenAiError } from '../../../src/gateway/openai/openai-error.ts';
import { CreateKeyResponse } from '../../../src/wire/api-keys.ts';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { tokenKinds } from '../../support/access/refused-tokens.ts';
import { parseEnvelope } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { RecordingSocket } from '../../support/sockets/recording-socket.ts';
import { verifies } from '../requirements.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline' },
  limits: { requestsPerMinute: false, messagesPerMinute: false, connectionsPerAddress: false },
});

/** `without-SCOPE` has every scope but that one, and `with-SCOPE` nothing else. */
const tokens = () =>
  new KnownTokens({
    all: identity('all', { roles: ['admin'] }),
    far: identity('far', { tenant: 'orbit', roles: ['admin'] }),
    ...Object.fromEntries(
      Scope.options.flatMap((scope) => [
        [
          `without-${scope}`,
          identity('all', { scopes: new Set(Scope.options.filter((one) => one !== scope)) }),
        ],
        [`with-${scope}`, identity('all', { scopes: new Set([scope]) })],
      ]),
    ),
  });

const Security = z.array(z.record(z.string(), z.array(Scope)));
const OpenApi = z.object({
  paths: z.record(
    z.string(),
    z.record(z.string(), z.looseObject({ operationId: z.string(), security: Security })),
  ),
});
const AsyncApi = z.object({
  channels: z.record(z.string(), z.looseObject({ address: z.string(), 'x-required-scope': Scope })),
  components: z.object({
    messages: z.record(
      z.string(),
      z.looseObject({
        'x-required-scope': Scope.nullable().optional(),
        examples: z.array(z.object({ payload: z.record(z.string(), z.unknown()) })),
      }),
    ),
  }),
});

interface Operation {
  readonly method: string;
  readonly path: string;
  /** Undefined: nothing. None: any credential. */
  readonly scopes: readonly Scope[] | undefined;
  readonly body: object;
}

async function operationsOf(service: RunningService): Promise<Operation[]> {
  const { paths } = OpenApi.parse(await (await service.fetch('/openapi.json')).json());
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({
      method: method.toUpperCase(),
      path: path.replace(/\{(\w+)\}/g, (_, name: string) => IDS[name] ?? 'nothing'),
      scopes: security[0]?.bearer,
      body: BODIES[path] ?? BODY,
    })),
  );
}

async function answer(
  service: RunningService,
  { method, path, body }: Operation,
  headers: Record<string, string>,
): Promise<{ status: number; error?: Pick<ErrorBody, 'code' | 'details'> }> {
  const got = await service.fetch(path, {
    method,
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', ...headers },
    ...(method !== 'GET' && { body: JSON.stringify(body) }),
  });
  const text = await got.text();
  const errorIn = path.startsWith('/v1/')
    ? openAiErrorIn
    : path.startsWith('/a2a')
      ? a2aErrorIn
      : parseEnvelope;
  return got.status >= 400 ? { status: got.status, error: errorIn(text) } : { status: got.status };
}

/** Its codes are those of the service in lower case. */
function openAiErrorIn(text: string): Pick<ErrorBody, 'code' | 'details'> {
  const { code, details } = OpenAiError.parse(JSON.parse(text)).error;
  const named: Readonly<Record<string, ErrorCode>> = {
    invalid_api_key: 'UNAUTHORIZED',
    model_not_found: 'AGENT_NOT_FOUND',
  };
  return { code: named[code ?? ''] ?? ErrorCode.parse(code?.toUpperCase()), details };
}

/** Its details are texts. */
function a2aErrorIn(text: string): Pick<ErrorBody, 'code' | 'details'> {
  const { error } = z.union([A2aRestError, A2aJsonRpcError]).parse(JSON.parse(text));
  const [info] = 'details' in error ? error.details : error.data;
  if (!info || !('metadata' in info)) throw new Error('the error has no information');
  return { code: ErrorCode.parse(info.metadata.code), details: info.metadata };
}

const authorization = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });

interface Rig extends AsyncDisposable {
  readonly service: RunningService;
  readonly tokens: KnownTokens;
  /** Headers that must be refused everywhere, by what is wrong with them. */
  readonly refused: Readonly<Record<string, Record<string, string>>>;
}

/** A service with API keys, an identity provider and the tokens of `tokens`. */
async function start(): Promise<Rig> {
  const { verifier, right, wrong } = await tokenKinds();
  const known = tokens();
  const service = await RunningService.start({ yaml: YAML, apiKeys: true, verifiers: [known, verifier] });
  expect((await service.fetch('/api/sessions', { headers: authorization(right) })).status).toBe(200);
  const created = CreateKeyResponse.parse(
    await (await service.post('/api/keys', { name: 'gone', roles: ['admin'] })).json(),
  );
  const key = authorization(created.key);
  expect((await service.fetch('/api/keys', { headers: key })).status).toBe(200);
  await service.fetch(`/api/keys/${created.keyId}`, { method: 'DELETE' });
  const refused = {
    none: { Authorization: '' },
    garbage: authorization('garbage'),
    'unknown token': authorization('test-unknown'),
    'another scheme': { Authorization: 'Basic dGVzdDphbGw=' },
    'revoked key': key,
    'mistyped key': authorization(`${created.key.slice(0, -1)}!`),
    ...Object.fromEntries(Object.entries(wrong).map(([what, token]) => [what, authorization(token)])),
  };
  return { service, tokens: known, refused, [Symbol.asyncDispose]: () => service.close() };
}

/** All at once, because those after the twentieth guess of the minute are answered late. */
async function expectRefused({ service, refused }: Rig, operations: readonly Operation[]): Promise<void> {
  const tried = operations.flatMap((operation) =>
    Object.entries(refused).map(([what, headers]) => ({ what, operation, headers })),
  );
  const statuses = await Promise.all(
    tried.map(async ({ operation, headers }) => (await answer(service, operation, headers)).status),
  );
  const answered = tried.filter((_, index) => statuses[index] !== 401 && statuses[index] !== 429);
  expect(answered).toEqual([]);
  expect(statuses).toContain(401);
}

describe('the matrix of operations and credentials', () => {
  verifies('auth.matrix', 'REST', async () => {
    await using rig = await start();
    const { service, tokens } = rig;
    const operations = await operationsOf(service);
    expect(operations.length).toBeGreaterThan(25);
    await expectRefused(
      rig,
      operations.filter(({ scopes }) => scopes !== undefined),
    );
    for (const operation of operations) {
      const title = `${operation.method} ${operation.path}`;
      const { scopes } = operation;
      if (scopes === undefined) {
        expect([title, (await answer(service, operation, { Authorization: '' })).status]).toEqual([
          title,
          200,
        ]);
        continue;
      }
      const exactly = `exactly-${scopes.join('-')}`;
      tokens.identities.set(`test-${exactly}`, identity('all', { scopes: new Set(scopes) }));
      const allowed = await answer(service, operation, bearer(exactly));
      expect([title, allowed.status === 401 || allowed.error?.code === 'FORBIDDEN']).toEqual([title, false]);
      for (const scope of scopes) {
        const lacking = await answer(service, operation, bearer(`without-${scope}`));
        expect([title, lacking]).toMatchObject([
          title,
          { status: 403, error: { code: 'FORBIDDEN', details: { scope } } },
        ]);
      }
    }
  });

  verifies('auth.matrix', 'frames', async () => {
    await using rig = await start();
    const { service } = rig;
    const { channels, components } = AsyncApi.parse(await (await service.fetch('/asyncapi.json')).json());
    for (const { address, 'x-required-scope': scope } of Object.values(channels)) {
      // Answers what a handshake would be answered.
      const connecting = (token: string) =>
        service.fetch(address, { headers: { Accept: 'application/json', ...bearer(token) } });
      expect((await connecting(`with-${scope}`)).status).toBe(200);
      const lacking = await connecting(`without-${scope}`);
      expect(lacking.status).toBe(403);
      expect(parseEnvelope(await lacking.text())).toMatchObject({ code: 'FORBIDDEN', details: { scope } });
    }
    const frames = Object.entries(components.messages).filter(([key]) => key.startsWith('client.'));
    expect(frames.length).toBeGreaterThan(4);
    for (const [key, { 'x-required-scope': scope, examples }] of frames) {
      expect([key, scope]).not.toEqual([key, undefined]);
      const [example] = examples;
      if (!scope || !example) continue;
      const ticket = await (await service.post('/api/tickets', {}, bearer(`without-${scope}`))).json();
      using socket = new RecordingSocket(`ws://127.0.0.1:${service.port}/?ticket=${Object(ticket).ticket}`);
      await socket.opened;
      socket.send(example.payload);
      await socket.until('error');
      expect([key, socket.frames[0]]).toMatchObject([
        key,
        { data: { code: 'FORBIDDEN', details: { scope } } },
      ]);
    }
  });

  verifies('auth.matrix', 'MCP', async () => {
    await using rig = await start();
    const { service } = rig;
    const call = (method: string, params: object, headers: Record<string, string>) =>
      service.fetch('/mcp', {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
    const initialize = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    };
    const refusals = Object.entries(rig.refused).map(async ([what, headers]) => {
      const { status, headers: answered } = await call('initialize', initialize, headers);
      expect([what, status === 401 || status === 429]).toEqual([what, true]);
      if (status === 401) expect(answered.get('WWW-Authenticate')).toContain('resource_metadata="http://');
    });
    await Promise.all(refusals);
    const begun = await call('initialize', initialize, bearer('all'));
    expect(begun.status).toBe(200);
    const session = { 'Mcp-Session-Id': begun.headers.get('mcp-session-id') ?? '' };
    await begun.text();
    const calls = [
      ...Object.entries(MCP_TOOL_SCOPES).map(([name, needed]) => ({
        needed,
        method: 'tools/call',
        params: { name, arguments: { message: 'hello' } },
      })),
      ...Object.entries(MCP_RESOURCE_SCOPES).map(([uri, needed]) => ({
        needed,
        method: 'resources/read',
        params: { uri },
      })),
    ];
    for (const { needed, method, params } of calls) {
      expect((await call(method, params, { ...session, ...bearer('far') })).status).toBe(404);
      for (const scope of [needed ?? []].flat()) {
        const lacking = await call(method, params, { ...session, ...bearer(`without-${scope}`) });
        expect([params, lacking.status]).toEqual([params, 403]);
        expect(lacking.headers.get('WWW-Authenticate')).toContain('error="insufficient_scope"');
        expect(parseEnvelope(await lacking.text())).toMatchObject({ code: 'FORBIDDEN', details: { scope } });
      }
      const allowed = await call(method, params, { ...session, ...bearer('all') });
      expect([params, allowed.status]).toEqual([params, 200]);
      expect(await allowed.text()).not.toContain('"isError":true');
    }
    const tools = await (await call('tools/list', {}, { ...session, ...bearer('all') })).text();
    for (const name of tools.matchAll(/"name":"(\w+)","title"/g))
      expect(MCP_TOOL_SCOPES).toHaveProperty(name[1] ?? '');
    expect([...tools.matchAll(/"name":"(\w+)","title"/g)]).toHaveLength(Object.keys(MCP_TOOL_SCOPES).length);
  });

  verifies('auth.matrix', 'A2A', async () => {
    await using rig = await start();
    const { service } = rig;
    const call = (method: string, headers: Record<string, string>) =>
      service.fetch('/a2a', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: PARAMS[method] }),
      });
    for (const [method, scopes] of Object.entries(A2A_SCOPES)) {
      const allowed = await (await call(method, bearer('all'))).text();
      expect([method, allowed]).not.toEqual([method, expect.stringContaining('FORBIDDEN')]);
      for (const scope of [scopes ?? []].flat()) {
        const lacking = await call(method, bearer(`without-${scope}`));
        const text = await lacking.text();
        expect([method, lacking.status, JSON.parse(text).id]).toEqual([method, 403, 7]);
        expect([method, a2aErrorIn(text)]).toMatchObject([method, { code: 'FORBIDDEN', details: { scope } }]);
      }
    }
  });
});

const TURN = '0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e';
const TASK = `${TURN}~default~nothing`;
const SAID = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] };

/** So formed that the session is looked for. */
const IDS: Readonly<Record<string, string>> = {
  taskId: TASK,
  responseId: `resp_${TURN}.1~default~nothing`,
  seq: '1',
};

const BODY = {
  message: 'hello',
  name: 'n',
  title: 't',
  decision: 'approve',
  content: 'c',
  action: 'cancel',
  config: { type: 'stdio', command: 'false' },
  access: 'read',
  principal: 'test:far',
  roles: ['user'],
  model: 'default',
  messages: [{ role: 'user', content: 'hello' }],
  input: 'hello',
  metadata: {},
  items: [{ type: 'message', role: 'user', content: 'hello' }],
  url: 'https://receiver.example.com/tasks',
};

/** Where a field of `BODY` means something else. */
const BODIES: Readonly<Record<string, object>> = {
  '/a2a/message:send': { message: SAID },
  '/a2a/message:stream': { message: SAID },
  '/ag-ui': { threadId: 'thread', runId: 'run', messages: [{ id: 'm', role: 'user', content: 'hello' }] },
};

const PARAMS: Readonly<Record<string, object>> = {
  SendMessage: { message: SAID },
  SendStreamingMessage: { message: SAID },
  GetTask: { id: TASK },
  CancelTask: { id: TASK },
  SubscribeToTask: { id: TASK },
};
