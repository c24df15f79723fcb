import { isJsonObject, type JsonObject } from '../../../core/json-object.ts';
import { stringIn } from '../../../model-http/reply/json.ts';

/** A fragment of a tool call. Missing and invalid values are empty or undefined. */
export interface ToolCallDelta {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  /** Google's signature of the reasoning behind the call, which Google wants back. */
  readonly extraContent: unknown;
}

/** The fragments of tool calls in a delta, or whole calls in a message. */
export function toolCallDeltas({ tool_calls, function_call }: JsonObject): ToolCallDelta[] {
  const calls = Array.isArray(tool_calls) ? tool_calls : isJsonObject(tool_calls) ? [tool_calls] : [];
  const all = isJsonObject(function_call) ? [...calls, { function: function_call }] : calls;
  return all.filter(isJsonObject).map(toolCallDelta);
}

function toolCallDelta(call: JsonObject): ToolCallDelta {
  const called = isJsonObject(call.function) ? call.function : call;
  const args = called.arguments ?? called.parameters;
  return {
    index: indexOf(call.index),
    id: idOf(call.id),
    name: stringIn(called.name),
    arguments: isJsonObject(args) ? JSON.stringify(args) : stringIn(args),
    extraContent: call.extra_content ?? undefined,
  };
}

/** Some servers send the index as text, some send a negative one. */
function indexOf(index: unknown): number | undefined {
  const number = typeof index === 'string' && index !== '' ? Number(index) : index;
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 ? number : undefined;
}

function idOf(id: unknown): string {
  if (typeof id === 'number') return String(id);
  return id === 'null' ? '' : stringIn(id);
}
