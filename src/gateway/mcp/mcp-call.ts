import {
  CLIENT_CAPABILITIES_META_KEY,
  LOG_LEVEL_META_KEY,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { TurnId } from '../../core/ids.ts';
import { inTrace, type RequestContext } from '../../core/request/request-context.ts';
import { traceContextOf } from '../../core/trace.ts';
import type { Logger } from '../../ports/logger.ts';
import type { SessionReader } from '../security/held-session.ts';
import { askClient, type ClientReply } from './ask-client.ts';
import { askerOf } from './mcp-asker.ts';
import { LOG_LEVELS, type LogLevel, type McpObject } from './mcp-object.ts';
import type { Answerers } from './sessions/answerers.ts';

/** `legacy`: up to 2025-11-25, with sessions. `modern`: from 2026-07-28, each request for itself. */
export type McpEra = 'legacy' | 'modern';

/** One request of an MCP client, while it is answered. */
export interface McpCall {
  readonly era: McpEra;
  /** Who asks, with what rights, and in which trace. */
  readonly context: RequestContext;
  /** Of the stream that answers the call. Absent where clients are not authenticated. */
  readonly credential?: SessionReader['credential'];
  /** Aborted when the client cancels the call. */
  readonly signal: AbortSignal;
  /** `_meta` of the request, without the fields that the protocol itself reads. */
  readonly meta: McpObject;
  readonly clientCapabilities: McpObject;
  /** The conversation of this client's MCP session. Absent in the newer era, which has no sessions. */
  readonly ownSessionId?: string | undefined;
  /** The turn that this call begins, where its id is already known to the client. */
  readonly turnId?: TurnId | undefined;
  /** Newer era: what the client answered to the questions of an earlier result `input_required`, or of a task. */
  readonly input?: McpInput | undefined;
  /** Older era: asks the client, such as `elicitation/create`. Rejects if it does not answer. */
  readonly ask?: (method: string, params: McpObject, over?: AbortSignal) => Promise<ClientReply>;
  /** Does nothing if the client has not asked for progress. */
  progress(report: {
    readonly progress: number;
    readonly total?: number | undefined;
    readonly message?: string | undefined;
  }): void;
  /** The least severe log messages that the client wants. Absent where it has not said. */
  readonly logLevel: LogLevel | undefined;
  /** Sends a log message, if the client wants messages of this level. */
  log(level: LogLevel, logger: string | undefined, data: unknown): void;
}

export interface McpInput {
  /** By the keys of the questions. */
  readonly responses: Readonly<Record<string, unknown>>;
  /** What the result gave the client to bring back. It may have been forged. */
  readonly state?: string | undefined;
}

/** What a call needs to know of the server that it came to. */
export interface CallServer {
  readonly era: McpEra;
  readonly opener: RequestContext;
  readonly ownSessionId?: string | undefined;
  readonly turnOf?: ((requestId: string | number) => TurnId | undefined) | undefined;
  readonly answerers?: Answerers | undefined;
  readonly clientCapabilities: () => McpObject;
  /** The level that a client of the older era has set. */
  readonly level: () => LogLevel | undefined;
  readonly log: Logger;
}

const Level = z.enum(LOG_LEVELS).optional().catch(undefined);
const Capabilities = z.looseObject({}).catch({});

export function mcpCall(server: CallServer, { mcpReq, http }: ServerContext): McpCall {
  const { era, opener, answerers, log } = server;
  const { context: asking, credential } = askerOf(http?.authInfo, opener);
  const meta: McpObject = mcpReq._meta ?? {};
  const context = inTrace(asking, traceContextOf(meta));
  const envelope: McpObject = { ...mcpReq.envelope };
  const isModern = era === 'modern';
  const logLevel = isModern ? Level.parse(envelope[LOG_LEVEL_META_KEY]) : server.level();
  const notify = (method: string, params: McpObject): void => {
    mcpReq.notify({ method, params: { ...params } }).catch((err: unknown) => {
      log.debug({ method, err }, 'an MCP client could not be notified');
    });
  };
  return {
    era,
    context,
    credential,
    signal: mcpReq.signal,
    meta,
    clientCapabilities: isModern
      ? Capabilities.parse(envelope[CLIENT_CAPABILITIES_META_KEY])
      : server.clientCapabilities(),
    ownSessionId: server.ownSessionId,
    turnId: server.turnOf?.(mcpReq.id),
    logLevel,
    input: isModern ? inputOf(mcpReq) : undefined,
    ...(!isModern && {
      ask: (method, params, over) =>
        askClient({ mcpReq, context, opener, answerers }, { method, params, over }),
    }),
    progress(report) {
      const { progressToken } = meta;
      if (progressToken !== undefined) notify('notifications/progress', { progressToken, ...report });
    },
    log(level, logger, data) {
      // A client of the newer era that names no level wants no messages.
      if (isModern && logLevel === undefined) return;
      if (logLevel !== undefined && LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(logLevel)) return;
      notify('notifications/message', { level, ...(logger !== undefined && { logger }), data });
    },
  };
}

function inputOf({ inputResponses, requestState }: ServerContext['mcpReq']): McpInput | undefined {
  const state = requestState<unknown>();
  if (inputResponses === undefined && state === undefined) return undefined;
  return { responses: inputResponses ?? {}, ...(typeof state === 'string' && { state }) };
}
