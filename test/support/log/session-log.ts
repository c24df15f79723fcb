import type { SessionEvent } from '../../../src/core/log/events.ts';
import type { SessionCommand } from '../../../src/core/session/session-commands.ts';
import { decide, type SessionPolicy } from '../../../src/core/session/session-decider.ts';
import { evolve, initialSessionState, type SessionState } from '../../../src/core/session/session-state.ts';
import { completeStep } from '../models/steps.ts';

const policy: SessionPolicy = { queuedMessages: 2, whenBusy: 'enqueue' };

/** A session without store, bus or machine: commands go in, events come out and are folded. */
export class SessionLog {
  readonly events: SessionEvent[] = [];
  state: SessionState = initialSessionState();

  /** @returns the events that the command added. */
  tell(command: SessionCommand): SessionEvent[] {
    const added = decide(this.state, command, policy);
    this.events.push(...added);
    this.state = added.reduce(evolve, this.state);
    return added;
  }

  tellAll(...commands: SessionCommand[]): this {
    for (const command of commands) this.tell(command);
    return this;
  }

  /** Asks for two calls of one tool; the second may be repeated. */
  askForTools(turnId: string, step = 1, text = ''): SessionEvent[] {
    const tool = { name: 'echo', toolName: 'echo', serverId: 'srv', policy: 'auto' } as const;
    const call = { ...tool, arguments: { a: 1 }, argumentsHash: 'a'.repeat(64) };
    const calls = [
      { ...call, callId: `${turnId}-once`, repeatable: false },
      { ...call, callId: `${turnId}-again`, repeatable: true },
    ];
    return this.tell(completeStep({ turnId, step, text, calls }));
  }
}

export const typesOf = (events: readonly { type: string }[]): string[] => events.map(({ type }) => type);
