import { answeredRun } from './answered-run.ts';
import type { AskedRun } from './asked-run.ts';
import { joinedRun } from './joined-run.ts';
import { messageRun } from './message-run.ts';
import { resumedRun } from './resumed-run.ts';
import type { RunPlan } from './run-events.ts';
import { conversationIn } from './run-input.ts';
import { asRunError } from './run-key.ts';

/** Does what the input asks for. @returns what the run has to tell. */
export async function beginRun(asked: AskedRun): Promise<RunPlan> {
  try {
    return await planOf(asked);
  } catch (error) {
    throw asRunError(error, asked.input);
  }
}

async function planOf(asked: AskedRun): Promise<RunPlan> {
  const { bus, context, sessionId, input } = asked;
  const { messages, resume = [] } = input;
  if (resume.length > 0) return resumedRun(asked, resume);
  const { head } = await bus.send('session.position', { sessionId }, context);
  const newest = conversationIn(messages).at(-1);
  if (newest?.role === 'user') return messageRun(asked, head);
  if (newest?.role !== 'tool') return joinedRun(asked);
  if (head === 0) return messageRun(asked, head);
  return (await answeredRun(asked)) ?? joinedRun(asked);
}
