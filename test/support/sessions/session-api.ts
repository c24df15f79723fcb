import { z } from 'zod';
import { PendingInput } from '../../../src/core/session/session-view.ts';
import { ResumableFrame } from '../../../src/wire/frames.ts';
import { Timestamp } from '../service/error-envelope.ts';

const item = {
  sessionId: z.string(),
  title: z.string().optional(),
  status: z.enum(['idle', 'busy']),
  head: z.int(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  waitingApprovals: z.strictObject({ count: z.int(), since: Timestamp }).optional(),
};

const HistoryEntry = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    content: z.string(),
    image: z.strictObject({ mimeType: z.string(), bytes: z.int() }).optional(),
    correction: z.literal(true).optional(),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.string(),
    toolCalls: z
      .array(
        z.strictObject({
          callId: z.string(),
          name: z.string(),
          arguments: z.record(z.string(), z.unknown()),
        }),
      )
      .optional(),
    cut: z.enum(['cancelled', 'failed']).optional(),
  }),
  z.strictObject({ role: z.literal('tool'), callId: z.string(), name: z.string(), content: z.string() }),
]);

/** Exactly the fields of the interface. */
const View = z.strictObject({
  session: z.strictObject({
    ...item,
    at: z.int(),
    turns: z.strictObject({
      requested: z.int(),
      completed: z.int(),
      failed: z.int(),
      cancelled: z.int(),
      waiting: z.int(),
    }),
    toolCalls: z.int(),
    openTurnId: z.string().nullable(),
    approvals: z.array(
      z.strictObject({
        turnId: z.string(),
        callId: z.string(),
        toolName: z.string(),
        serverId: z.string().nullable(),
        arguments: z.record(z.string(), z.unknown()),
        argumentsHash: z.string().regex(/^[0-9a-f]{64}$/),
        since: Timestamp,
        expiresAt: Timestamp.optional(),
      }),
    ),
    metadata: z.record(z.string(), z.string()).optional(),
    inputs: z.array(PendingInput.strict()).optional(),
    clientCalls: z
      .array(
        z.strictObject({
          turnId: z.string(),
          callId: z.string(),
          toolName: z.string(),
          arguments: z.record(z.string(), z.unknown()),
          since: Timestamp,
          expiresAt: Timestamp.optional(),
        }),
      )
      .optional(),
    history: z.array(HistoryEntry),
  }),
  timestamp: Timestamp,
});

const List = z.strictObject({ sessions: z.array(z.strictObject(item)), timestamp: Timestamp });

const EventsPage = z.strictObject({
  sessionId: z.string(),
  events: z.array(ResumableFrame.and(z.looseObject({ time: Timestamp }))),
  after: z.int(),
  head: z.int(),
  timestamp: Timestamp,
});

export type View = z.infer<typeof View>['session'];

export interface Service {
  fetch(path: string): Promise<Response>;
}

/** @param query such as `?at=3`. */
export async function viewOf(service: Service, sessionId: string, query = ''): Promise<View> {
  return View.parse(await okJson(service, `/api/sessions/${sessionId}${query}`)).session;
}

export async function listSessions(service: Service, query = ''): Promise<z.infer<typeof List>['sessions']> {
  return List.parse(await okJson(service, `/api/sessions${query}`)).sessions;
}

/** The first page of the session's log, as a resuming reader gets it. */
export async function eventsOf(
  service: Service,
  sessionId: string,
): Promise<z.infer<typeof EventsPage>['events']> {
  return EventsPage.parse(await okJson(service, `/api/sessions/${sessionId}/events?limit=1000`)).events;
}

/** The JSON of an answer. Throws with the answer if it is not 200. */
export async function okJson(service: Service, path: string): Promise<unknown> {
  const response = await service.fetch(path);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`GET ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}
