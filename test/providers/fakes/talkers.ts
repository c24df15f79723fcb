import { z } from 'zod';
import type { Image } from '../../../src/core/conversation/image.ts';
import type { RunningService } from '../../support/service/running-service.ts';
import type { Client } from '../../support/sockets/websocket-client.ts';
import { type Command, wordsOf } from './what-to-say.ts';

/** How a turn ended: with a reply, or with the reason why not. */
export type Ending = { readonly text: string } | { readonly reason: string };

/** A user of one session, over whatever the service is reached by. */
export interface Talker {
  readonly session: string;
  say(command: Command, image?: Image): Promise<Ending>;
}

const Answer = z.union([
  z.object({ success: z.literal(true), response: z.string() }),
  z.object({
    success: z.literal(false),
    error: z.object({ details: z.looseObject({ reason: z.string() }) }),
  }),
]);

export function overRest(service: RunningService, session: string): Talker {
  return {
    session,
    async say(command, image) {
      const message = wordsOf(session, command);
      const body = { message, sessionId: session, ...(image && { imageData: image }) };
      const answer = Answer.parse(await (await service.post('/api/message-sync', body)).json());
      return answer.success ? { text: answer.response } : { reason: answer.error.details.reason };
    },
  };
}

/** @param client of that session. */
export function overSocket(client: Client, session: string): Talker {
  let turns = 0;
  return {
    session,
    async say(command, image) {
      turns += 1;
      client.say(wordsOf(session, command), image && { imageData: image });
      const frames = await client.settled(turns);
      const last = frames.at(-1);
      if (last?.event === 'response') return { text: last.data.content };
      if (last?.event === 'error') return { reason: String(last.data.details.reason) };
      throw new Error(`a turn ended with ${last?.event}`);
    },
  };
}
