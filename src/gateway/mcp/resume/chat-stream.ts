import { z } from 'zod';
import { SessionId, TurnId } from '../../../core/ids.ts';
import type { RequestContext } from '../../../core/request/request-context.ts';
import { SealedError, type SecretBox } from '../../../ports/secret-box.ts';
import { IdempotencyKeyId } from '../../../wire/requests.ts';
import { CALL_KEY } from '../agent/call-key.ts';
import { CHAT_TOOL_NAME } from '../agent/chat-tool-name.ts';
import type { McpBody } from '../json-rpc-body.ts';

const JsonRpcId = z.union([z.string(), z.number()]);

/** A call of `chat_with_agent`: all that is needed to tell its stream from the log. */
export interface ChatStream {
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  /** By which the client knows its answer. */
  readonly requestId: string | number;
  /** Null if the client wants no progress. */
  readonly progressToken: string | number | null;
  /** The idempotency key of the call, if it has one: a call that was made before has another turn. */
  readonly keyId?: string | undefined;
}

const ToSession = z.object({
  name: z.literal(CHAT_TOOL_NAME),
  arguments: z.looseObject({ sessionId: SessionId.optional() }).optional(),
});
const AnyChatCall = z.object({ method: z.literal('tools/call'), params: ToSession });
const ChatCall = AnyChatCall.extend({
  id: JsonRpcId,
  params: ToSession.extend({
    _meta: z
      .looseObject({
        progressToken: JsonRpcId.optional(),
        // A call with one that cannot be a key is refused later.
        [CALL_KEY]: IdempotencyKeyId.optional().catch(undefined),
      })
      .optional(),
  }),
});

/** Null if the body is something else. A batch has one stream for all its calls, so it is something else, too. */
export function chatStreamOf({ json }: McpBody, ownSessionId: SessionId): ChatStream | null {
  const { data } = ChatCall.safeParse(json);
  if (!data) return null;
  const { id: requestId, params } = data;
  return {
    sessionId: sessionIn(params, ownSessionId),
    turnId: crypto.randomUUID(),
    requestId,
    progressToken: params._meta?.progressToken ?? null,
    keyId: params._meta?.[CALL_KEY],
  };
}

/** The sessions that the calls of a body talk to, those of a batch included: their answers are for who may read them. */
export function sessionsOf({ messages }: McpBody, ownSessionId: SessionId): SessionId[] {
  const calls = messages.flatMap((message) => AnyChatCall.safeParse(message).data ?? []);
  return [...new Set(calls.map(({ params }) => sessionIn(params, ownSessionId)))];
}

function sessionIn(params: z.infer<typeof ToSession>, ownSessionId: SessionId): SessionId {
  return params.arguments?.sessionId ?? ownSessionId;
}

/** Short, because each event of the stream has it. */
const Sealed = z.tuple([SessionId, TurnId, JsonRpcId, JsonRpcId.nullable(), IdempotencyKeyId.optional()]);

/** Encrypted for this client with the key of the service, so it cannot be forged or used by others. */
export function sealChat(secrets: SecretBox, chat: ChatStream, client: RequestContext): Promise<string> {
  const { sessionId, turnId, requestId, progressToken, keyId } = chat;
  const key: [string?] = keyId === undefined ? [] : [keyId];
  const fields: z.infer<typeof Sealed> = [sessionId, turnId, requestId, progressToken, ...key];
  return secrets.seal(JSON.stringify(fields), ownerOf(client));
}

/** Null if this client was not given the text. */
export async function openChat(
  secrets: SecretBox,
  sealed: string,
  client: RequestContext,
): Promise<ChatStream | null> {
  try {
    const opened: unknown = JSON.parse(await secrets.open(sealed, ownerOf(client)));
    const [sessionId, turnId, requestId, progressToken, keyId] = Sealed.parse(opened);
    return { sessionId, turnId, requestId, progressToken, keyId };
  } catch (error) {
    if (error instanceof SealedError) return null;
    throw error;
  }
}

function ownerOf({ tenant, principal, agent }: RequestContext): string {
  return JSON.stringify(['mcp-event-id', tenant, principal, agent]);
}
