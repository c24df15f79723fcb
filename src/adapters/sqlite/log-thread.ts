import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Log } from '../../ports/log.ts';
import type { WorkerOptions, WorkerReply, WorkerRequest } from './worker-protocol.ts';

/** The worker thread as the main thread sees it. */
export interface LogThread {
  post(request: WorkerRequest): void;
  onReply(listener: (reply: WorkerReply) => void): void;
  /** Resolves when the thread is gone: to why it died, or to nothing when it ended as it was told to. */
  readonly ended: Promise<Error | undefined>;
}

/** Resolves once the thread has the log open; rejects, with the thread gone, when it cannot open it. */
export async function startLogThread(options: WorkerOptions, log: Log): Promise<LogThread> {
  // .ts in a checkout, .js in a build.
  const file = new URL(`./event-log-worker${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(file, { workerData: options, name: 'event-log' });
  const thread = logThread(worker);
  const opened = new Promise<void>((resolve) => {
    worker.on('message', (reply: WorkerReply) => {
      if (reply.type === 'opened') resolve();
      if (reply.type === 'notice') log.warn({}, reply.notice);
    });
  });
  await Promise.race([opened, thread.ended.then(refuseToStart)]);
  return thread;
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
