import { constants } from 'node:os';
import { checkAgent } from './check-agent.ts';
import type { CheckOptions } from './check-command.ts';

/** Ctrl-C ends the running request at once; a second one ends the process. @returns the exit code. */
export async function runCheck(options: CheckOptions): Promise<number> {
  const stop = new AbortController();
  const stopped: { by: NodeJS.Signals | null } = { by: null };
  const onSignal = (signal: NodeJS.Signals): void => {
    stopped.by = signal;
    stop.abort();
  };
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  const print = (text: string): void => {
    process.stdout.write(text);
  };
  try {
    return await checkAgent(options, { environment: process.env, signal: stop.signal, print });
  } catch (error) {
    if (stopped.by === null) throw error;
    process.stderr.write('agent-service: the check was stopped\n');
    return 128 + constants.signals[stopped.by];
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}
