import { z } from 'zod';
import { Image } from '../core/conversation/image.ts';
import { imageTypeOf, wrongTypeOf } from '../core/conversation/image-type.ts';
import { DEFAULT_SESSION_ID, SessionId } from '../core/ids.ts';
import { inOneLine } from '../core/session/session-title.ts';
import { WhenBusy } from '../core/session/when-busy.ts';
import { ClientTool, MAX_CLIENT_TOOLS } from '../core/tool-call/client-tool.ts';
import { InputAction } from '../core/tool-call/input-events.ts';
import { ToolResult } from '../core/tool-call/tool.ts';
import { McpServerConfig, McpServerName } from '../core/tool-server/mcp-server-config.ts';
import { checkContentBlocks } from './content-block.ts';

/** Many clients send null for an absent field. */
export const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => value ?? undefined, schema.optional()).optional();

const session = optional(SessionId)
  .transform((sessionId) => sessionId ?? DEFAULT_SESSION_ID)
  .pipe(SessionId)
  .describe('The conversation; `default` if absent.');

/** An `Idempotency-Key` or `clientMessageId`. */
export const IdempotencyKeyId = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
  .describe('A request that is repeated with the same key is executed once.');

/** In a query or a path: decimal digits. */
export const WholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, {
    error: ({ input }) =>
      /^\d+$/.test(String(input)) ? 'must be a whole number of at most 15 digits' : 'must be a whole number',
  })
  .transform(Number)
  .pipe(z.int().min(0));

const flag = z
  .enum(['0', '1'], 'must be 1, or 0')
  .transform(Number)
  .pipe(z.literal([0, 1]))
  .default(0);

const reasoning = flag.describe(
  '1: `thinking` frames with `reasoning` also stream the reasoning of the model.',
);

const givenPageSize = WholeNumber.pipe(z.int().min(1).max(1_000));
export const DEFAULT_PAGE_SIZE = 100;
const pageSize = givenPageSize.default(DEFAULT_PAGE_SIZE);

const text = z.string().min(1, 'must not be empty').describe('The message to the agent.');

/** An image as a client sends it: its first bytes say the type where the client does not. */
export const SentImage = z
  .object({
    base64: Image.shape.base64,
    mimeType: optional(Image.shape.mimeType).describe('If absent, the first bytes of the image say it.'),
  })
  .transform(({ base64, mimeType }, context): Image => {
    const known = mimeType ?? imageTypeOf({ base64 });
    const wrong = known && wrongTypeOf({ base64, mimeType: known });
    if (known && wrong === undefined) return { base64, mimeType: known };
    const message = wrong ?? 'is needed, because the first bytes are those of no PNG, JPEG, GIF or WebP';
    context.addIssue({ code: 'custom', path: ['mimeType'], message });
    return z.NEVER;
  });

const clientTools = optional(
  z
    .array(ClientTool)
    .max(MAX_CLIENT_TOOLS)
    .refine(
      (tools) => new Set(tools.map(({ name }) => name)).size === tools.length,
      'must have different names',
    ),
).describe(
  'Tools that the client lends to the agent for this message. A call of one waits until the client answers it.',
);

const outputSchema = optional(z.record(z.string(), z.unknown())).describe(
  'A JSON Schema. The reply is JSON that fits it, or the turn fails.',
);

/** What came of a call of a tool of the client. */
const callAnswer = {
  content: z
    .union([z.string(), ToolResult.shape.content], 'must be a text, or a list of MCP content blocks')
    .superRefine(checkContentBlocks)
    .describe('The result: a text, or MCP content blocks.'),
  structuredContent: optional(z.record(z.string(), z.unknown())),
  isError: optional(z.boolean()).describe('Whether the tool failed. The model is told.'),
};

/** Body of `POST /api/sessions/{id}/inputs/{inputId}`. */
export const InputRequest = z.object({
  action: InputAction,
  content: optional(z.record(z.string(), z.unknown())).describe(
    'Only with `accept`, and only for a question with a form: its fields. Those that are absent get their defaults.',
  ),
});

/** Body of `POST /api/sessions/{id}/calls/{callId}`. */
export const CallAnswerRequest = z.object(callAnswer);
export type CallAnswerRequest = z.infer<typeof CallAnswerRequest>;

/** Body of `POST /api/message-sync`. */
export const MessageSyncRequest = z.object({
  message: text,
  imageData: optional(SentImage),
  sessionId: session,
  whenBusy: optional(WhenBusy),
  clientTools,
  outputSchema,
});

/** Body of `POST /api/message`. */
export const MessageRequest = z.object({
  message: text,
  imageData: z
    .null({ error: 'images are accepted by /api/message-sync and over WebSocket only' })
    .optional()
    .describe('Not accepted here. Send images to /api/message-sync or over WebSocket.'),
  sessionId: session,
  whenBusy: optional(WhenBusy),
  clientTools,
  outputSchema,
});

/** Body of `POST /api/reset`. */
export const ResetRequest = z.object({ sessionId: session });

/** Body of `POST /api/sessions/{id}/cancel`. */
export const CancelRequest = z.object({ reason: optional(z.string().min(1).max(500)) });

/** Query of `GET /api/sessions/{id}/events`. */
export const EventsQuery = z.object({
  after: WholeNumber.default(0).describe('seq of the last event that the client has.'),
  offset: WholeNumber.default(0).describe(
    'Of an event stream: how much of the running reply the client has, in UTF-16 code units.',
  ),
  limit: givenPageSize
    .optional()
    .describe(
      'Maximum number of events in the page, 100 if absent. An event stream has no pages, and refuses it.',
    ),
  reasoning,
  time: flag.describe(
    '1: the frames of durable events in an event stream carry their `time`. Those of a page always do.',
  ),
});
export type EventsQuery = z.infer<typeof EventsQuery>;

/** Query of `GET /api/statecharts`. */
export const StatechartsQuery = z.object({
  session: SessionId.optional().describe('Only the machines of this session.'),
});

/** Query of `GET /api/mcp/servers/{id}/logs`. */
export const ServerLogQuery = z.object({
  after: WholeNumber.default(0).describe('`seq` of the last line that the client has.'),
});

/** Query of `GET /oauth/callback`. Authorization servers add parameters of their own, which are ignored. */
export const OAuthCallbackQuery = z.object({
  state: z.string().min(1),
  code: z.string().min(1).optional(),
  /** The issuer (RFC 9207). */
  iss: z.string().optional(),
  error: z.string().optional(),
});

/** Query of `GET /metrics/samples`. */
export const MetricSamplesQuery = z.object({
  after: WholeNumber.default(0).describe('`last` of the previous answer: only later samples are sent.'),
});

/** Query of `GET /api/sessions`. */
export const SessionsQuery = z.object({
  after: SessionId.optional().describe('The last session id of the previous page.'),
  limit: pageSize.describe('Maximum number of sessions in the page.'),
  query: z
    .string()
    .max(200)
    .optional()
    .describe('Only sessions whose id or title contains this text; upper and lower case are the same.'),
});

/** Query of `GET /api/sessions/{id}`. */
export const SessionQuery = z.object({
  at: WholeNumber.optional().describe(
    'Shows the session as it was after the event with this seq; as it is now, if absent.',
  ),
});

/** Query of `GET /api/approvals`. */
export const ApprovalsQuery = z.object({ limit: pageSize.describe('Maximum number of approvals.') });

/** Query of `GET /api/inputs`. */
export const InputsQuery = z.object({ limit: pageSize.describe('Maximum number of questions.') });

const ArgumentsHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be the argumentsHash of the toolApproval event: 64 hexadecimal digits')
  .describe('Hash of the arguments that the approver saw. Refused if the call has other arguments.');
const denialReason = optional(z.string().min(1).max(500));

/** Body of `POST /api/sessions/{id}/approvals/{callId}`. */
export const ApprovalRequest = z.discriminatedUnion(
  'decision',
  [
    z.object({ decision: z.literal('approve'), argumentsHash: optional(ArgumentsHash) }),
    z.object({ decision: z.literal('deny'), reason: denialReason }),
  ],
  'must be approve or deny',
);

/** Body of `POST /api/sessions/{id}/fork`. */
export const ForkRequest = z.object({
  at: optional(z.int('must be a whole number').min(1, 'must be 1 or more: the seq of an event')),
  sessionId: optional(SessionId),
});

const MAX_TITLE = 200;

/** Body of `PATCH /api/sessions/{id}`. */
export const RenameRequest = z.object({
  title: z
    .string()
    // A text that is far too long need not be put in one line to be refused.
    .transform((text) => (text.length > 10 * MAX_TITLE ? text : inOneLine(text)))
    .pipe(z.string().max(MAX_TITLE, `must have at most ${MAX_TITLE} characters`))
    .transform((title) => title || null)
    .nullable()
    .describe('The title, in one line. If it is empty or null, it is derived from the first message again.'),
});

/** Path of `GET /api/sessions/{sessionId}/images/{seq}`. */
export const ImagePath = z.object({
  sessionId: SessionId,
  seq: WholeNumber.pipe(z.int().min(1, 'must be 1 or more')),
});

/** After an even number of backslashes: after an odd one, it is the text `\u0000`. */
const NUL_IN_JSON = /(?<!\\)(?:\\\\)*\\u0000/;

/** Secrets are looked for in a configuration whenever somebody is shown it. */
const MAX_CONFIG_CHARACTERS = 65_536;

/** Body of `POST /api/connect-server`. */
export const ConnectServerRequest = z
  .object({ name: McpServerName, config: z.preprocess(givenConfig, McpServerConfig) })
  .refine(({ config }) => config.disabled !== true, {
    path: ['config', 'disabled'],
    error: 'must be false or left out, because the server is to be connected now',
  })
  .refine(({ config }) => JSON.stringify(config).length <= MAX_CONFIG_CHARACTERS, {
    path: ['config'],
    error: `must have at most ${MAX_CONFIG_CHARACTERS} characters as JSON: put long values into a file of the server`,
    abort: true,
  })
  .refine(({ config }) => !NUL_IN_JSON.test(JSON.stringify(config)), {
    path: ['config'],
    error: 'must not contain NUL characters: neither processes nor HTTP can be given them',
  });

/** Agent files may leave the type out, requests may not: programs write them. */
function givenConfig(config: unknown, context: z.RefinementCtx): unknown {
  if (typeof config !== 'object' || config === null || Array.isArray(config)) return config;
  const given = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null));
  if (!('type' in given))
    context.addIssue({ code: 'custom', path: ['type'], message: 'must be stdio or http', input: given });
  return given;
}

/**
 * Query of the WebSocket. With `after` the client resumes: it has every event up to that seq, and the first
 * `offset` UTF-16 code units of the text of the step after it.
 */
export const StreamQuery = z
  .object({
    session,
    after: WholeNumber.optional().describe('To resume: seq of the last event that the client has.'),
    offset: WholeNumber.optional().describe(
      'To resume: how much of the text after that event the client has, in UTF-16 code units.',
    ),
    reasoning,
    time: flag.describe('1: frames of durable events carry their `time`. Needs `after`.'),
    statecharts: flag.describe(
      '1: the states of all machines, as `machines` and `machine` frames. Needs `after`.',
    ),
  })
  .superRefine(({ after, offset, time, statecharts }, context) => {
    if (after !== undefined) return;
    const withoutAfter = { offset: offset !== undefined, time: time === 1, statecharts: statecharts === 1 };
    for (const [name, isGiven] of Object.entries(withoutAfter))
      if (isGiven)
        context.addIssue({ code: 'custom', path: ['after'], message: `is needed together with ${name}` });
  });
export type StreamQuery = z.infer<typeof StreamQuery>;

/** `{"type":"message"}` from a WebSocket client. */
export const MessageFrame = z.object({
  type: z.literal('message'),
  content: text,
  imageData: optional(SentImage),
  whenBusy: optional(WhenBusy),
  clientTools,
  outputSchema,
  /** A message that is repeated with the same id is answered once. */
  clientMessageId: optional(IdempotencyKeyId),
});

/** Of a client that resumes: the service answers the command with `done`, or with an `error`, that has the same id. */
const commandId = optional(IdempotencyKeyId).describe(
  'A client that resumes gets a `done` or an `error` frame with this id.',
);

/** `{"type":"cancel"}` from a WebSocket client: cancels the running turn. */
export const CancelFrame = z.object({ type: z.literal('cancel'), commandId });

/** `{"type":"approve"}` from a WebSocket client: approves a waiting tool call. */
export const ApproveFrame = z.object({
  type: z.literal('approve'),
  callId: z.string().min(1),
  argumentsHash: optional(ArgumentsHash),
  commandId,
});

/** `{"type":"deny"}` from a WebSocket client: denies a waiting tool call. */
export const DenyFrame = z.object({
  type: z.literal('deny'),
  callId: z.string().min(1),
  reason: denialReason,
  commandId,
});

/** `{"type":"toolResult"}` from a WebSocket client: what came of a call of a tool that the client has lent. */
export const ToolResultFrame = z.object({
  type: z.literal('toolResult'),
  callId: z.string().min(1),
  ...callAnswer,
  commandId,
});

/** `{"type":"inputAnswer"}` from a WebSocket client: answers what a tool server asks. */
export const InputAnswerFrame = z.object({
  type: z.literal('inputAnswer'),
  inputId: z.string().min(1),
  ...InputRequest.shape,
  commandId,
});

/** `{"type":"reset"}` from a WebSocket client. */
export const ResetFrame = z.object({ type: z.literal('reset'), commandId });

/** `{"type":"auth"}` from a WebSocket client: goes on with another token of the same principal. */
export const AuthFrame = z.object({
  type: z.literal('auth'),
  token: z.string().min(1).describe('An API key, or a token of the identity provider.'),
  commandId,
});

export type MessageFrame = z.infer<typeof MessageFrame>;
export type ApproveFrame = z.infer<typeof ApproveFrame>;
export type DenyFrame = z.infer<typeof DenyFrame>;
export type ToolResultFrame = z.infer<typeof ToolResultFrame>;
export type InputAnswerFrame = z.infer<typeof InputAnswerFrame>;
export type ResetFrame = z.infer<typeof ResetFrame>;
export type CancelFrame = z.infer<typeof CancelFrame>;
export type AuthFrame = z.infer<typeof AuthFrame>;
