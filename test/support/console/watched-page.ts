import { DirectedModel } from '../models/directed-model.ts';
import { SCRIPTED } from '../service/running-service.ts';
import { DirectedTools } from '../tools/directed-tools.ts';
import { ConsolePage } from './console-page.ts';

const YAML = `${SCRIPTED}
server: {drainTimeoutMs: 0}
limits: {requestsPerMinute: false, messagesPerMinute: false}
mcpServers:
  tools: {type: stdio, command: none}
approval: {rules: [{tool: write, policy: ask}]}
`;

/** The page at the session `s`, whose model the test directs. The tool `look` answers at once; `write` asks first. */
export async function openWatched(at: string, context: Parameters<typeof ConsolePage.open>[2] = {}) {
  const model = new DirectedModel();
  const tools = new DirectedTools({ look: { repeatable: true }, write: {} }, (call) => {
    if (call.toolName === 'look') call.answer('It is in the drawer.');
  });
  const opened = await ConsolePage.open(at, { yaml: YAML, adapters: { model, connector: tools } }, context);
  const { page, service } = opened;
  return {
    opened,
    page,
    service,
    model,
    say: (message: string) => service.post('/api/message', { message, sessionId: 's' }),
    /** A row of the waterfall. */
    row: (name: RegExp) => page.getByRole('option', { name }),
    /** A turn of the chat. */
    turn: (message: string) =>
      page.locator('[data-turn-id][data-selected]').filter({ has: page.getByText(message, { exact: true }) }),
    detail: page.getByRole('region', { name: 'Chosen event' }),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

export type WatchedPage = Awaited<ReturnType<typeof openWatched>>;

/** A turn that looks, and then waits for the approval to write. */
export async function upToApproval({ model, say }: WatchedPage): Promise<void> {
  await say('Where is it?');
  const call = await model.call(0);
  call.say('Let me look.');
  call.add({ type: 'toolCall', callId: 'l', name: 'look', arguments: '{}' });
  call.add({ type: 'toolCall', callId: 'w', name: 'write', arguments: '{"path":"/note"}' });
  call.end({ usage: { inputTokens: 1_204, outputTokens: 350 } });
}
