import { describe, expect } from 'vitest';
import { z } from 'zod';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { readPackageVersion } from '../../../src/app/package-root.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { errorReply, OpenAiUpstream, textReply } from '../../support/models/openai-upstream.ts';
import { textOf as messageText, said } from '../../support/models/steps.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { mcpClient, textOf } from '../../support/tools/mcp-client.ts';
import { serverWith } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

/** Ends with what is open left open, as if the time to finish were over. */
const NO_DRAIN = `${SCRIPTED}server: { drainTimeoutMs: 0 }\n`;

async function startDirected() {
  const model = new DirectedModel();
  const service = await RunningService.start({ yaml: NO_DRAIN, adapters: { model } });
  return { model, service };
}

async function startWithUpstream(...more: string[]) {
  const upstream = await OpenAiUpstream.listen();
  const llm = { provider: 'openai', model: 'gpt-test', apiKey: '$TEST_KEY', baseURL: upstream.baseURL };
  const yaml = [`llm: ${JSON.stringify(llm)}`, ...more].join('\n');
  const service = await RunningService.start({ yaml, environment: { TEST_KEY: 'sk-secret-5d41402a' } });
  return { upstream, service };
}

describe('the tools of /mcp', () => {
  verifies('mcp.tools', async () => {
    await using service = await RunningService.start();
    await using client = await mcpClient(service);
    expect(client.sdk.getServerVersion()).toEqual({
      name: 'agent-service',
      title: 'agent-service',
      version: readPackageVersion(),
    });
    const { tools } = await client.sdk.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['chat_with_agent', 'reset_conversation']);
    for (const { title, description } of tools) expect(`${title} ${description}`).not.toContain('undefined');
    const [chat, reset] = tools;
    expect(chat?.inputSchema).toMatchObject({ type: 'object', required: ['message'] });
    expect(Object.keys(chat?.inputSchema.properties ?? {})).toEqual(['message', 'imageData', 'sessionId']);
    expect(reset?.inputSchema.required ?? []).toEqual([]);
    expect(Object.keys(reset?.inputSchema.properties ?? {})).toEqual(['sessionId']);
  });

  verifies(
    'mcp.tools',
    'arguments that do not fit, and other tools, are errors that name what is wrong',
    async () => {
      const { model, service } = await startDirected();
      await using _ = service;
      await using client = await mcpClient(service);
      const bad = [{}, { message: '' }, { message: 1 }, { message: 'hi', sessionId: '../secret' }];
      for (const args of [...bad, { message: 'hi', sesionId: 'y' }]) {
        const result = await client.call('chat_with_agent', args);
        expect(result.isError).toBe(true);
        expect(textOf(result)).toMatch(Object.keys(args).length > 1 ? /sessionId/ : /message/);
      }
      expect(textOf(await client.call('chat_with_agent', { mesage: 'hi' }))).toBe(
        'Invalid arguments: The field message is required. Write message instead of mesage.',
      );
      expect((await client.call('start_process', {})).isError).toBe(true);
      expect(model.calls).toEqual([]);
    },
  );
});

describe('a chat over /mcp', () => {
  verifies('mcp.chat', async () => {
    await using service = await RunningService.start();
    await using client = await mcpClient(service);
    const { reply, progress } = await client.chatWithProgress('what can you do?');
    const sync = await service.post('/api/message-sync', { message: 'what can you do?' });
    expect(await sync.json()).toMatchObject({ success: true, response: reply });
    expect(progress.length).toBeGreaterThan(10);
    expect(progress.map(({ message }) => message).join('')).toBe(reply);
    const counts = progress.map((report) => report.progress);
    expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b));
    expect(counts.at(-1)).toBe(reply.length);
  });

  verifies('mcp.chat', 'progress comes while the model still speaks', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    await using client = await mcpClient(service);
    const pieces: (string | undefined)[] = [];
    const first = Promise.withResolvers<void>();
    const answer = client.chat(
      'hello',
      {},
      {
        onprogress: ({ message }) => {
          pieces.push(message);
          first.resolve();
        },
      },
    );
    const call = await model.call(0);
    call.say('Wait');
    await first.promise;
    expect(pieces).toEqual(['Wait']);
    call.answer(' for it');
    expect(await answer).toBe('Wait for it');
  });

  verifies('mcp.chat', 'who asks for no progress gets none', async () => {
    await using service = await RunningService.start();
    await using client = await mcpClient(service);
    const heard: unknown[] = [];
    client.sdk.fallbackNotificationHandler = async (notification) => void heard.push(notification);
    client.sdk.onerror = (error) => void heard.push(error);
    expect(await client.chat('hello')).toContain('Hello!');
    expect(heard).toEqual([]);
  });

  verifies('mcp.chat', 'the agent uses its tools', async () => {
    const yaml = `${SCRIPTED}mcpServers: ${JSON.stringify({ tools: scriptableServer() })}\n`;
    await using service = await RunningService.start({ yaml });
    await using client = await mcpClient(service);
    const { reply, progress } = await client.chatWithProgress('use echo {"message": "from afar"}');
    expect(reply).toContain('from afar');
    expect(progress.map(({ message }) => message).join('')).toBe(reply);
  });

  verifies(
    'mcp.chat',
    'a failing turn is an error with a reason to act on, without key or prompt, and the session goes on',
    async () => {
      const { upstream, service } = await startWithUpstream();
      await using _ = service;
      await using __ = upstream;
      upstream.replyWith(errorReply(401, { message: 'Incorrect API key provided: sk-secret-5d41402a' }));
      await using client = await mcpClient(service);
      const result = await client.call('chat_with_agent', { message: 'my private question' });
      expect(result.isError).toBe(true);
      expect(textOf(result)).toMatch(/key/i);
      expect(textOf(result)).not.toMatch(/sk-secret|private question/);
      upstream.replyWith(textReply('better'));
      expect(await client.chat('again')).toBe('better');
    },
  );

  verifies('mcp.chat', 'the unexpected is an error without its cause, which the log has', async () => {
    const store = new WatchedStore(memoryEventStore());
    // Only a session that is known is read.
    await store.append('unreadable', 0, [{ type: 'session.reset' }]);
    const log = recordingLog();
    await using service = await RunningService.start({ adapters: { store }, log });
    await using client = await mcpClient(service);
    const err = new Error('EIO at /private/path');
    store.beforeRead = () => Promise.reject(err);
    for (const tool of ['chat_with_agent', 'reset_conversation']) {
      log.lines.length = 0;
      const message = tool === 'chat_with_agent' ? { message: 'hello' } : {};
      const result = await client.call(tool, { ...message, sessionId: 'unreadable' });
      expect(result.isError).toBe(true);
      expect(textOf(result)).not.toContain('/private/path');
      const fields = expect.objectContaining({ sessionId: 'unreadable', err });
      expect(log.lines).toContainEqual(expect.objectContaining({ level: 'error', fields }));
    }
  });

  verifies(
    'mcp.chat',
    'a client that vanishes cancels nothing: the turn is finished and remembered',
    async () => {
      const { model, service } = await startDirected();
      await using _ = service;
      const sessionId = 'left';
      const leaver = await mcpClient(service);
      const answer = leaver.chat('hello', { sessionId }, { onprogress: () => undefined });
      const lost = expect(answer).rejects.toThrow();
      const call = await model.call(0);
      call.say('I go ');
      await leaver.transport.close();
      await lost;
      await using client = await mcpClient(service);
      const next = client.chat('still there?', { sessionId });
      expect(call.signal.aborted).toBe(false);
      call.answer('on.');
      const { request } = await model.call(1);
      expect(request.messages.at(-2)).toEqual(said('I go on.'));
      (await model.call(1)).answer('yes');
      expect(await next).toBe('yes');
    },
  );

  verifies('mcp.chat', 'a call that runs when the service stops gets its answer', async () => {
    const model = new DirectedModel();
    const service = await RunningService.start({ adapters: { model } });
    await using client = await mcpClient(service);
    const answer = client.chat('hello');
    const call = await model.call(0);
    const closed = service.close();
    call.answer('just in time');
    expect(await answer).toBe('just in time');
    await closed;
  });
});

describe('the sessions of /mcp', () => {
  verifies('mcp.sessions', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    await using alice = await mcpClient(service);
    await using bob = await mcpClient(service);
    expect(alice.transport.sessionId).not.toBe(bob.transport.sessionId);
    const rounds = [
      { client: alice, says: 'I am Alice', sees: ['I am Alice'] },
      { client: bob, says: 'I am Bob', sees: ['I am Bob'] },
      { client: alice, says: 'who am I?', sees: ['I am Alice', 'who am I?'] },
    ];
    for (const [index, { client, says, sees }] of rounds.entries()) {
      const answer = client.chat(says);
      const { request } = await model.call(index);
      expect(request.messages.flatMap((message) => (message.role === 'user' ? [message.text] : []))).toEqual(
        sees,
      );
      model.calls[index]?.answer('ok');
      await answer;
    }
  });

  verifies(
    'mcp.sessions',
    'a named one is the conversation that REST and WebSocket know by that name',
    async () => {
      const { model, service } = await startDirected();
      await using _ = service;
      await using client = await mcpClient(service);
      const first = client.chat('over MCP', { sessionId: 'shared' });
      (await model.call(0)).answer('1');
      await first;
      const second = service.post('/api/message-sync', { message: 'over REST', sessionId: 'shared' });
      const { request } = await model.call(1);
      expect(request.messages.map(messageText)).toEqual(['over MCP', '1', 'over REST']);
      (await model.call(1)).answer('2');
      await second;
    },
  );

  verifies('mcp.sessions', 'reset_conversation clears its own and no other', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    await using client = await mcpClient(service);
    const own = client.chat('own');
    (await model.call(0)).answer('1');
    await own;
    const named = client.chat('named', { sessionId: 'kept' });
    (await model.call(1)).answer('2');
    await named;
    expect(textOf(await client.call('reset_conversation'))).toContain('reset');
    const after = client.chat('own again');
    expect((await model.call(2)).request.messages.map(messageText)).toEqual(['own again']);
    (await model.call(2)).answer('3');
    await after;
    const kept = client.chat('named again', { sessionId: 'kept' });
    expect((await model.call(3)).request.messages.map(messageText)).toEqual(['named', '2', 'named again']);
    (await model.call(3)).answer('4');
    await kept;
  });

  verifies('mcp.sessions', 'forty clients at once hear each only of their own call', async () => {
    await using service = await RunningService.start({
      yaml: 'llm: { provider: scripted, model: offline, script: [{ when: "^(.+)$", reply: "$1 $1 $1" }] }',
    });
    const names = Array.from({ length: 40 }, (_, index) => `client-${index}`);
    const answers = await Promise.all(
      names.map(async (name) => {
        await using client = await mcpClient(service);
        return await client.chatWithProgress(name);
      }),
    );
    for (const [index, { reply, progress }] of answers.entries()) {
      expect(reply).toBe(`client-${index} client-${index} client-${index}`);
      expect(progress.map(({ message }) => message).join('')).toBe(reply);
    }
  });
});

describe('cancelling over /mcp', () => {
  verifies('mcp.cancel', async () => {
    const { upstream, service } = await startWithUpstream();
    await using _ = service;
    await using __ = upstream;
    upstream.replyWith(
      { stream: [{ text: 'One ' }, { text: 'moment' }, { hang: true }] },
      textReply('fresh'),
    );
    await using client = await mcpClient(service);
    const abort = new AbortController();
    const answer = client.chat(
      'think long',
      {},
      {
        signal: abort.signal,
        onprogress: ({ progress }) => {
          if (progress === 'One moment'.length) abort.abort('changed my mind');
        },
      },
    );
    await expect(answer).rejects.toThrow('changed my mind');
    await (await upstream.request(0)).aborted;
    expect(await client.chat('next')).toBe('fresh');
    const { messages } = (await upstream.request(1)).body;
    expect(JSON.stringify(messages)).toContain('One moment');
  });

  verifies('mcp.cancel', 'a message that waits is taken back, and the running turn goes on', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    await using client = await mcpClient(service);
    const running = client.chat('first');
    const call = await model.call(0);
    const abort = new AbortController();
    const waiting = client.chat('second', {}, { signal: abort.signal });
    const refused = expect(waiting).rejects.toThrow();
    await client.transport.taken('tools/call', 2);
    abort.abort();
    await refused;
    await client.transport.taken('notifications/cancelled');
    expect(call.signal.aborted).toBe(false);
    call.answer('done');
    expect(await running).toBe('done');
    const third = client.chat('third');
    expect((await model.call(1)).userText).toBe('third');
    (await model.call(1)).answer('ok');
    await third;
  });

  verifies('mcp.cancel', 'also while the conversation is still read from the log', async () => {
    const model = new DirectedModel();
    const store = new WatchedStore(memoryEventStore());
    // Only a session that is known is read.
    await store.append('slow-to-load', 0, [{ type: 'session.reset' }]);
    await using service = await RunningService.start({ yaml: NO_DRAIN, adapters: { model, store } });
    const reading = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    store.beforeRead = async () => {
      reading.resolve();
      await gate.promise;
    };
    await using client = await mcpClient(service);
    const abort = new AbortController();
    const answer = client.chat('hello', { sessionId: 'slow-to-load' }, { signal: abort.signal });
    const refused = expect(answer).rejects.toThrow();
    await reading.promise;
    abort.abort();
    await refused;
    await client.transport.taken('notifications/cancelled');
    gate.resolve();
    const next = client.chat('second thoughts', { sessionId: 'slow-to-load' });
    const second = await model.callFor('second thoughts');
    // Never asked, or asked and stopped: both are cancelled.
    expect(model.calls.filter(({ signal }) => !signal.aborted)).toEqual([second]);
    second.answer('ok');
    expect(await next).toBe('ok');
  });
});

describe('the resources of /mcp', () => {
  const Contents = z.tuple([z.object({ uri: z.string(), mimeType: z.string(), text: z.string() })]);

  verifies('mcp.resources', async () => {
    const yaml = `${SCRIPTED}limits: { requestsPerMinute: false }\nmcpServers: ${JSON.stringify({ tools: scriptableServer() })}\n`;
    await using service = await RunningService.start({ yaml });
    await serverWith(service, 'tools', 'connected');
    await using client = await mcpClient(service);
    const { resources } = await client.sdk.listResources();
    expect(resources.map(({ uri, mimeType }) => [uri, mimeType])).toEqual([
      ['agent://card', 'application/json'],
      ['agent://config.yaml', 'application/yaml'],
    ]);
    const { contents } = await client.sdk.readResource({ uri: 'agent://card' });
    const [card] = Contents.parse(contents);
    expect(card).toMatchObject({ uri: 'agent://card', mimeType: 'application/json' });
    expect(JSON.parse(card.text)).toEqual({
      name: 'agent-service',
      version: readPackageVersion(),
      model: 'scripted offline',
      servers: [{ name: 'tools', status: 'connected' }],
    });
    await expect(client.sdk.readResource({ uri: 'agent://other' })).rejects.toThrow();
  });

  verifies(
    'mcp.resources',
    'no secret is in the configuration, which is that of /api/config.yaml',
    async () => {
      const secret = { type: 'http', baseUrl: 'http://127.0.0.1:9/mcp', headers: { 'X-Key': 'hunter2' } };
      const { upstream, service } = await startWithUpstream(
        `mcpServers: ${JSON.stringify({ remote: secret })}`,
      );
      await using _ = service;
      await using __ = upstream;
      await using client = await mcpClient(service);
      const { contents } = await client.sdk.readResource({ uri: 'agent://config.yaml' });
      const [config] = Contents.parse(contents);
      expect(config.mimeType).toBe('application/yaml');
      expect(config.text).toBe(await (await service.fetch('/api/config.yaml')).text());
      expect(config.text).toContain('***REDACTED***');
      expect(config.text).not.toMatch(/hunter2|sk-secret/);
    },
  );
});
