import type { Metrics } from '../../ports/metrics.ts';
import { PushAddressError, type PushSender } from '../../ports/push-sender.ts';

/** Wraps the sender of push notifications: counts its attempts. */
export function measuredPushes(sender: PushSender, metrics: Metrics): PushSender {
  const count = (outcome: 'accepted' | 'refused' | 'unanswered' | 'forbidden'): void =>
    metrics.add('agent_push_attempts_total', { outcome });
  return {
    check: (url) => sender.check(url),
    async send(message, signal) {
      try {
        const answer = await sender.send(message, signal);
        count(answer.status >= 200 && answer.status < 300 ? 'accepted' : 'refused');
        return answer;
      } catch (error) {
        if (error instanceof PushAddressError) count('forbidden');
        else if (!signal.aborted) count('unanswered');
        throw error;
      }
    },
  };
}
