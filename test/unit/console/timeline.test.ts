import { describe, expect, it } from 'vitest';
import {
  callFactsOf,
  type EventKind,
  eventKinds,
  kindOf,
  originFactsOf,
  summaryOf,
} from '../../../src/console/timeline/event-words.ts';
import {
  eventAfterKey,
  rowsBefore,
  rowsInView,
  rowsOf,
} from '../../../src/console/timeline/timeline-rows.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { eventsFor } from '../../support/sessions/rig-events.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';

const all = { kinds: new Set(eventKinds), text: '' };
const only = (...kinds: EventKind[]) => ({ kinds: new Set(kinds), text: '' });

/** A turn with a tool that fails and a cancel, one event a second, eight seconds before the end. */
async function someEvents() {
  const tools = new DirectedTools({ look: {} });
  const rig = new SessionRig({ tools });
  const heard = rig.listen();
  await rig.say('Where is it?');
  (await rig.model.call(0)).askFor({ name: 'look', arguments: { at: 'Home' } });
  (await tools.call(0)).settle({ status: 'failed', reason: 'no light' });
  (await rig.model.call(1)).say('I');
  await (await rig.registry.session('s')).cancel('enough', CLIENT);
  await heard.event('turn.cancelled');
  const events = await eventsFor(rig);
  return events.map((event, index) => ({
    ...event,
    time: new Date(index * 1_000 + (index === events.length - 1 ? 8_000 : 0)).toISOString(),
  }));
}

describe('the rows of the timeline', () => {
  it('are the events in order, with the time since the one before, and long gaps between them', async () => {
    const rows = rowsOf(await someEvents(), all);
    expect(
      rows.map((row) => (row.kind === 'gap' ? `gap ${row.ms}` : `${row.event.event} ${row.sinceMs}`)),
    ).toEqual([
      'message null',
      'thinking 1000',
      'stepCompleted 1000',
      'toolCall 1000',
      'toolResult 1000',
      'gap 9000',
      'error 9000',
    ]);
  });

  it('are those of the chosen kinds that hold the text, in capitals or not', async () => {
    const events = await someEvents();
    const names = (filter: typeof all) =>
      rowsOf(events, filter).flatMap((row) => (row.kind === 'event' ? [row.event.event] : []));
    expect(names(only('tools'))).toEqual(['toolCall', 'toolResult']);
    expect(names(only('control', 'messages'))).toEqual(['message', 'error']);
    expect(names({ ...all, text: 'hOmE' })).toEqual(['toolCall']);
    expect(names({ ...only('messages'), text: 'home' })).toEqual([]);
  });

  it('tell in a line what happened', async () => {
    const events = await someEvents();
    expect(events.map((event) => `${kindOf(event)}: ${summaryOf(event)}`)).toEqual([
      'messages: Where is it?',
      'steps: the turn begins',
      'steps: step 1 asks for 1 tool call',
      'tools: look {"at":"Home"}',
      'tools: look failed: no light',
      'control: TURN_CANCELLED: enough',
    ]);
  });

  it('tell of a step its model, its tokens and why it ended early', async () => {
    const rig = new SessionRig();
    const heard = rig.listen();
    await rig.say('Tell me');
    const call = await rig.model.call(0);
    call.say('Once upon');
    call.end({
      finishReason: 'length',
      usage: { inputTokens: 1_204, outputTokens: 350, cachedTokens: 1_024, reasoningTokens: 210 },
    });
    await heard.event('turn.completed');
    const events = await eventsFor(rig);
    expect(events.map((event) => `${event.event}: ${callFactsOf(event).join('; ')}`)).toEqual([
      'message: ',
      'thinking: ',
      'stepCompleted: directed directed; 1,204 tokens in (1,024 cached), 350 out (210 reasoning); finish reason: length',
      'response: ',
    ]);
    expect(events.map(summaryOf)).toContain('step 1 ended at the token limit Once upon');
  });

  it('tell who did it and why; events of older logs tell neither', async () => {
    const events = await someEvents();
    expect(events.map((event) => [event.event, ...originFactsOf(event)].join('; '))).toEqual([
      'message; by a client',
      'thinking; by a client',
      'stepCompleted; by the agent',
      'toolCall; by the agent',
      'toolResult; by the agent; the tool failed',
      'error; by a client; cancelled',
    ]);
    const older = events.map(({ actor: _, cause: __, ...event }) => event);
    expect(older.flatMap(originFactsOf)).toEqual([]);
  });

  it('are in the page only around what is in view', () => {
    expect(rowsInView({ top: 0, height: 400 }, 10_000, 40)).toEqual({ first: 0, end: 22 });
    expect(rowsInView({ top: 200_000, height: 400 }, 10_000, 40)).toEqual({ first: 4_988, end: 5_022 });
    expect(rowsInView({ top: 400_000, height: 400 }, 3, 40)).toEqual({ first: 3, end: 3 });
  });

  it('lead from one to the next by keys, over the gaps', async () => {
    const rows = rowsOf(await someEvents(), all);
    expect(eventAfterKey(rows, 5, 'ArrowDown')).toBe(6);
    expect(eventAfterKey(rows, 6, 'ArrowDown')).toBe(6);
    expect(eventAfterKey(rows, 6, 'ArrowUp')).toBe(5);
    expect(eventAfterKey(rows, null, 'ArrowUp')).toBe(6);
    expect(eventAfterKey(rows, null, 'ArrowDown')).toBe(1);
    expect(eventAfterKey(rows, 3, 'Home')).toBe(1);
    expect(eventAfterKey(rows, 3, 'x')).toBeNull();
    expect(rowsBefore(rows, 6)).toBe(5);
  });
});
