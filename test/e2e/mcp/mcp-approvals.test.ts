import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { eventually } from '../../support/project/eventually.ts';
import { RunningService, SCRIPTED, type ServiceOptions } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { StatelessClient, statelessClient } from '../../support/tools/stateless-client.ts';
import { verifies } from '../requirements.ts';

const YAML = `${SCRIPTED}
approval: { rules: [{ server: bank, tool: pay, policy: ask }] }
mcpServers: { bank: { type: stdio, command: none } }
server: { drainTimeoutMs: 0 }
limits: { requestsPerMinute: false }
`;
const PAY = { name: 'pay', callId: 'c1', arguments: { to: 'Ann' } };
const CHAT = { name: 'chat_with_agent', arguments: { message: 'pay Ann' } };
const elicits = { capabilities: { elicitation: { form: {} } } };

async function start(options: ServiceOptions = {}) {
  const model = new DirectedModel();
  const tools = new DirectedTools({ pay: {} });
  const service = await RunningService.start({
    yaml: YAML,
    adapters: { model, connector: tools },
    ...options,
  });
  return { model, tools, service, [Symbol.asyncDispose]: () => service.close() };
}

const InputRequired = z.object({
  resultType: z.literal('input_required'),
  inputRequests: z.record(
    z.string(),
    z.object({ method: z.string(), params: z.looseObject({ message: z.string() }) }),
  ),
  requestState: z.string(),
});

describe('the approval of a tool call by an MCP client', () => {
  verifies('mcp.approval', async () => {
    await using setup = await start();
    await using client = await statelessClient(setup.service, elicits);
    const asked: unknown[] = [];
    client.sdk.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params);
      return { action: 'accept', content: { approve: true } };
    });
    const answer = client.chat('pay Ann');
    (await setup.model.call(0)).askFor(PAY);
    (await setup.tools.call(0)).answer('paid');
    (await setup.model.call(1)).answer('Ann is paid.');
    expect((await answer).reply).toBe('Ann is paid.');
    expect(asked).toMatchObject([
      { message: expect.stringContaining('pay with these arguments: {"to":"Ann"}') },
    ]);
  });

  verifies(
    'mcp.approval',
    'a client of the older era is asked while its call goes on; the agent hears why it was denied',
    async () => {
      await using setup = await start();
      const older = new OlderClient({ name: 'older', version: '1' }, { capabilities: { elicitation: {} } });
      older.setRequestHandler(ElicitRequestSchema, () => ({
        action: 'accept',
        content: { approve: false, reason: 'too much' },
      }));
      await older.connect(new OlderTransport(new URL(`${setup.service.url}/mcp`)));
      const answer = older.callTool(CHAT);
      (await setup.model.call(0)).askFor(PAY);
      const second = await setup.model.call(1);
      expect(JSON.stringify(second.request.messages)).toContain('too much');
      second.answer('Then not.');
      expect(await answer).toMatchObject({ content: [{ text: 'Then not.' }] });
      expect(setup.tools.calls).toEqual([]);
      await older.close();
    },
  );

  verifies(
    'mcp.approval',
    'the retry goes on with the same turn after a restart, and a forged state is refused',
    async () => {
      await using folder = await tempDirectory();
      const first = await start({ dataDir: folder.path });
      await using client = await statelessClient(first.service, elicits);
      const asking = client.sdk.callTool(CHAT, { allowInputRequired: true });
      (await first.model.call(0)).askFor(PAY);
      const { inputRequests, requestState } = InputRequired.parse(await asking);
      const [key = ''] = Object.keys(inputRequests);
      await first.service.close();
      await using next = await start({ dataDir: folder.path });
      await using again = await statelessClient(next.service, elicits);
      const forged = { inputResponses: {}, requestState: `${requestState.slice(0, -4)}AAAA` };
      await expect(again.sdk.callTool({ ...CHAT, ...forged })).rejects.toMatchObject({ code: -32602 });
      const inputResponses = { [key]: { action: 'accept', content: { approve: true } } } as const;
      const retry = { ...CHAT, inputResponses, requestState };
      const retried = again.sdk.callTool(retry);
      (await next.tools.call(0)).answer('paid');
      (await next.model.call(0)).answer('Paid after all.');
      expect(await retried).toMatchObject({ structuredContent: { reply: 'Paid after all.' } });
      // The same again, as after a lost connection: nothing is done twice.
      const repeated = await again.sdk.callTool(retry);
      expect(repeated).toMatchObject({ structuredContent: { reply: 'Paid after all.' } });
      expect(next.tools.calls).toHaveLength(1);
    },
  );

  verifies('mcp.approval', 'a client that cannot ask waits until somebody else has decided', async () => {
    await using setup = await start();
    await using client = await statelessClient(setup.service);
    const answer = client.chat('pay Ann', { sessionId: 'rest' });
    (await setup.model.call(0)).askFor(PAY);
    await waitingApproval(setup.service);
    await setup.service.post('/api/sessions/rest/approvals/c1', { decision: 'approve' });
    (await setup.tools.call(0)).answer('paid');
    (await setup.model.call(1)).answer('done');
    expect((await answer).reply).toBe('done');
  });

  verifies(
    'mcp.approval',
    'whose client may only talk in a shared session is left to others, and the call goes on',
    async () => {
      const people = new KnownTokens({
        ada: identity('ada'),
        bob: identity('bob'),
        root: identity('root', { roles: ['admin'] }),
      });
      await using setup = await start({ verifiers: [people] });
      const { service, model, tools } = setup;
      const ada = (path: string, body: object) => service.post(path, body, bearer('ada'));
      await ada('/api/message', { message: 'hi', sessionId: 'plan' });
      (await model.call(0)).answer('hello');
      await ada('/api/sessions/plan/grants', { principal: 'test:bob', access: 'talk' });
      const requestInit = { headers: bearer('bob') };
      await using bob = await StatelessClient.over(
        new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit }),
        elicits,
      );
      bob.sdk.setRequestHandler('elicitation/create', () => ({
        action: 'accept',
        content: { approve: true },
      }));
      const answer = bob.chat('pay Ann', { sessionId: 'acme/test:ada/plan' });
      (await model.call(1)).askFor(PAY);
      const refusals = async () =>
        (await service.fetch('/api/audit?principal=test:bob', { headers: bearer('root') })).text();
      await eventually(refusals, (text) => text.includes('FORBIDDEN'));
      await ada('/api/sessions/plan/approvals/c1', { decision: 'approve' });
      (await tools.call(0)).answer('paid');
      (await model.call(2)).answer('done');
      expect((await answer).reply).toBe('done');
    },
  );
});

const Approvals = z.object({ approvals: z.array(z.unknown()) });

/** Resolves when a call waits for approval. */
async function waitingApproval(service: RunningService): Promise<void> {
  const read = async () => Approvals.parse(await (await service.fetch('/api/approvals')).json()).approvals;
  await eventually(read, ({ length }) => length > 0);
}
