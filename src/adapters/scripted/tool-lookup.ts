import type { ModelTool } from '../../core/conversation/model-message.ts';

/** Finds a tool by its name in the request, or by its own name if that became `server__tool`. */
export function findTool(tools: readonly ModelTool[], name: string): ModelTool | undefined {
  return tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.name.endsWith(`__${name}`));
}
