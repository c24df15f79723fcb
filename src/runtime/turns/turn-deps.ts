import type { AgentVersion } from '../../core/agent-description.ts';
import type { SessionId } from '../../core/ids.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import type { SessionCommand } from '../../core/session/session-commands.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import type { TurnLimits } from '../../core/turn/turn-limits.ts';
import type { LanguageModel } from '../../ports/language-model.ts';
import type { Logger } from '../../ports/logger.ts';
import type { TurnTools } from '../../ports/turn-tools.ts';
import type { Clock } from '../../timing/clock.ts';
import type { LocalBus } from '../bus/local-bus.ts';
import type { LiveMachines } from '../machines/live-machines.ts';
import type { CausingEvents } from './causing-events.ts';
import type { RefCount } from './ref-count.ts';

/** What every turn is run with, as one version of the agent file says. */
export interface TurnDeps extends TurnLimits {
  /** Left out in tests and replays. */
  readonly agentVersion?: AgentVersion;
  /** Counts the turns that run with this version. */
  readonly uses?: RefCount;
  readonly model: LanguageModel;
  readonly systemPrompt: string;
  /** Most tokens of system prompt and conversation that the model is shown. */
  readonly historyTokens: number;
  /** Whether the log keeps what the model thinks aloud. */
  readonly keepReasoning: boolean;
  readonly catalog: TurnTools;
  readonly bus: Pick<LocalBus, 'publish'>;
  readonly log: Logger;
  readonly machines: LiveMachines;
  /** Whether the model is called while the log still writes the message. Otherwise it is called after that. */
  readonly callsEarly?: boolean;
  /** A simulated one, in tests and replays. */
  readonly clock?: Clock;
}

/** What a running turn sees of its session. */
export interface TurnSession {
  readonly sessionId: SessionId;
  readonly state: SessionState;
  /** Hands a command to the session's mailbox. */
  readonly report: (command: SessionCommand, origin: Origin) => void;
  /** The events that effects follow from. */
  readonly causes: Pick<CausingEvents, 'last' | 'ofCall'>;
}
