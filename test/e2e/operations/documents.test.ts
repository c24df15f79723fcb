import { describe, expect } from 'vitest';
import { parse } from 'yaml';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { differences } from '../../support/documents/example-difference.ts';
import { openApiCheck } from '../../support/documents/json-schema-check.ts';
import {
  exampleValue,
  OpenApi,
  type ReplayableExample,
  replayableExamples,
} from '../../support/documents/open-api-examples.ts';
import { eventually } from '../../support/project/eventually.ts';
import {
  documentedAgent,
  prepareDocumentedAccess,
  prepareDocumentedResponses,
  prepareDocumentedState,
} from '../../support/service/documented-service.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { eventsIn, firstEvents } from '../../support/sockets/event-stream-reader.ts';
import { withAskingTools } from '../../support/tools/asking-tools.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { verifies } from '../requirements.ts';

async function documentOf(service: RunningService): Promise<OpenApi> {
  return OpenApi.parse(await (await service.fetch('/openapi.json')).json());
}

function send(service: RunningService, { request }: ReplayableExample): Promise<Response> {
  const { method, path, headers, body } = request;
  return service.fetch(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
}

/** What the answer is not, of what its example says; of YAML a part is shown. */
async function deviations(
  response: Response,
  { id, answer, mediaType }: ReplayableExample,
): Promise<string[]> {
  switch (mediaType) {
    case 'text/event-stream': {
      const expected = eventsIn(String(answer));
      expect(expected.length).toBeGreaterThan(0);
      return differences(expected, await firstEvents(response, expected.length), notForeseen[id]);
    }
    case 'application/x-ndjson': {
      const [expected, found] = [String(answer), await response.text()].map((text) =>
        text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
      );
      return differences(expected, found, ['id', 'causationId', 'correlationId', 'agentVersion']);
    }
    case 'application/yaml':
      expect(parse(await response.text())).toMatchObject(parse(String(answer)));
      return [];
    case 'text/plain; version=0.0.4; charset=utf-8': {
      const lines = (await response.text()).split('\n');
      return String(answer)
        .split('\n')
        .filter((line) => !lines.includes(line));
    }
    default:
      return differences(answer, await response.json(), notForeseen[id]);
  }
}

/** Fields whose values nobody can foresee, by example. */
const notForeseen: Readonly<Record<string, readonly string[]>> = {
  'listInputs.oldestQuestion': ['expiresAt'],
  'createKey.created': ['key', 'keyId', 'expiresAt'],
  'revokeKey.revoked': ['revokedAt'],
  'issueTicket.ticket': ['ticket', 'expiresAt'],
  'shareSession.shared': ['grantId', 'createdBy'],
  'listGrants.grants': ['createdBy'],
  'revokeGrant.revoked': ['createdBy'],
  'listAgents.one': ['agentVersion'],
  'reloadAgent.unchanged': ['agentVersion'],
  'listModels.one': ['created'],
  'showModel.agent': ['created'],
  'createChatCompletion.hello': ['id', 'created', 'prompt_tokens', 'total_tokens'],
  'createChatCompletion.streamed': ['id', 'created'],
  'showResponse.shown': ['created_at', 'completed_at'],
  'cancelResponse.shown': ['created_at', 'completed_at'],
  'compactConversation.compacted': [
    ...['id', 'created_at', 'encrypted_content'],
    ...['input_tokens', 'output_tokens', 'total_tokens'],
  ],
  'createResponse.hello': ['id', 'created_at', 'completed_at', 'input_tokens', 'total_tokens'],
  'createConversation.begun': ['id', 'created_at'],
  'showConversation.shown': ['created_at'],
  'updateConversation.updated': ['created_at'],
  'addConversationItems.added': ['id', 'first_id', 'last_id'],
  'showAgentCard.card': ['url'],
  'showExtendedAgentCard.card': ['url'],
  'sendA2aMessage.hello': ['id', 'taskId', 'contextId'],
  'streamA2aMessage.begun': ['id', 'taskId', 'contextId'],
  'showPushKeys.key': ['x', 'kid'],
  'whoami.key': ['principal', 'tenant', 'roles'],
};

describe('the documents', () => {
  verifies('documents.served', async () => {
    await using service = await RunningService.start();
    const types = {
      '/openapi.json': 'application/json',
      '/asyncapi.json': 'application/json',
      '/docs': 'text/html; charset=utf-8',
      '/docs.css': 'text/css; charset=utf-8',
    };
    for (const [path, type] of Object.entries(types)) {
      const response = await service.fetch(path);
      expect([path, response.status, response.headers.get('Content-Type')]).toEqual([path, 200, type]);
      expect(response.headers.get('X-RateLimit-Limit')).toBeNull();
    }
    expect(await (await service.fetch('/openapi.json')).json()).toMatchObject({ openapi: '3.1.0' });
    expect(await (await service.fetch('/asyncapi.json')).json()).toMatchObject({ asyncapi: '3.0.0' });
    expect(await (await service.fetch('/docs')).text()).toContain(
      `curl -s 127.0.0.1:${service.port}/api/message-sync`,
    );
    expect(await (await service.fetch('/')).text()).toContain('/docs');
  });

  verifies('documents.safe', async () => {
    await using service = await RunningService.start();
    const { headers } = await service.fetch('/docs');
    const policy = headers.get('Content-Security-Policy')?.split('; ');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("style-src 'self'");
    expect(policy?.some((directive) => directive.startsWith('script-src'))).toBe(false);
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
  });

  verifies('documents.cached', async () => {
    await using service = await RunningService.start();
    for (const path of ['/openapi.json', '/asyncapi.json', '/docs', '/docs.css']) {
      const first = await service.fetch(path);
      const etag = first.headers.get('ETag') ?? '';
      expect(etag).toMatch(/^"[\w-]+"$/);
      expect(first.headers.get('Cache-Control')).toBe('no-cache');
      const again = await service.fetch(path, { headers: { 'If-None-Match': `"other", W/${etag}` } });
      expect([again.status, await again.text(), again.headers.get('ETag')]).toEqual([304, '', etag]);
      expect(again.headers.get('Content-Length')).toBeNull();
      const other = await service.fetch(path, { headers: { 'If-None-Match': '"other"' } });
      expect(other.status).toBe(200);
    }
  });

  verifies('documents.mcp', async () => {
    await using service = await RunningService.start({ mode: 'mcp' });
    for (const path of ['/openapi.json', '/asyncapi.json', '/docs'])
      expect((await service.fetch(path)).status).toBe(400);
  });

  verifies('documents.rest-examples', async () => {
    await using folder = await tempDirectory();
    await using secretly = await tempDirectory();
    await prepareDocumentedAccess(secretly.path);
    await prepareDocumentedResponses(folder.path);
    const yaml = JSON.stringify({ ...documentedAgent, limits: { requestsPerMinute: 1_000 } });
    await using service = await RunningService.start({ yaml, dataDir: folder.path, wraps: withAskingTools });
    await using secured = await RunningService.start({
      yaml,
      wraps: withAskingTools,
      dataDir: secretly.path,
      apiKeys: true,
      // Shown in the headers.
      auth: { limits: {} },
    });
    await prepareDocumentedState(service);
    const document = await documentOf(secured);
    const plain = new Set(replayableExamples(await documentOf(service)).map(({ id }) => id));
    const check = openApiCheck(document);
    const examples = replayableExamples(document);
    expect(examples.length).toBeGreaterThan(30);
    const faults: Record<string, readonly unknown[]> = {};
    for (const example of examples) {
      const { id, status, mediaType, schemaPointer } = example;
      // Only a service that authenticates its clients has the others.
      const response = await send(plain.has(id) ? service : secured, example);
      const answer = mediaType === 'application/json' ? await response.clone().json() : undefined;
      const found = [
        ...(response.status === status ? [] : [`its status is ${response.status}`]),
        ...(response.headers.get('Content-Type') === mediaType ? [] : ['its Content-Type is another']),
        ...example.headers.filter((name) => name !== 'Retry-After' && !response.headers.has(name)),
        ...(answer === undefined ? [] : check(schemaPointer, answer)),
        ...(await deviations(response, example)),
      ];
      if (found.length > 0) faults[id] = found;
    }
    expect(faults).toEqual({});
  });

  verifies('documents.rest-examples', 'and one that is not so would be noticed', async () => {
    await using service = await RunningService.start();
    const examples = replayableExamples(await documentOf(service));
    const health = examples.find(({ id }) => id === 'probeHealth.healthy');
    if (!health) throw new Error('there is no example of the health');
    const right = { success: true, a: { b: [1, { c: 'x' }] }, timestamp: 'now', list: [] };
    expect(differences(right, { ...right, timestamp: 'later' })).toEqual([]);
    for (const wrong of [
      { a: { b: [2] } },
      { list: [1] },
      { timestamp: 5 },
      { more: 1 },
      { a: { b: [1, {}] } },
    ])
      expect(differences(right, { ...right, ...wrong })).not.toEqual([]);
    expect(
      await deviations(await send(service, health), { ...health, answer: { status: 'ill' } }),
    ).not.toEqual([]);
  });
});

const burning: EventStore = {
  append: () => Promise.reject(new Error('EIO')),
  read: () => Promise.resolve([]),
  pages: () => ReadableStream.from([]),
  sessions: () => Promise.resolve([]),
  streamIds: () => Promise.resolve([]),
  fork: () => Promise.reject(new Error('EIO')),
  adopt: () => Promise.reject(new Error('EIO')),
  erase: () => Promise.reject(new Error('EIO')),
  size: () => Promise.reject(new Error('EIO')),
  probe: () => Promise.reject(new Error('EIO')),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

type Provocation = (service: RunningService) => Promise<Response>;

const hello = { message: 'hello' };
const busy = { sessionId: 'busy' };

/** How each error is come by. */
const provocations: Readonly<Record<string, Provocation>> = {
  INVALID_REQUEST: (service) =>
    service.fetch('/api/reset', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{',
    }),
  MISSING_FIELD: (service) => service.post('/api/message', {}),
  FORBIDDEN: (service) => service.post('/api/message', hello, { Origin: 'https://elsewhere.example' }),
  SERVER_NOT_FOUND: (service) => service.post('/api/mcp/servers/nobody/reconnect'),
  TOOL_NOT_FOUND: (service) => service.post('/api/mcp/servers/everything/tools/juggle/execute'),
  TOOL_EXECUTION_FAILED: (service) => service.post('/api/mcp/servers/paused/tools/echo/execute'),
  SESSION_NOT_FOUND: (service) => service.fetch('/api/sessions/nobody'),
  API_KEY_NOT_FOUND: (service) => service.fetch('/api/keys/nobodys0', { method: 'DELETE' }),
  AGENT_NOT_FOUND: (service) => service.post('/api/agents/nobody/reload'),
  GRANT_NOT_FOUND: (service) => service.fetch('/api/sessions/demo/grants/5d1f', { method: 'DELETE' }),
  APPROVAL_NOT_FOUND: (service) =>
    service.post('/api/sessions/demo/approvals/call_9_9', { decision: 'deny' }),
  CALL_NOT_FOUND: (service) => service.post('/api/sessions/demo/calls/call_9_9', { content: 'green' }),
  INPUT_NOT_FOUND: (service) => service.post('/api/sessions/demo/inputs/call_9_9.1.1', { action: 'decline' }),
  AGENT_ERROR: (service) => service.post('/api/message-sync', { message: 'fail' }),
  SESSION_BUSY: (service) => service.post('/api/message', { ...hello, ...busy, whenBusy: 'reject' }),
  IDEMPOTENCY_KEY_REUSED: async (service) => {
    const key = { 'Idempotency-Key': '4f1c6b8e' };
    await service.post('/api/message', hello, key);
    return service.post('/api/message', { message: 'good bye' }, key);
  },
  TURN_CANCELLED: async (service) => {
    const answer = service.post('/api/message-sync', { message: 'take your time', sessionId: 'slow' });
    await eventually(
      async () => (await service.post('/api/sessions/slow/cancel')).text(),
      (text) => text.includes('"cancelled"'),
    );
    return answer;
  },
  SERVICE_UNAVAILABLE: async (service) => {
    for (let waiting = 0; waiting < 100; waiting += 1)
      await service.post('/api/message', { ...hello, ...busy });
    return service.post('/api/message', { ...hello, ...busy });
  },
};

/** A tool call that may not be repeated, which another process began that has not said how it ended. */
async function outcomeUnknown(): Promise<Response> {
  const tools = new DirectedTools({ pay: {} });
  const options = {
    yaml: `${SCRIPTED}mcpServers: { bank: { type: stdio, command: none } }\n`,
    adapters: { connector: tools, store: memoryEventStore() },
  };
  const execute = (service: RunningService): Promise<Response> =>
    service.post('/api/mcp/servers/bank/tools/pay/execute', {}, { 'Idempotency-Key': '4f1c6b8e' });
  await using other = await RunningService.start(options);
  const begun = execute(other);
  const call = await tools.call(0);
  await using service = await RunningService.start(options);
  const response = await execute(service);
  call.answer('paid');
  await begun;
  return response;
}

describe('the errors in the documents', () => {
  verifies('documents.error-examples', async () => {
    const agent = { ...documentedAgent, limits: { requestsPerMinute: false } };
    await using service = await RunningService.start({
      yaml: JSON.stringify(agent),
      apiKeys: true,
      wraps: withAskingTools,
    });
    await using limited = await RunningService.start();
    await using broken = await RunningService.start({ adapters: { store: burning } });
    await prepareDocumentedState(service);
    const all: typeof provocations = {
      ...provocations,
      OUTCOME_UNKNOWN: outcomeUnknown,
      INTERNAL_ERROR: () => broken.post('/api/message', hello),
      RATE_LIMIT_EXCEEDED: async () => {
        for (let count = 0; count < 100; count += 1) await limited.fetch('/api/health');
        return limited.fetch('/api/health');
      },
    };
    const { components, paths } = await documentOf(service);
    expect(Object.keys(all).sort()).toEqual(Object.keys(components.examples).sort());
    const faults: Record<string, readonly string[]> = {};
    for (const [code, provoke] of Object.entries(all)) {
      const response = await provoke(service);
      const found = differences(exampleValue(components.examples[code]), await response.json());
      if (found.length > 0) faults[code] = found;
      const documented = Object.values(paths)
        .flatMap((methods) => Object.values(methods))
        .map(({ responses }) => responses[response.status])
        .filter((one) => one && JSON.stringify(one).includes(`"${code}"`));
      expect({ code, documented: documented.length }).not.toEqual({ code, documented: 0 });
      if (response.status === 429 || response.status === 503)
        expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0);
    }
    expect(faults).toEqual({});
  });
});
