import { z } from 'zod';
import type { SessionId } from '../../core/ids.ts';
import type { ExportedFile } from '../transfer/exported-session.ts';
import type { RemoteService } from './remote-service.ts';
import { readAnswer, requestService, wholeBody } from './request-service.ts';

const PAGE_SESSIONS = 1_000;

/** Services of other versions may have other fields. */
export const AnySession = z.looseObject({ sessionId: z.string() });

/** All sessions of a running service, in the order of their ids, with the fields of the schema. */
export async function* listSessions<T extends { readonly sessionId: string }>(
  service: RemoteService,
  schema: z.ZodType<T>,
): AsyncGenerator<T, void, void> {
  const Page = z.object({ sessions: z.array(schema) });
  let sessions: T[];
  let after = '';
  do {
    ({ sessions } = await readAnswer(service, `api/sessions?limit=${PAGE_SESSIONS}${after}`, Page));
    yield* sessions;
    after = `&after=${encodeURIComponent(sessions.at(-1)?.sessionId ?? '')}`;
  } while (sessions.length === PAGE_SESSIONS);
}

/** The export of a session by a running service. */
export async function downloadExport(service: RemoteService, sessionId: SessionId): Promise<ExportedFile> {
  const response = await requestService(service, `api/sessions/${encodeURIComponent(sessionId)}/export`);
  const name = `session ${sessionId} at ${service.url}`;
  return { name, chunks: wholeBody(response, name) };
}
