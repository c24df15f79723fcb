import { z } from 'zod';
import { ServiceError } from '../../core/errors.ts';
import { ClientTool, MAX_CLIENT_TOOLS } from '../../core/tool-call/client-tool.ts';
import type { ToolChoice, TurnOptions } from '../../core/turn/turn-options.ts';
import { optional } from '../../wire/requests.ts';

/** A function tool of a request. */
export const FunctionTool = z.object({
  name: ClientTool.shape.name,
  description: optional(z.string()),
  parameters: optional(z.record(z.string(), z.unknown())),
});
export type FunctionTool = z.infer<typeof FunctionTool>;

/** What a request says of tools. */
export interface AskedTools {
  readonly tools: readonly FunctionTool[];
  /** An object: the function of this name. */
  readonly choice?: ToolChoice | undefined;
  readonly parallel?: boolean | undefined;
}

type ToolOptions = Pick<TurnOptions, 'clientTools' | 'toolChoice' | 'parallelToolCalls'>;

/** Throws if there are too many tools, if two have the same name, or if the chosen one is not among them. */
export function toolOptions({ tools, choice, parallel }: AskedTools): ToolOptions {
  if (tools.length > MAX_CLIENT_TOOLS) throw tooManyTools(tools.length);
  const names = tools.map(({ name }) => name);
  const known = new Set<string>();
  for (const [index, name] of names.entries()) {
    if (known.has(name)) throw sameName(index, name);
    known.add(name);
  }
  if (typeof choice === 'object' && !names.includes(choice.name)) throw unknownChoice(choice.name, names);
  return {
    ...(tools.length > 0 && { clientTools: tools.map(clientTool) }),
    ...(choice !== undefined && choice !== 'auto' && { toolChoice: choice }),
    ...(parallel !== undefined && { parallelToolCalls: parallel }),
  };
}

function clientTool({ name, description = '', parameters = { type: 'object' } }: FunctionTool): ClientTool {
  return { name, description, inputSchema: { ...parameters } };
}

function tooManyTools(count: number): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The request has too many tools.', {
    field: 'tools',
    issue: `it has ${count}, and may have ${MAX_CLIENT_TOOLS}`,
  });
}

function sameName(index: number, name: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'Tools must have different names.', {
    field: `tools.${index}`,
    issue: `another tool is called ${name}, too`,
  });
}

function unknownChoice(name: string, names: readonly string[]): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'tool_choice must be one of the tools of the request.', {
    field: 'tool_choice',
    issue: `there is no tool ${name} among them`,
    available: names,
  });
}
