import { type ErrorBody, ErrorCode } from '../../../core/errors.ts';
import { errorCatalogue } from '../../../wire/error-catalogue.ts';
import type { Operation } from './operation.ts';

/** `UNAUTHORIZED` is reserved and never sent. */
type EmittedCode = Exclude<ErrorCode, 'UNAUTHORIZED'>;

/** An example of each error, for operations that have no example of their own. */
export const errorExamples: Readonly<Record<EmittedCode, Omit<ErrorBody, 'code'>>> = {
  INVALID_REQUEST: {
    message: 'The request body is not valid JSON.',
    details: {
      field: 'body',
      issue: "it cannot be parsed: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
      suggestion: 'Send a JSON object.',
    },
  },
  MISSING_FIELD: {
    message: 'The field message is required.',
    details: { field: 'message', suggestion: 'Add message to the request.' },
  },
  FORBIDDEN: {
    message: 'Pages of this origin may not use the service.',
    details: {
      field: 'Origin',
      issue: '"https://elsewhere.example" is not an allowed origin',
      suggestion: 'Add the origin to cors.origins in the agent file.',
    },
  },
  SERVER_NOT_FOUND: {
    message: 'There is no MCP server nobody.',
    details: { serverId: 'nobody', available: ['everything'] },
  },
  TOOL_NOT_FOUND: {
    message: 'The server everything has no tool juggle.',
    details: { toolName: 'juggle', serverId: 'everything', available: ['echo', 'get-sum'] },
  },
  RATE_LIMIT_EXCEEDED: {
    message: 'Limit exceeded: 100 requests per minute and address.',
    details: { limit: 100, remaining: 0, resetTime: 1_795_240_286 },
  },
  TOOL_EXECUTION_FAILED: {
    message: 'The tool echo failed.',
    details: {
      toolName: 'echo',
      serverId: 'paused',
      reason: 'the server paused is not connected (its status is disconnected)',
      suggestion: 'POST /api/mcp/servers/paused/reconnect connects it.',
    },
  },
  AGENT_ERROR: {
    message: 'The language model could not answer.',
    details: { provider: 'scripted', reason: 'the script says so' },
  },
  INTERNAL_ERROR: { message: 'An unexpected error occurred.', details: {} },
  SESSION_NOT_FOUND: { message: 'There is no session nobody.', details: { sessionId: 'nobody' } },
  APPROVAL_NOT_FOUND: {
    message: 'No tool call of that id waits for approval.',
    details: {
      callId: 'call_9_9',
      reason: 'it was approved, denied or cancelled before, or there is no such call',
    },
  },
  CALL_NOT_FOUND: {
    message: 'No tool call of that id waits for a client.',
    details: {
      callId: 'call_9_9',
      reason: 'it was answered, has expired or was cancelled before, or there is no such call',
    },
  },
  INPUT_NOT_FOUND: {
    message: 'No question of that id waits for an answer.',
    details: {
      inputId: 'call_9_9.1.1',
      reason: 'it was answered, has expired or was withdrawn before, or there is no such question',
    },
  },
  AGENT_NOT_FOUND: {
    message: 'There is no agent nobody.',
    details: {
      agentId: 'nobody',
      available: ['default'],
      suggestion: 'GET /api/agents lists them.',
    },
  },
  GRANT_NOT_FOUND: {
    message: 'There is no grant 5d1f of this session.',
    details: { grantId: '5d1f' },
  },
  API_KEY_NOT_FOUND: { message: 'There is no API key nobodys0.', details: { keyId: 'nobodys0' } },
  SESSION_BUSY: {
    message: 'The session is busy with another message.',
    details: {
      turnId: '0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e',
      reason: 'a turn is running and the message asked not to wait (whenBusy: reject)',
    },
  },
  IDEMPOTENCY_KEY_REUSED: {
    message: 'The idempotency key belongs to another request.',
    details: {
      key: '4f1c6b8e',
      suggestion: 'Use a new key for each new request, and repeat a request unchanged.',
    },
  },
  OUTCOME_UNKNOWN: {
    message: 'Nobody knows whether this request took effect.',
    details: {
      key: '4f1c6b8e',
      reason: 'it was begun, its end was never recorded, and it is not safe to repeat',
      suggestion: 'See whether it took effect. To do it again, send it with a new key.',
    },
  },
  TURN_CANCELLED: {
    message: 'The turn was cancelled before it was answered.',
    details: { reason: 'the client cancelled it' },
  },
  SERVICE_UNAVAILABLE: {
    message: 'This session has too many messages waiting. Try again later.',
    details: { reason: '100 messages wait behind the running turn', limit: 100, retryAfter: 5 },
  },
  INVALID_MESSAGE_TYPE: {
    message: 'The frame has an unsupported type.',
    details: {
      field: 'type',
      issue: 'it is "hello"',
      supported: ['message', 'cancel', 'approve', 'deny', 'toolResult', 'inputAnswer', 'reset'],
    },
  },
};

/** All errors of an operation, including those that every request may get. */
export function errorsOf({ path, errors, body, pathParameters, query, headers }: Operation): ErrorCode[] {
  const mayBeInvalid = [body, pathParameters, query, headers].some((part) => part !== undefined);
  const possible = new Set<ErrorCode>([...errors, 'FORBIDDEN', 'INTERNAL_ERROR']);
  if (mayBeInvalid) possible.add('INVALID_REQUEST');
  if (headers && 'Idempotency-Key' in headers.shape) possible.add('IDEMPOTENCY_KEY_REUSED');
  if (isLimited(path)) possible.add('RATE_LIMIT_EXCEEDED');
  return ErrorCode.options
    .filter((code) => possible.has(code))
    .sort((a, b) => errorCatalogue[a].status - errorCatalogue[b].status);
}

/** Whether requests to this path count against the rate limit. */
export function isLimited(path: string): boolean {
  return ['/api/', '/v1/', '/a2a'].some((prefix) => path.startsWith(prefix));
}
