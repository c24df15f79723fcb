import type { BrowserContextOptions, Page } from 'playwright-core';
import { DirectedModel } from '../models/directed-model.ts';
import { RunningService, SCRIPTED } from '../service/running-service.ts';
import { SeverableLink } from '../sockets/severable-link.ts';
import { DirectedTools } from '../tools/directed-tools.ts';
import { ConsolePage } from './console-page.ts';

interface ChatOptions {
  /** More lines of the agent file. */
  readonly agent?: string;
  /** Of the agent file. None, unless the test gives some. */
  readonly limits?: string;
  readonly context?: BrowserContextOptions;
  /** Of the agent file; the model itself is the test's. */
  readonly llm?: string;
}

const NO_LIMITS = 'limits: {requestsPerMinute: false, messagesPerMinute: false}\n';
const REST = `
server: {drainTimeoutMs: 0}
approval: {rules: [{tool: pay, policy: ask}]}
mcpServers:
  tools: {type: stdio, command: none}
`;

/** How many streams the service has open. */
export interface OpenStreams {
  readonly sockets: number;
  readonly statecharts: number;
}

/** The chat of a session, in front of a model and tools that the test directs. */
export async function openChat({
  context = {},
  llm = SCRIPTED,
  limits = NO_LIMITS,
  agent = '',
}: ChatOptions = {}) {
  const model = new DirectedModel();
  const tools = new DirectedTools({ look: {}, pay: {} });
  const options = { yaml: llm + agent + limits + REST, adapters: { model, connector: tools } };
  const service = await RunningService.start(options);
  const link = await SeverableLink.to(service.port);
  const opened = await ConsolePage.visit(service, `${link.url}/#/chat/demo`, context);
  const { page } = opened;
  const box = page.getByRole('textbox', { name: 'Message' });
  const say = async (text: string): Promise<void> => {
    await box.fill(text);
    await box.press('Enter');
  };
  const live = async (): Promise<void> => {
    await box.waitFor();
    await page.getByText(/^(loading|connecting)$/).waitFor({ state: 'detached' });
  };
  const sever = async (): Promise<void> => {
    await live();
    await link.sever();
    await page.getByText('connecting', { exact: true }).waitFor();
  };
  const newTab = async (at: string): Promise<Page> => {
    const tab = await page.context().newPage();
    await tab.goto(`${link.url}/${at}`);
    return tab;
  };
  const openStreams = async (): Promise<OpenStreams> => {
    const metrics = await (await service.fetch('/metrics')).text();
    const open = (kind: string): number =>
      Number(new RegExp(`^agent_sockets\\{kind="${kind}"\\} (\\d+)$`, 'm').exec(metrics)?.[1]);
    return { sockets: open('websocket'), statecharts: open('statecharts') };
  };
  return {
    newTab,
    openStreams,
    model,
    tools,
    page,
    say,
    /** Resolves when the session is open: before that, nothing can be sent. */
    live,
    /** Breaks the open connection. Resolves when the page knows of it: a message that is said before may have been sent. */
    sever,
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
