import { z } from 'zod';
import { ResumableFrame } from '../../../src/wire/frames.ts';
import { okJson, type Service } from './session-api.ts';

const Page = z.object({ events: z.array(z.looseObject({ time: z.string() })), head: z.int() });

/** All events of a session, page by page as JSON, in the form they have on a stream. */
export async function readLog(service: Service, sessionId: string): Promise<ResumableFrame[]> {
  const events: ResumableFrame[] = [];
  for (;;) {
    const path = `/api/sessions/${sessionId}/events?after=${events.length}&limit=1000`;
    const page = Page.parse(await okJson(service, path));
    events.push(...page.events.map(({ time, ...frame }) => ResumableFrame.parse(frame)));
    if (events.length >= page.head) return events;
  }
}
