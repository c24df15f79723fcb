import { describe, expect } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { createJsonLogger } from '../../../src/app/logger.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { errorReply, OpenAiUpstream } from '../../support/models/openai-upstream.ts';
import { eventually } from '../../support/project/eventually.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { oddServer, scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { toolText } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

describe('the log', () => {
  verifies('ops.log-ids', async () => {
    const store = new WatchedStore(memoryEventStore());
    const log = recordingLog();
    const script = [{ when: 'fail', fail: 'on purpose' }];
    const yaml = JSON.stringify({ llm: { provider: 'scripted', model: 'offline', script } });
    await using service = await RunningService.start({ yaml, adapters: { store }, log });
    expect((await service.post('/api/message-sync', { message: 'fail', sessionId: 'a' })).status).toBe(500);
    store.refuseNext('step.completed', new Error('disk full'));
    expect((await service.post('/api/message-sync', { message: 'x', sessionId: 'b' })).status).toBe(500);
    store.refuseNext('turn.requested', new Error('disk full'));
    using socket = await service.connect('?session=c');
    socket.say('x');
    await socket.settled();
    const lines = (sessionId: string) => log.lines.filter(({ fields }) => fields.sessionId === sessionId);
    expect(lines('a')).toMatchObject([{ level: 'warn', fields: { turnId: expect.any(String) } }]);
    expect(lines('b')).toMatchObject([{ level: 'error', fields: { turnId: expect.any(String) } }]);
    // The message was not accepted, so there is no turn: the session's line, and the connection's.
    expect(lines('c')).toHaveLength(2);
    const nameless = log.lines.filter(({ fields }) => fields.sessionId === undefined);
    expect(nameless.map(({ message }) => message)).toEqual(['a request failed unexpectedly']);
  });

  verifies('ops.log-secrets', async () => {
    await using upstream = await OpenAiUpstream.listen();
    const secrets = Array.from({ length: 8 }, (_, index) => `hidden-${index}-7f3c9e`);
    const [key, token, password, header, urlSecret, late, lateHeader, argument] = secrets;
    const lines: string[] = [];
    const log = createJsonLogger('debug', { write: (line) => void lines.push(line) });
    const agent = {
      llm: { provider: 'openai', model: 'm', baseURL: upstream.baseURL, apiKey: key },
      mcpServers: {
        tools: scriptableServer({ env: { TOOL_TOKEN: `${token}`, PLAIN: `${password}` } }),
        noisy: oddServer(['exits', `it says ${argument}`], { env: { SAID: `${argument}` } }),
        remote: {
          type: 'http',
          baseUrl: `http://me:${urlSecret}@127.0.0.1:9/mcp`,
          headers: { 'X-Key': header },
        },
      },
      limits: { requestsPerMinute: false },
    };
    await using service = await RunningService.start({ yaml: JSON.stringify(agent), log });
    upstream.replyWith(errorReply(401, { message: `Incorrect API key provided: ${key}` }));
    await service.post('/api/message-sync', { message: 'hello' });
    await service.post('/api/connect-server', {
      name: 'late',
      config: { type: 'stdio', command: 'no-such-command', args: ['--token', late], env: { A: late } },
    });
    await service.post('/api/connect-server', {
      name: 'late-remote',
      config: {
        type: 'http',
        baseUrl: 'http://127.0.0.1:9/mcp',
        headers: { Authorization: `Bearer ${lateHeader}` },
      },
    });
    await eventually(
      async () => lines.join(''),
      (text) => text.includes('"server":"remote","reason"'),
    );
    await toolText(service, 'tools', 'pid');
    await service.close();
    const text = lines.join('');
    for (const sign of [
      'turn failed',
      'could not be connected',
      'it says ***',
      '"server":"late"',
      '"server":"late-remote"',
    ])
      expect(text).toContain(sign);
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  });
});
