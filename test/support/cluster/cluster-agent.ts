import { prescribedWork, workloadScript } from '../crash/workload-script.ts';
import type { PrescribedTurn } from '../models/prescribed-turn.ts';
import { payingServer } from '../tools/mcp/tool-servers.ts';

const STORY = 'It was a dark and stormy night, and the rain fell in torrents. '.repeat(4).trim();
/** Between two words of a story. */
export const STORY_PACE_MS = 40;
const NO_LIMITS = { messagesPerMinute: false, requestsPerMinute: false, connectionsPerAddress: false };

const script = [
  // A pause between words, so that something may happen in the middle of a reply.
  ...workloadScript.map((rule) => ({ ...rule, delayMs: 2 })),
  { when: '^story', reply: STORY, delayMs: STORY_PACE_MS },
  {
    when: '^slow work (\\S+)$',
    reply: 'I begin.',
    toolCalls: [
      { tool: 'pay', arguments: { id: '$1', ms: 0 } },
      { tool: 'look', arguments: { id: '$1', ms: 4_000 } },
    ],
    afterTools: '{{results}}',
  },
];

/**
 * The agent of the tests of a cluster. It knows the messages of the crash workload, `story …` (some seconds of words) and
 * `slow work ID` (a payment that is quick, and a look that is slow).
 * @param ledger a folder in which its tool server notes what it was called with.
 */
export function clusterAgent(ledger: string, more: object = {}): object {
  return {
    llm: { provider: 'scripted', model: 'offline', script },
    mcpServers: { tools: payingServer(ledger) },
    limits: NO_LIMITS,
    ...more,
  };
}

/** An agent whose model is a server of the test. */
export function askingAgent(baseURL: string, more: object = {}): object {
  const llm = { provider: 'openai', model: 'gpt-test', baseURL, apiKey: 'none' };
  return { llm, limits: NO_LIMITS, ...more };
}

/** What the model of `clusterAgent` says. Throws at a message that it does not know. */
export function prescribed(message: string): PrescribedTurn {
  return message.startsWith('story') ? { message, reply: STORY } : prescribedWork(message);
}
