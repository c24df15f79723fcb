import type { Envelope } from '../../core/log/envelope.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import { outcomeOf } from '../../core/session/session-state.ts';
import { addUsage, NO_TOKENS } from '../../core/turn/token-usage.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { LocalBus } from '../../runtime/bus/local-bus.ts';

/** Counts the signals of all sessions in plain numbers, read when somebody asks. A chunk costs one increment. */
export function countSignals(bus: LocalBus, metrics: Metrics): void {
  const turns = { completed: 0, failed: 0, cancelled: 0 };
  let tokens = NO_TOKENS;
  let [chunks, steps, resumed] = [0, 0, 0];
  const count = ({ event }: Envelope): void => {
    const ended = outcomeOf(event);
    if (ended) turns[ended.outcome.status] += 1;
    if (event.type === 'turn.resumed') resumed += 1;
    if (event.type === 'step.completed') steps += 1;
    if ('usage' in event && event.usage) tokens = addUsage(tokens, event.usage);
  };
  bus.onEverySession((signal: SessionSignal) => {
    if ('event' in signal) count(signal);
    else if (signal.type === 'reply.chunk') chunks += 1;
  });
  metrics.read('agent_turns_total', () =>
    Object.entries(turns).map(([outcome, value]) => ({ labels: { outcome }, value })),
  );
  metrics.read('agent_tokens_total', () => {
    const {
      inputTokens: input,
      outputTokens: output,
      cachedTokens: cached = 0,
      reasoningTokens: reasoning = 0,
    } = tokens;
    return Object.entries({ input, output, cached, reasoning }).map(([direction, value]) => ({
      labels: { direction },
      value,
    }));
  });
  metrics.read('agent_chunks_total', () => [{ labels: {}, value: chunks }]);
  metrics.read('agent_steps_total', () => [{ labels: {}, value: steps }]);
  metrics.read('agent_turns_resumed_total', () => [{ labels: {}, value: resumed }]);
}
