import { type Image, imageBytes } from '../../core/conversation/image.ts';
import type { ModelTool } from '../../core/conversation/model-message.ts';
import { messageOf } from '../../core/thrown.ts';
import { defaultReply, toolNames } from './default-replies.ts';
import { exampleCall } from './example-call.ts';
import type { ScriptStep, ScriptTurn } from './script-step.ts';
import { findTool } from './tool-lookup.ts';

/** The step if no rule matches. It is the first answer that a new user sees. */
export function defaultAnswer({ user, toolResults }: ScriptTurn, tools: readonly ModelTool[]): ScriptStep {
  if (toolResults.length > 0) {
    return say(toolResults.map((result) => `${result.name} answered:\n${result.text}`).join('\n\n'));
  }
  const wish = /^\s*use\s+(\S+)\s*(.*)$/isu.exec(user.text);
  const step =
    wish === null ? say(defaultReply(user, tools)) : wantedTool(wish[1] ?? '', wish[2] ?? '', tools);
  const [image] = user.images ?? [];
  return image === undefined ? step : { ...step, text: `${imageNote(image)}\n\n${step.text}` };
}

function wantedTool(wanted: string, json: string, tools: readonly ModelTool[]): ScriptStep {
  const tool = findTool(tools, wanted);
  if (tool === undefined) return say(`I have no tool called \`${wanted}\`. ${toolNames(tools)}`);
  const parsed = parseArguments(json.trim() || '{}');
  if ('problem' in parsed) {
    return say(
      `I cannot call \`${tool.name}\` with that: ${parsed.problem}. Write the arguments as a JSON object, such as: ${exampleCall([tool])}`,
    );
  }
  return {
    text: `I am calling \`${tool.name}\`.`,
    toolCalls: [{ name: tool.name, arguments: parsed.value }],
  };
}

function parseArguments(json: string): { value: Record<string, unknown> } | { problem: string } {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value !== 'object' || value === null) return { problem: `${json} is not a JSON object` };
    if (Array.isArray(value)) return { problem: 'a list is not a JSON object' };
    return { value: { ...value } };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

function imageNote(image: Image): string {
  return `I received your image (${image.mimeType}, ${imageBytes(image)} bytes). I am a script and cannot look at it; a real model can.`;
}

function say(text: string): ScriptStep {
  return { text, toolCalls: [] };
}
