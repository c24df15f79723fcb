import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../../ports/logger.ts';
import type { OpenRequest, WorkerReply, WorkerRequest } from './worker-protocol.ts';

/** The main thread's view of the worker thread. */
export interface LogThread {
  post(request: WorkerRequest): void;
  onReply(listener: (reply: WorkerReply) => void): void;
  /** Resolves when the thread has ended: with the error that ended it, or undefined after a `close` request. */
  readonly ended: Promise<Error | undefined>;
}

/**
 * What the thread allocates, it needs for one commit. By default its young generation would grow to 48 MB under load, and
 * keep them.
 */
const LIMITS = { maxYoungGenerationSizeMb: 12 };

/** Starts the thread before it is known which log to open, so that both take place at the same time. */
export function startLogThread(): LogThread {
  // The file is .ts in a checkout and .js in a build.
  const file = new URL(`./event-log-worker${extname(import.meta.url)}`, import.meta.url);
  return logThread(new Worker(file, { name: 'event-log', resourceLimits: LIMITS }));
}

/** Resolves once the thread has opened the log. Rejects when it cannot open it; the thread has then ended. */
export async function openEventLog(
  thread: LogThread,
  { directory, use }: Omit<OpenRequest, 'type'>,
  log: Logger,
): Promise<void> {
  const opened = new Promise<void>((resolve) => {
    thread.onReply((reply) => {
      if (reply.type === 'opened') resolve();
      if (reply.type === 'notice') log.warn({}, reply.notice);
    });
  });
  thread.post({ type: 'open', directory, use });
  await Promise.race([opened, thread.ended.then(rejectEnded)]);
}

export function logThread(worker: Worker): LogThread {
  const ended = new Promise<Error | undefined>((resolve) => {
    let reason: Error | undefined;
    worker.once('error', (error) => {
      reason = error;
    });
    worker.once('exit', (code) => {
      resolve(
        reason ?? (code === 0 ? undefined : new Error(`the event log's thread ended with code ${code}`)),
      );
    });
  });
  return {
    post: (request) => worker.postMessage(request),
    onReply: (listener) => worker.on('message', listener),
    ended,
  };
}

function rejectEnded(reason: Error | undefined): never {
  throw reason ?? new Error("the event log's thread ended before it had opened the log");
}
