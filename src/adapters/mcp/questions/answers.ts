import type { McpServerConfig } from '../../../core/tool-server/mcp-server-config.ts';
import type { JsonObject } from '../../../core/tool-server/server-peer.ts';
import type { QuestionMethod } from '../../../core/tool-server/server-question.ts';

/** The questions of a tool server that somebody can answer. */
export interface Answers {
  readonly sampling?: boolean;
  readonly elicitation?: boolean;
  readonly roots?: boolean;
}

/**
 * What the connection offers to its server. Many servers have more tools for a client that answers questions, so a
 * connection offers nothing that is not asked for.
 */
export function answersFor(_config: McpServerConfig, offered: Answers = {}): Answers {
  return offered;
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
