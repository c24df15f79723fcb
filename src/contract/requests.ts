import { z } from 'zod';
import { McpServerConfig, McpServerName } from './agent-config.ts';
import { DEFAULT_SESSION_ID, SessionId } from './ids.ts';
import { Image } from './image.ts';

const session = SessionId.default(DEFAULT_SESSION_ID);
const text = z.string().min(1, 'must not be empty');

/** Body of `POST /api/message-sync`. */
export const MessageSyncRequest = z.object({
  message: text,
  imageData: Image.optional(),
  sessionId: session,
});

/** Body of `POST /api/message`. */
export const MessageRequest = z.object({
  message: text,
  imageData: z
    .undefined({ error: 'images are accepted by /api/message-sync and over WebSocket only' })
    .optional(),
  sessionId: session,
});

/** Body of `POST /api/reset`. */
export const ResetRequest = z.object({ sessionId: session });

/** Body of `POST /api/connect-server`. */
export const ConnectServerRequest = z.object({ name: McpServerName, config: McpServerConfig });

/** `{"type":"message"}` from a WebSocket client. */
export const MessageFrame = z.object({
  type: z.literal('message'),
  content: text,
  imageData: Image.optional(),
});

/** `{"type":"reset"}` from a WebSocket client. */
export const ResetFrame = z.object({ type: z.literal('reset') });

export type MessageFrame = z.infer<typeof MessageFrame>;
export type ResetFrame = z.infer<typeof ResetFrame>;
