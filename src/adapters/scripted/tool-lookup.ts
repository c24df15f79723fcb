import type { ModelTool } from '../../core/conversation/model-message.ts';

/** Finds a tool by the name the model knows, or by its own name where that became `server__tool`. */
export function findTool(tools: readonly ModelTool[], name: string): ModelTool | undefined {
  return tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.name.endsWith(`__${name}`));
}
