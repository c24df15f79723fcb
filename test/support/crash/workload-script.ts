import type { PrescribedTurn } from '../models/prescribed-turn.ts';

const WORDS = 'some words that are streamed 😀 one by one. '.repeat(2);
const begun = (id: string): string => `I am working on ${id}: ${WORDS}`;
const done = (results: string): string => `It is done: ${results}. ${WORDS}`;
const PATTERN = '^work (\\S+) (\\d+)$';

/** What the model of the workload says to `work ID MS`: two calls side by side, of which one may not run twice. */
export const workloadScript = [
  {
    when: PATTERN,
    reply: begun('$1'),
    toolCalls: [
      { tool: 'pay', arguments: { id: '$1', ms: '$2' } },
      { tool: 'look', arguments: { id: '$1', ms: '$2' } },
    ],
    afterTools: done('{{results}}'),
  },
];

/** The same, for one message. Throws at a message that no user of the workload sends. */
export function prescribedWork(message: string): PrescribedTurn {
  const [, id, ms] = new RegExp(PATTERN).exec(message) ?? [];
  if (id === undefined) throw new Error(`nobody sends "${message}"`);
  const args = { id, ms: Number(ms) };
  return {
    message,
    reply: begun(id),
    calls: [
      { toolName: 'pay', arguments: args, text: `pay ${id}`, mayBeInterrupted: true },
      { toolName: 'look', arguments: args, text: `look ${id}` },
    ],
    afterTools: (results) => done(results.join('\n')),
  };
}
