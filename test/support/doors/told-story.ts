import { z } from 'zod';
import type { SessionClient } from '../../../src/client/session-client.ts';
import { currentEvents } from '../../../src/core/log/event-codec.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import { toolResultText } from '../../../src/core/tool-call/tool-result-text.ts';
import { spokenText } from '../../../src/core/turn/step-parts.ts';

const Line = z.object({
  v: z.int(),
  sessionId: z.string(),
  seq: z.int(),
  meta: z.looseObject({
    id: z.string(),
    correlationId: z.string(),
    actor: z.object({ kind: z.string(), principal: z.string().optional() }),
  }),
  event: z.looseObject({ type: z.string() }),
});

/** An export of a session as lines that say who did what. @throws unless each event is there once, of one session. */
export function toldStory(exported: string): string[] {
  const lines = exported
    .trimEnd()
    .split('\n')
    .map((line) => Line.parse(JSON.parse(line)));
  const ids = new Set(lines.map(({ meta }) => meta.id));
  const sessions = new Set(lines.map(({ sessionId }) => sessionId));
  if (ids.size !== lines.length || sessions.size !== 1) throw new Error(`not one story: ${exported}`);
  return lines.map(({ v, seq, meta, event: stored }, index) => {
    if (seq !== index + 1) throw new Error(`event ${index + 1} has the seq ${seq}`);
    const { event } = currentEvents.parse(stored, meta, v);
    const isOfTurn = 'turnId' in event && event.turnId === meta.correlationId;
    if (!isOfTurn) throw new Error(`${event.type} is not of the turn that it says it came of`);
    return `${meta.actor.principal ?? meta.actor.kind}: ${event.type}${detailOf(event)}`;
  });
}

function detailOf(event: SessionEvent): string {
  switch (event.type) {
    case 'turn.requested':
      return ` "${event.text}"`;
    case 'step.completed':
      return ` "${spokenText(event.parts)}"`;
    case 'turn.completed':
      return ` "${event.content}"`;
    case 'tool-call.succeeded':
      return ` "${toolResultText(event.result)}"`;
    default:
      return '';
  }
}

/** What a client by WebSocket has read of the conversation when so many turns are over. */
export async function readBy(socket: SessionClient, turns: number): Promise<string[]> {
  const texts: string[] = [];
  let over = 0;
  for await (const { event, data } of socket) {
    if (event === 'message' || event === 'stepCompleted') texts.push(data.content.trim());
    if (event === 'response') over += 1;
    if (over === turns) break;
  }
  return texts;
}
