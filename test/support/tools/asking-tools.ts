import type { ToolServerConnector } from '../../../src/ports/tool-server.ts';
import { connectionDouble } from './connection-double.ts';

/** Name of the server whose tools ask. */
const ASKING = 'asking';

/** The form of `order_tea`. */
export const TEA = {
  message: 'Which tea?',
  requestedSchema: {
    type: 'object',
    properties: {
      size: { type: 'string', enum: ['small', 'large'] },
      hot: { type: 'boolean', default: true },
    },
    required: ['size'],
  },
} as const;

const tool = (name: string) => ({
  name,
  description: '',
  inputSchema: { type: 'object' },
  repeatable: false,
});
const text = (said: unknown) => ({
  status: 'succeeded' as const,
  result: { content: [{ type: 'text', text: JSON.stringify(said) }] },
});

/** The address of `visit_tea`. */
export const SHOP = {
  mode: 'url',
  message: 'Choose a tea there.',
  url: 'https://tea.example/choose',
  elicitationId: 'e-1',
} as const;

/** A tool server whose tools `order_tea` and `visit_tea` ask a person, `name_tea` the model, and `find_tea` where it may look. */
const asking = connectionDouble({
  listTools: async () => ['order_tea', 'visit_tea', 'name_tea', 'find_tea'].map(tool),
  callTool: async (toolName, _, { onQuestion } = {}) => {
    if (!onQuestion) return { status: 'failed', reason: 'nobody answers' };
    const { signal } = new AbortController();
    const message = { role: 'user', content: { type: 'text', text: 'hello' } };
    const questions = {
      order_tea: { method: 'elicitation/create', params: TEA },
      visit_tea: { method: 'elicitation/create', params: SHOP },
      name_tea: { method: 'sampling/createMessage', params: { messages: [message], maxTokens: 20 } },
      find_tea: { method: 'roots/list', params: {} },
    } as const;
    const question = Object.entries(questions).find(([name]) => name === toolName)?.[1];
    if (!question) return { status: 'failed', reason: 'there is no such tool' };
    return onQuestion(question, signal).then(text, (error: unknown) => ({
      status: 'failed' as const,
      reason: String(error),
    }));
  },
  close: async () => undefined,
});

/** Connects the server `asking` without a process, and the others as `real` does. */
export function withAskingTools(real?: ToolServerConnector): ToolServerConnector {
  return {
    connect: async (name, ...rest) => {
      if (name === ASKING) return asking;
      if (!real) throw new Error(`there is no server ${name}`);
      return real.connect(name, ...rest);
    },
  };
}
