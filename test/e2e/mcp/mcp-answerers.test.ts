import { describe, expect } from 'vitest';
import { scopesOf } from '../../../src/core/access/scopes.ts';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { chatCall, EventReader, resumableSession } from '../../support/tools/mcp/resumed-stream.ts';
import { openMcp, postMcp } from '../../support/tools/mcp-http.ts';
import { verifies } from '../requirements.ts';

const YAML = `${SCRIPTED}
approval: { rules: [{ server: bank, tool: pay, policy: ask }] }
mcpServers: { bank: { type: stdio, command: none } }
server: { drainTimeoutMs: 0 }
`;
const PAY = { name: 'pay', callId: 'c1', arguments: { to: 'Ann' } };
const ACCEPTED = { action: 'accept', content: { approve: true } };

/** Ada has three tokens. She begins her call with the first one. */
const tokens = () => {
  const ada = identity('ada', { roles: ['operator'] });
  const scopes = new Set([...scopesOf(['operator'])].filter((scope) => scope !== 'approvals:decide'));
  return new KnownTokens({
    ada,
    'ada-lesser': { ...ada, scopes, credential: 'lesser' },
    'ada-other': { ...ada, credential: 'other' },
  });
};

async function asked() {
  const [model, tools] = [new DirectedModel(), new DirectedTools({ pay: {} })];
  const service = await RunningService.start({
    yaml: YAML,
    adapters: { model, connector: tools },
    verifiers: [tokens()],
  });
  const session = await resumableSession(service.port, bearer('ada'), { elicitation: {} });
  const stream = new EventReader(await openMcp(service.port, 'POST', session, chatCall(7, 'pay Ann')));
  (await model.call(0)).askFor(PAY);
  const { message } = await stream.that((event) => event.message?.method === 'elicitation/create');
  const answerWith = (name: string) => {
    const reply = { jsonrpc: '2.0', id: message?.id, result: ACCEPTED };
    return postMcp(service.port, reply, { ...session, ...bearer(name) });
  };
  return { service, model, tools, stream, answerWith, [Symbol.asyncDispose]: () => service.close() };
}

describe('the answer to a question that an MCP client of the older era is asked', () => {
  verifies(
    'mcp.approval',
    'has the rights of the token that brings it, not of the one that began the call',
    async () => {
      await using setup = await asked();
      const { service, stream, tools } = setup;
      expect((await setup.answerWith('ada-lesser')).status).toBe(202);
      // The question is left to others, and the client is told so.
      await stream.that(({ message }) => message?.method === 'notifications/message');
      const waiting = await service.fetch('/api/approvals', { headers: bearer('ada') });
      expect(await waiting.json()).toMatchObject({ approvals: [{ callId: 'c1' }] });
      expect(tools.calls).toEqual([]);
    },
  );

  verifies('mcp.approval', 'may come with another token that has the scope', async () => {
    await using setup = await asked();
    const { model, tools, stream } = setup;
    expect((await setup.answerWith('ada-other')).status).toBe(202);
    (await tools.call(0)).answer('paid');
    (await model.call(1)).answer('Ann is paid.');
    const { message } = await stream.that((event) => event.message?.result !== undefined);
    expect(message?.result).toMatchObject({ structuredContent: { reply: 'Ann is paid.' } });
  });
});
