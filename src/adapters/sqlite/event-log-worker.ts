import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { openDatabase } from './database.ts';
import { EventLog } from './event-log.ts';
import type { WorkerOptions, WorkerReply, WorkerRequest } from './worker-protocol.ts';

if (parentPort === null) throw new Error('this file is started by the event store, as a worker thread');
serve(parentPort, workerData);

/** An error thrown here ends the worker; the main thread gets it as the worker's `error` event. */
function serve(port: MessagePort, { directory }: WorkerOptions): void {
  const log = new EventLog(openDatabase(directory));
  port.on('message', (request: WorkerRequest) => {
    if (request.type === 'close') {
      log[Symbol.dispose]();
      port.close();
    } else {
      port.postMessage(answer(log, request));
    }
  });
  port.postMessage({ type: 'opened' } satisfies WorkerReply);
}

function answer(log: EventLog, request: Exclude<WorkerRequest, { type: 'close' }>): WorkerReply {
  switch (request.type) {
    case 'append':
      try {
        return log.append(request.batch);
      } catch (error) {
        return { type: 'append-failed', error: asError(error) };
      }
    case 'read':
      try {
        return log.read(request);
      } catch (error) {
        return { type: 'read-failed', id: request.id, error: asError(error) };
      }
    default:
      return request satisfies never;
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
