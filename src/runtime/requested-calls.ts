import { z } from 'zod';
import type { RequestedCall } from '../contract/commands.ts';
import type { ModelMessage } from '../contract/model-message.ts';
import type { RawToolCall } from '../ports/language-model.ts';
import type { ConnectedTool } from './mcp-supervisor.ts';
import type { ToolCatalog } from './tool-catalog.ts';

const Arguments = z.record(z.string(), z.unknown());

/**
 * Resolves what the model asked for against the tools it was offered. Whatever is wrong with a call becomes
 * its `problem`, which the model is told as the call's result.
 */
export async function requestedCalls(
  raw: readonly RawToolCall[],
  names: ReadonlyMap<string, ConnectedTool>,
  messages: readonly ModelMessage[],
  catalog: ToolCatalog,
): Promise<RequestedCall[]> {
  if (raw.length === 0) return [];
  const taken = callIdsOf(messages);
  const calls: RequestedCall[] = [];
  for (const { callId, name, arguments: text } of raw) {
    const id = taken.has(callId) || callId === '' ? `call_${crypto.randomUUID()}` : callId;
    taken.add(id);
    const offered = names.get(name);
    const parsed = parseArguments(text);
    calls.push({
      callId: id,
      name,
      toolName: offered?.tool.name ?? name,
      serverId: offered?.serverId ?? null,
      arguments: parsed ?? {},
      repeatable: offered?.tool.repeatable ?? false,
      ...(await problemOf(offered, parsed, names, catalog)),
    });
  }
  return calls;
}

async function problemOf(
  offered: ConnectedTool | undefined,
  args: Record<string, unknown> | undefined,
  names: ReadonlyMap<string, ConnectedTool>,
  catalog: ToolCatalog,
): Promise<Pick<RequestedCall, 'problem'>> {
  if (!offered)
    return { problem: `there is no such tool; there are: ${[...names.keys()].join(', ') || 'none'}` };
  if (!args) return { problem: 'the arguments are not a JSON object' };
  const issue = await catalog.issueWith(offered.tool, args);
  return issue === undefined ? {} : { problem: `the arguments do not fit the tool's schema: ${issue}` };
}

/** Some models write nothing at all for a tool without parameters. */
function parseArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  try {
    return Arguments.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Some providers number their calls anew in each reply; a result must point to one call only. */
function callIdsOf(messages: readonly ModelMessage[]): Set<string> {
  return new Set(
    messages.flatMap((message) =>
      message.role === 'assistant' ? message.toolCalls.map((call) => call.callId) : [],
    ),
  );
}
