import type { JsonObject } from '../../../core/json-object.ts';
import type { McpServerConfig } from '../../../core/tool-server/mcp-server-config.ts';
import type { QuestionMethod } from '../../../core/tool-server/server-question.ts';

/** The questions of a tool server that somebody can answer. */
export interface Answers {
  readonly sampling?: boolean;
  readonly elicitation?: boolean;
  readonly roots?: boolean;
}

/**
 * What the connection offers to its server: what the service offers to all of them, and what the server's own entry in the
 * agent file adds. Many servers have more tools for a client that answers questions.
 */
export function answersFor({ sampling, roots }: McpServerConfig, offered: Answers = {}): Answers {
  return {
    ...offered,
    ...(sampling !== undefined && { sampling: true }),
    ...(roots !== undefined && { roots: true }),
  };
}

/** As MCP's `ClientCapabilities`. */
export function clientCapabilities({ sampling, elicitation, roots }: Answers): JsonObject {
  return {
    ...(sampling && { sampling: {} }),
    ...(elicitation && { elicitation: { form: {}, url: {} } }),
    ...(roots && { roots: {} }),
  };
}

const subjects: Readonly<Record<QuestionMethod, keyof Answers>> = {
  'sampling/createMessage': 'sampling',
  'elicitation/create': 'elicitation',
  'roots/list': 'roots',
};

export function isQuestion(method: string): method is QuestionMethod {
  return Object.hasOwn(subjects, method);
}
