import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Log } from '../../../ports/log.ts';
import type { WorkerReply, WorkerRequest } from './worker-protocol.ts';

/** The worker thread as the main thread sees it. */
export interface LogThread {
  post(request: WorkerRequest): void;
  onReply(listener: (reply: WorkerReply) => void): void;
  /** Resolves when the thread is gone: to why it died, or to nothing when it ended as it was told to. */
  readonly ended: Promise<Error | undefined>;
}

/** Starts a thread that waits to be told which log to open: it takes as long to start as the service takes to know. */
export function startLogThread(): LogThread {
  // .ts in a checkout, .js in a build.
  const file = new URL(`./event-log-worker${extname(import.meta.url)}`, import.meta.url);
  return logThread(new Worker(file, { name: 'event-log' }));
}

/** Resolves once the thread has the log open; rejects, with the thread gone, when it cannot open it. */
export async function openLog(thread: LogThread, directory: string, log: Log): Promise<void> {
  const opened = new Promise<void>((resolve) => {
    thread.onReply((reply) => {
      if (reply.type === 'opened') resolve();
      if (reply.type === 'notice') log.warn({}, reply.notice);
    });
  });
  thread.post({ type: 'open', directory });
  await Promise.race([opened, thread.ended.then(refuseToStart)]);
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

function refuseToStart(reason: Error | undefined): never {
  throw reason ?? new Error("the event log's thread ended before it had opened the log");
}
