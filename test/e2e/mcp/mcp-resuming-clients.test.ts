import {
  Client as NewerClient,
  StreamableHTTPClientTransport as NewerTransport,
} from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect } from 'vitest';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { SeverableLink } from '../../support/sockets/severable-link.ts';
import { verifies } from '../requirements.ts';

const YAML = `${SCRIPTED}server: { drainTimeoutMs: 0 }\nlimits: { requestsPerMinute: false }\n`;
const CHAT = { name: 'chat_with_agent', arguments: { message: 'tell me' } };
const INFO = { name: 'test', version: '1' };
/** How often a client tries to come back. How long it waits in between says the service. */
const reconnectionOptions = {
  maxRetries: 30,
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 1_000,
  reconnectionDelayGrowFactor: 1,
};

interface Heard {
  readonly progress: { readonly progress: number; readonly message?: string | undefined }[];
  /** Resolves with the first progress. */
  readonly first: Promise<void>;
  readonly answer: Promise<unknown>;
  readonly close: () => Promise<void>;
}

function listener() {
  const progress: Heard['progress'] = [];
  const { promise: first, resolve } = Promise.withResolvers<void>();
  const onprogress = (report: Heard['progress'][number]): void => {
    progress.push(report);
    resolve();
  };
  return { progress, first, onprogress };
}

async function sdk(url: string): Promise<Heard> {
  const client = new OlderClient(INFO);
  await client.connect(new OlderTransport(new URL(`${url}/mcp`), { reconnectionOptions }));
  const { onprogress, ...heard } = listener();
  const answer = client.callTool(CHAT, CallToolResultSchema, { onprogress });
  return { ...heard, answer, close: () => client.close() };
}

async function clientPackage(url: string): Promise<Heard> {
  const client = new NewerClient(INFO, { versionNegotiation: { mode: 'legacy' } });
  await client.connect(new NewerTransport(new URL(`${url}/mcp`), { reconnectionOptions }));
  const { onprogress, ...heard } = listener();
  const answer = client.callTool(CHAT, { onprogress });
  return { ...heard, answer, close: () => client.close() };
}

const reply = (text: string) => ({ structuredContent: { reply: text }, content: [{ type: 'text', text }] });
const told = ({ progress }: Heard): string => progress.map(({ message }) => message).join('');

describe.each([
  ['@modelcontextprotocol/sdk', sdk],
  ['@modelcontextprotocol/client', clientPackage],
] as const)('a client of %s', (_, chat) => {
  verifies('mcp.resume', 'comes back by itself after its connection broke', async () => {
    const model = new DirectedModel();
    await using service = await RunningService.start({ yaml: YAML, adapters: { model } });
    await using link = await SeverableLink.to(service.port);
    const heard = await chat(link.url);
    const call = await model.call(0);
    call.say('Once ');
    await heard.first;
    await link.sever();
    call.say('upon ');
    await link.restore();
    call.answer('a time.');
    expect(await heard.answer).toMatchObject(reply('Once upon a time.'));
    expect(told(heard)).toBe('Once upon a time.');
    const counts = heard.progress.map(({ progress }) => progress);
    expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b));
    expect(call.signal.aborted).toBe(false);
    await heard.close();
  });

  verifies(
    'mcp.resume',
    'comes back by itself to a service that was started anew in the middle of its call',
    async () => {
      await using directory = await tempDirectory();
      const options = { yaml: YAML, dataDir: directory.path };
      const before = new DirectedModel();
      const service = await RunningService.start({ ...options, adapters: { model: before } });
      await using link = await SeverableLink.to(service.port);
      const heard = await chat(link.url);
      const call = await before.call(0);
      call.say('Once upon ');
      await heard.first;
      await service.close();
      const model = new DirectedModel();
      await using anew = await RunningService.start({ ...options, adapters: { model } });
      link.leadTo(anew.port);
      (await model.call(0)).answer('Once upon ', 'a time.');
      expect(await heard.answer).toMatchObject(reply('Once upon a time.'));
      expect(told(heard)).toBe('Once upon a time.');
      await heard.close();
    },
  );
});
