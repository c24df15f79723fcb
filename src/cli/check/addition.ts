import type {
  AssistantMessage,
  AssistantPart,
  ModelMessage,
  ModelTool,
  UserMessage,
} from '../../core/conversation/model-message.ts';
import type { ModelSource } from '../../core/turn/reply-parts.ts';
import { spokenText } from '../../core/turn/step-parts.ts';
import { objectIn, parsedJson } from '../../model-http/reply/json.ts';
import type { ModelReply, RawToolCall } from '../../ports/language-model.ts';
import type { Check } from './check.ts';

const FIRST = 1234;
const SECOND = 5678;

/** The tool that the check offers to the model. */
export const ADD: ModelTool = {
  name: 'add',
  description: 'Adds two numbers and returns their sum.',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
};

export const ADDITION: UserMessage = {
  role: 'user',
  text: `Use the tool add to add ${FIRST} and ${SECOND}, then tell me the sum.`,
};

/** Judges the reply to the question. */
export function toolCallCheck(reply: ModelReply): Check {
  const calls = callsIn(reply);
  if (calls.length > 0 && calls.every(isAddition))
    return { name: 'tool call', finding: 'yes', outcome: 'calls a tool' };
  if (calls.length > 0) {
    const outcome = 'calls it with other arguments';
    return { name: 'tool call', finding: 'no', outcome, advice: 'Use a model that is better with tools.' };
  }
  return {
    name: 'tool call',
    finding: 'no',
    outcome: 'answers without calling the tool',
    advice:
      'Use a model that calls tools. A local server may have to be started for tool calls, with the chat template of the model.',
  };
}

/** Judges the reply to the tool's result. */
export function toolResultCheck(reply: ModelReply): Check {
  if (spokenText(reply.parts).trim() !== '')
    return { name: 'tool result', finding: 'yes', outcome: 'goes on with the result' };
  const outcome = 'calls the tool once more';
  return { name: 'tool result', finding: 'no', outcome, advice: 'Use a model that is better with tools.' };
}

/** The conversation so far, with a result for each tool call of the reply. */
export function withResults(reply: ModelReply, source: ModelSource | null): ModelMessage[] {
  const parts = reply.parts.map((part): AssistantPart => {
    return part.type === 'toolCall' ? { ...part, arguments: objectIn(parsedJson(part.arguments)) } : part;
  });
  const said: AssistantMessage = { role: 'assistant', parts, ...(source && { source }) };
  const results = callsIn(reply).map(({ callId, name }): ModelMessage => {
    return { role: 'tool', callId, name, text: String(FIRST + SECOND) };
  });
  return [ADDITION, said, ...results];
}

function callsIn({ parts }: ModelReply): RawToolCall[] {
  return parts.flatMap((part) => (part.type === 'toolCall' ? [part] : []));
}

function isAddition({ name, arguments: text }: RawToolCall): boolean {
  const { a, b } = objectIn(parsedJson(text));
  return name === ADD.name && ((a === FIRST && b === SECOND) || (a === SECOND && b === FIRST));
}
