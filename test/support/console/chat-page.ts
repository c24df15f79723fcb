import type { BrowserContextOptions } from 'playwright-core';
import { DirectedModel } from '../models/directed-model.ts';
import { RunningService, SCRIPTED } from '../service/running-service.ts';
import { SeverableLink } from '../sockets/severable-link.ts';
import { DirectedTools } from '../tools/directed-tools.ts';
import { ConsolePage } from './console-page.ts';

interface ChatOptions {
  readonly context?: BrowserContextOptions;
  /** Of the agent file; the model itself is the test's. */
  readonly llm?: string;
}

const REST = `
server: {drainTimeoutMs: 0}
limits: {requestsPerMinute: false, messagesPerMinute: false}
approval: {rules: [{tool: pay, policy: ask}]}
mcpServers:
  tools: {type: stdio, command: none}
`;

/** The chat of a session, in front of a model and tools that the test directs. */
export async function openChat({ context = {}, llm = SCRIPTED }: ChatOptions = {}) {
  const model = new DirectedModel();
  const tools = new DirectedTools({ look: {}, pay: {} });
  const options = { yaml: llm + REST, adapters: { model, connector: tools } };
  const service = await RunningService.start(options);
  const link = await SeverableLink.to(service.port);
  const opened = await ConsolePage.visit(service, `${link.url}/#/chat/demo`, context);
  const { page } = opened;
  const say = async (text: string): Promise<void> => {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
  };
  return {
    ...{ model, tools, page, say },
    /** Between the page and the service. */
    link,
    service,
    errors: opened.errors,
    conversation: page.getByRole('log', { name: 'Conversation' }),
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      await link[Symbol.asyncDispose]();
    },
  };
}
