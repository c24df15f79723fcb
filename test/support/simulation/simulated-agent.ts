import { cutIntoPieces } from '../../../src/adapters/scripted/reply-stream.ts';
import { scriptRules } from '../../../src/adapters/scripted/script-rules.ts';
import { currentTurn } from '../../../src/adapters/scripted/script-step.ts';
import { type LoadedAgent, parseAgentFile } from '../../../src/config/reading/agent-file.ts';
import type { Tool, ToolOutcome } from '../../../src/core/tool-call/tool.ts';
import type { LanguageModel } from '../../../src/ports/language-model.ts';
import type { ToolServerConnection, ToolServerConnector } from '../../../src/ports/tool-server.ts';
import type { PrescribedTurn } from '../models/prescribed-turn.ts';
import { connectionDouble } from '../tools/connection-double.ts';
import type { NodeDatabase } from './node-database.ts';
import type { World } from './world.ts';

const MESSAGE = /^work (\S+)$/;
const begun = (id: string): string => `I work on ${id} 😀 now.`;
const done = (results: string): string => `Done: ${results}.`;
/** Longest pause of the model, and of most calls. */
const PACE_MS = 60;
const LONG_CALL_MS = 3_000;

export const AGENT: LoadedAgent = parseAgentFile(
  JSON.stringify({
    llm: {
      provider: 'scripted',
      model: 'simulated',
      script: [
        {
          when: MESSAGE.source,
          reply: begun('$1'),
          toolCalls: [
            { tool: 'pay', arguments: { id: '$1' } },
            { tool: 'look', arguments: { id: '$1' } },
          ],
          afterTools: done('{{results}}'),
        },
      ],
    },
    mcpServers: { tools: { type: 'stdio', command: 'none' } },
  }),
  'simulated.yml',
  {},
);

/** What the agent says to a message. Throws at one that no user sends. */
export function prescribed(message: string): PrescribedTurn {
  const id = MESSAGE.exec(message)?.[1];
  if (id === undefined) throw new Error(`nobody sends "${message}"`);
  return {
    message,
    reply: begun(id),
    calls: [
      { toolName: 'pay', arguments: { id }, text: `pay ${id}`, mayBeInterrupted: true },
      { toolName: 'look', arguments: { id }, text: `look ${id}` },
    ],
    afterTools: (results) => done(results.join('\n')),
  };
}

/** Answers by the script, in its own time. */
export function simulatedModel(world: World): LanguageModel {
  const rules = scriptRules(AGENT.config.llm.script);
  return {
    label: 'simulated',
    source: { api: 'scripted', provider: 'scripted', model: 'simulated' },
    async generate(request, listener, signal) {
      const step = rules(currentTurn(request), request.tools);
      if (!step) throw new Error('the script has no answer');
      await paused(world.random() * PACE_MS, signal);
      for (const piece of cutIntoPieces(step.text)) {
        if (world.chance(0.7)) await paused(world.random() * PACE_MS, signal);
        listener.onText(piece);
      }
      await paused(world.random() * PACE_MS, signal);
      const calls = step.toolCalls.map((call, index) => ({
        type: 'toolCall' as const,
        callId: `call_${request.messages.length}_${index}`,
        name: call.name,
        arguments: JSON.stringify(call.arguments),
      }));
      return { parts: [...(step.text === '' ? [] : [{ type: 'text' as const, text: step.text }]), ...calls] };
    },
  };
}

const TOOLS: Tool[] = ['pay', 'look'].map((name) => ({
  name,
  description: '',
  inputSchema: { type: 'object' },
  repeatable: name === 'look',
}));

/** What the tools of all nodes were called with. */
export class Ledger {
  readonly paid: string[] = [];
}

/** The tools of one node. They note when they are called by a node that may not. */
export function simulatedTools(world: World, database: NodeDatabase, ledger: Ledger): ToolServerConnector {
  const call = async (name: string, id: string, signal: AbortSignal | undefined): Promise<ToolOutcome> => {
    world.note(`calls ${name} ${id}`);
    const row = database.shared.nodes.get(database.node);
    if (!row || row.leaseEnd <= world.now)
      world.faults.push(`node ${database.node} called ${name} ${id}, and had no lease`);
    if (name === 'pay') ledger.paid.push(id);
    try {
      await paused(world.random() * (world.chance(0.2) ? LONG_CALL_MS : PACE_MS), signal);
    } catch {
      return { status: 'failed', reason: 'it was aborted' };
    }
    return { status: 'succeeded', result: { content: [{ type: 'text', text: `${name} ${id}` }] } };
  };
  return {
    async connect(): Promise<ToolServerConnection> {
      await paused(world.random() * PACE_MS, undefined);
      return connectionDouble({
        listTools: async () => TOOLS,
        callTool: async (name, args, options) =>
          options?.signal?.aborted
            ? { status: 'failed', reason: 'it was aborted' }
            : call(name, String(args.id), options?.signal),
        close: async () => undefined,
      });
    },
  };
}

function paused(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener(
    'abort',
    () => {
      clearTimeout(timer);
      reject(signal.reason);
    },
    { once: true },
  );
  return promise;
}
