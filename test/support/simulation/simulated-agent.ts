import { cutIntoPieces } from '../../../src/adapters/scripted/reply-stream.ts';
import { scriptRules } from '../../../src/adapters/scripted/script-rules.ts';
import { currentTurn } from '../../../src/adapters/scripted/script-step.ts';
import { type LoadedAgent, parseAgentFile } from '../../../src/config/reading/agent-file.ts';
import type { TurnId } from '../../../src/core/ids.ts';
import type { Tool, ToolOutcome } from '../../../src/core/tool-call/tool.ts';
import type { LanguageModel, ModelRequest } from '../../../src/ports/language-model.ts';
import type { ToolServerConnection, ToolServerConnector } from '../../../src/ports/tool-server.ts';
import type { PrescribedTurn } from '../models/prescribed-turn.ts';
import { connectionDouble } from '../tools/connection-double.ts';
import type { NodeDatabase } from './node-database.ts';
import type { World } from './world.ts';

const MESSAGE = /^(work|ask) (\S+)$/;
const begun = (id: string): string => `I work on ${id} 😀 now.`;
const done = (results: string): string => `Done: ${results}.`;
/** Longest pause of the model, and of most calls. */
const PACE_MS = 60;
const LONG_CALL_MS = 3_000;

export const AGENT = agentWith({});
/** With a tool server that no turn needs. */
export const FULL_AGENT = agentWith({ extra: { type: 'stdio', command: 'none' } });

function agentWith(otherServers: Readonly<Record<string, object>>): LoadedAgent {
  return parseAgentFile(
    JSON.stringify({
      llm: {
        provider: 'scripted',
        model: 'simulated',
        script: [
          {
            when: '^work (\\S+)$',
            reply: begun('$1'),
            toolCalls: [
              { tool: 'pay', arguments: { id: '$1' } },
              { tool: 'look', arguments: { id: '$1' } },
            ],
            afterTools: done('{{results}}'),
          },
          {
            when: '^ask (\\S+)$',
            reply: begun('$1'),
            toolCalls: [
              { tool: 'spend', arguments: { id: '$1' } },
              { tool: 'look', arguments: { id: '$1' } },
            ],
            afterTools: done('{{results}}'),
          },
        ],
      },
      mcpServers: { tools: { type: 'stdio', command: 'none' }, ...otherServers },
      approval: { rules: [{ server: 'tools', tool: 'spend', policy: 'ask' }], default: 'auto' },
    }),
    'simulated.yml',
    {},
  );
}

/** What the agent says to a message. Throws at one that no user sends. */
export function prescribed(message: string): PrescribedTurn {
  const [, kind, id] = MESSAGE.exec(message) ?? [];
  if (id === undefined) throw new Error(`nobody sends "${message}"`);
  const first =
    kind === 'work'
      ? { toolName: 'pay', arguments: { id }, text: `pay ${id}`, mayBeInterrupted: true }
      : {
          toolName: 'spend',
          arguments: { id },
          text: `spend ${id}`,
          mayBeInterrupted: true,
          mayBeUnapproved: true,
        };
  return {
    message,
    reply: begun(id),
    calls: [first, { toolName: 'look', arguments: { id }, text: `look ${id}` }],
    afterTools: (results) => done(results.join('\n')),
  };
}

/** Answers by the script, in its own time. */
export function simulatedModel(world: World, ledger: Ledger): LanguageModel {
  const rules = scriptRules(AGENT.config.llm.script);
  return {
    label: 'simulated',
    source: { api: 'scripted', provider: 'scripted', model: 'simulated' },
    async generate(request, listener, signal) {
      const step = rules(currentTurn(request), request.tools);
      if (!step) throw new Error('the script has no answer');
      world.note(`the model is asked: ${currentTurn(request).user.text}`);
      ledger.noteShown(request);
      await paused(world.random() * PACE_MS, signal);
      for (const piece of cutIntoPieces(step.text)) {
        if (world.chance(0.7)) await paused(world.random() * PACE_MS, signal);
        listener.onText(piece);
      }
      await paused(world.random() * PACE_MS, signal);
      const calls = step.toolCalls.map((call) => ({
        type: 'toolCall' as const,
        callId: ledger.nextCallId(),
        name: call.name,
        arguments: JSON.stringify(call.arguments),
      }));
      return { parts: [...(step.text === '' ? [] : [{ type: 'text' as const, text: step.text }]), ...calls] };
    },
  };
}

const TOOLS: Tool[] = ['pay', 'look', 'spend'].map((name) => ({
  name,
  description: '',
  inputSchema: { type: 'object' },
  repeatable: name === 'look',
}));

/** What the tools of all nodes were called with, and what the models were shown. */
export class Ledger {
  readonly paid: string[] = [];
  /**
   * By the turn: the messages of users in the conversations that its first step was shown. A node that does not know yet that
   * it has lost the session may have shown an earlier one, in vain.
   */
  readonly shown = new Map<TurnId, (readonly string[])[]>();

  #calls = 0;

  nextCallId(): string {
    this.#calls += 1;
    return `call_${this.#calls}`;
  }

  noteShown({ messages, origin }: ModelRequest): void {
    if (origin?.step !== 1) return;
    // Messages without an answer are shown as one.
    const texts = messages.flatMap((message) =>
      message.role === 'user' ? (message.text.match(/\b(?:work|ask) \S+/g) ?? []) : [],
    );
    this.shown.set(origin.turnId, [...(this.shown.get(origin.turnId) ?? []), texts]);
  }
}

/** The tools of one node. They note when they are called by a node that may not. */
export function simulatedTools(world: World, database: NodeDatabase, ledger: Ledger): ToolServerConnector {
  const call = async (name: string, id: string, signal: AbortSignal | undefined): Promise<ToolOutcome> => {
    world.note(`calls ${name} ${id}`);
    const row = database.shared.nodes.get(database.node);
    if (!row || row.leaseEnd <= database.shared.now)
      world.faults.push(`node ${database.node} called ${name} ${id}, and had no lease`);
    if (name !== 'look') ledger.paid.push(id);
    try {
      await paused(world.random() * (world.chance(0.2) ? LONG_CALL_MS : PACE_MS), signal);
    } catch {
      return { status: 'failed', reason: 'it was aborted' };
    }
    return { status: 'succeeded', result: { content: [{ type: 'text', text: `${name} ${id}` }] } };
  };
  return {
    async connect(name): Promise<ToolServerConnection> {
      await paused(world.random() * PACE_MS, undefined);
      return connectionDouble({
        listTools: async () => (name === 'tools' ? TOOLS : []),
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
