import type { ErrorCode } from '../core/errors.ts';

/**
 * Every error that a client may get: its HTTP status and its condition. docs/protocol.md repeats this table;
 * a test compares the two.
 */
export const errorCatalogue = {
  INVALID_REQUEST: {
    status: 400,
    condition: 'Malformed JSON, wrong Content-Type, a bad value or an unknown URL.',
  },
  MISSING_FIELD: { status: 400, condition: 'A required field is absent; `details.field` names it.' },
  UNAUTHORIZED: {
    status: 401,
    condition: 'The credential is missing or not valid; `details.reason`. Only with `auth`.',
  },
  FORBIDDEN: {
    status: 403,
    condition:
      'The credential lacks `details.scope`, or all of `details.scopes`, or this Host or Origin header is not accepted.',
  },
  SERVER_NOT_FOUND: { status: 404, condition: 'MCP server unknown; `details.serverId`.' },
  TOOL_NOT_FOUND: {
    status: 404,
    condition: 'The server offers no such tool; `details.toolName`, `details.serverId`.',
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    condition: 'A limit was exceeded; `details.limit`, `remaining`, `resetTime`.',
  },
  TOOL_EXECUTION_FAILED: {
    status: 500,
    condition: 'The tool or its server failed; `details.toolName`, `serverId`, `reason`.',
  },
  AGENT_ERROR: {
    status: 500,
    condition: 'The agent could not answer; `details.reason` says why and what to do.',
  },
  INTERNAL_ERROR: { status: 500, condition: 'An unexpected error; the log has the cause.' },
  SESSION_NOT_FOUND: { status: 404, condition: 'There is no such session; `details.sessionId`.' },
  APPROVAL_NOT_FOUND: {
    status: 404,
    condition: 'No tool call with this id waits for approval; `details.callId`.',
  },
  CALL_NOT_FOUND: {
    status: 404,
    condition: 'No call with this id of a tool of the client waits for an answer; `details.callId`.',
  },
  INPUT_NOT_FOUND: {
    status: 404,
    condition: 'No question with this id of a tool server waits for an answer; `details.inputId`.',
  },
  AGENT_NOT_FOUND: { status: 404, condition: 'The service has no such agent; `details.agentId`.' },
  GRANT_NOT_FOUND: { status: 404, condition: 'The session has no such grant; `details.grantId`.' },
  API_KEY_NOT_FOUND: { status: 404, condition: 'There is no such API key; `details.keyId`.' },
  SESSION_BUSY: {
    status: 409,
    condition: 'A turn is running, and the message or the agent file says not to wait (`whenBusy: reject`).',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    condition: 'The idempotency key was used before, with another payload; `details.key`.',
  },
  OUTCOME_UNKNOWN: {
    status: 409,
    condition:
      'A request was interrupted, and nobody knows whether it took effect; `details.reason`, and `details.key` if its idempotency key cannot say.',
  },
  TURN_CANCELLED: {
    status: 409,
    condition: 'The turn was cancelled before it was answered; `details.reason`.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    condition:
      'The session queue or the disk is full, or the service is stopping or not ready; `details.retryAfter` in seconds.',
  },
  INVALID_MESSAGE_TYPE: { status: 400, condition: 'WebSocket only: the frame has an unsupported `type`.' },
} as const satisfies Record<ErrorCode, { status: number; condition: string }>;
