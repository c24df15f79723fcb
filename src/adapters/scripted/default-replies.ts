import type { ModelTool, UserMessage } from '../../core/conversation/model-message.ts';
import { exampleCall } from './example-call.ts';

const INTRODUCTION =
  'I am the scripted model of agent-service: I work offline, without a key, and always answer the same.';

const REAL_MODEL =
  'For a real model, set `llm.provider` and `llm.model` in the agent file, for example `provider: openai` with `OPENAI_API_KEY` in the environment, or `provider: ollama` for a local one.';

/** Questions come before greetings: "hi, who are you?" is a question. */
const smallTalk: readonly { when: RegExp; reply: (tools: readonly ModelTool[]) => string }[] = [
  { when: /\b(tools?|help)\b/i, reply: listTools },
  {
    when: /\bwhat (can|do) you do\b/i,
    reply: (tools) =>
      `I can show you this service at work: streaming, tools, sessions and images, with no model behind it. ${listTools(tools)}\n\n${REAL_MODEL}`,
  },
  {
    when: /\b(who|what) are you\b|\byour name\b|\b(real|which|what) (ai|model|llm)\b/i,
    reply: () => `${INTRODUCTION} ${REAL_MODEL}`,
  },
  {
    when: /\bhow are you\b/i,
    reply: () => 'Very well, thank you: a script has no bad days. What shall we try?',
  },
  { when: /\b(thanks|thank you|thx|cheers)\b/i, reply: () => 'You are welcome!' },
  {
    when: /^\s*(bye|goodbye|good night|see you)\b/i,
    reply: () => 'Goodbye! Your conversation stays in the log, so come back to it any time.',
  },
  {
    when: /^\s*(hi|hello|hey|hallo|good (morning|afternoon|evening)|greetings)\b/i,
    reply: (tools) => `Hello! ${INTRODUCTION} ${REAL_MODEL}\n\n${whatToTry(tools)}`,
  },
];

/** Is never empty and never throws. As a last resort it repeats the message. */
export function defaultReply(
  { text, images: [image] = [] }: UserMessage,
  tools: readonly ModelTool[],
): string {
  if (text.trim() === '')
    return image === undefined ? `I heard nothing. ${whatToTry(tools)}` : whatToTry(tools);
  const match = smallTalk.find(({ when }) => when.test(text));
  return match?.reply(tools) ?? `You said: ${text.trim()}\n\n${INTRODUCTION} ${whatToTry(tools)}`;
}

/** The names, for somebody who mistyped one. */
export function toolNames(tools: readonly ModelTool[]): string {
  if (tools.length === 0) return NO_TOOLS;
  return `I have: ${tools.map((tool) => `\`${tool.name}\``).join(', ')}.`;
}

const NO_TOOLS =
  'I have no tools yet: add an MCP server under `mcpServers` in the agent file, or connect one while the service runs.';

function listTools(tools: readonly ModelTool[]): string {
  if (tools.length === 0) return NO_TOOLS;
  const lines = tools.map(
    (tool) => `- \`${tool.name}\`${tool.description === '' ? '' : `: ${firstLine(tool.description)}`}`,
  );
  return `I have these tools:\n${lines.join('\n')}\n\nTo call one, say: ${exampleCall(tools)}`;
}

function whatToTry(tools: readonly ModelTool[]): string {
  return tools.length === 0
    ? 'Try "what can you do", or send me an image.'
    : `Try "tools" for what I can call, or "${exampleCall(tools)}".`;
}

const MAX_DESCRIPTION_LENGTH = 120;

function firstLine(description: string): string {
  const line = description.trim().split('\n', 1)[0] ?? '';
  return line.length <= MAX_DESCRIPTION_LENGTH
    ? line
    : `${line.slice(0, MAX_DESCRIPTION_LENGTH - 1).trimEnd()}…`;
}
