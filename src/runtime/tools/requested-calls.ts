import { z } from 'zod';
import { contentHash } from '../../core/content-hash.ts';
import type { ModelMessage } from '../../core/conversation/model-message.ts';
import { changedNumber } from '../../core/exact-numbers.ts';
import type { SessionId } from '../../core/ids.ts';
import type { RequestedCall } from '../../core/tool-call/tool-call-commands.ts';
import type { RawToolCall } from '../../ports/language-model.ts';
import type { SchemaCheck } from '../../ports/schema-check.ts';
import type { NamedTool } from '../../ports/turn-tools.ts';
import { ownerPrefixOf } from '../access/owner-prefixes.ts';

/** Where a reply came. */
interface ReplyPlace {
  readonly names: ReadonlyMap<string, NamedTool>;
  /** The whole conversation. */
  readonly messages: readonly ModelMessage[];
  readonly sessionId: SessionId;
}

const Arguments = z.record(z.string(), z.unknown());

/**
 * Resolves the model's calls against the tools that it was offered. An error in a call becomes its `problem`, which the
 * model gets as the call's result.
 */
export async function requestedCalls(
  raw: readonly RawToolCall[],
  place: ReplyPlace,
  schemas: SchemaCheck,
): Promise<RequestedCall[]> {
  if (raw.length === 0) return [];
  const taken = callIdsOf(place.messages);
  const calls: RequestedCall[] = [];
  for (const { callId, name, arguments: text } of raw) {
    const id = taken.has(callId) || callId === '' ? `call_${crypto.randomUUID()}` : callId;
    taken.add(id);
    const offered = place.names.get(name);
    const parsed = parseArguments(text);
    const args = parsed ?? {};
    calls.push({
      callId: id,
      name,
      toolName: offered?.tool.name ?? name,
      serverId: offered?.serverId ?? null,
      arguments: args,
      repeatable: offered?.tool.repeatable ?? false,
      policy: offered?.policy ?? 'auto',
      argumentsHash: await contentHash(args),
      ...(offered?.byClient && { byClient: true }),
      ...(offered?.expiresAfterMs !== undefined && { expiresAfterMs: offered.expiresAfterMs }),
      ...(await problemOf(offered, { text, args: parsed }, place, schemas)),
    });
  }
  return calls;
}

async function problemOf(
  offered: NamedTool | undefined,
  { text, args }: { readonly text: string; readonly args: Record<string, unknown> | undefined },
  { names, sessionId }: ReplyPlace,
  schemas: SchemaCheck,
): Promise<Pick<RequestedCall, 'problem'>> {
  if (!offered) return { problem: `there is no such tool; there are: ${allowedNames(names)}` };
  if (!args) return { problem: 'the arguments are not a JSON object' };
  const changed = changedNumber(text);
  if (changed !== undefined)
    return {
      problem: `the number ${changed} cannot be passed on exactly; if the tool takes a text, write it as one`,
    };
  const { inputSchema } = offered.tool;
  const issue = offered.byClient
    ? (await schemas.ofClient(inputSchema, args, ownerPrefixOf(sessionId))).issue
    : await schemas.issueWith(inputSchema, args);
  return issue === undefined ? {} : { problem: `the arguments do not fit the tool's schema: ${issue}` };
}

function allowedNames(names: ReadonlyMap<string, NamedTool>): string {
  return [...names].flatMap(([name, { policy }]) => (policy === 'deny' ? [] : [name])).join(', ') || 'none';
}

/**
 * For a tool without parameters some models write an empty text, and Groq, Cohere and Ollama send `null`.
 * https://github.com/langchain-ai/langchain/pull/33896
 */
function parseArguments(text: string): Record<string, unknown> | undefined {
  if (/^\s*(null\s*)?$/.test(text)) return {};
  try {
    return Arguments.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Some providers restart the numbering of calls in each reply. An id must stand for one call only. */
function callIdsOf(messages: readonly ModelMessage[]): Set<string> {
  return new Set(
    messages.flatMap((message) =>
      message.role === 'assistant'
        ? message.parts.flatMap((part) => (part.type === 'toolCall' ? [part.callId] : []))
        : [],
    ),
  );
}
