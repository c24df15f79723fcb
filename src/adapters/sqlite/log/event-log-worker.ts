import { type MessagePort, parentPort } from 'node:worker_threads';
import { StorageFullError } from '../../../core/log/storage-full.ts';
import { openDatabase } from '../open/open-database.ts';
import { EventLog } from './event-log.ts';
import type {
  Answer,
  Call,
  CloseRequest,
  Failure,
  LogRequest,
  OpenRequest,
  WorkerReply,
} from './worker-protocol.ts';

if (parentPort === null) throw new Error('this file must be started as a worker thread, by the event store');
waitForLog(parentPort);

/** An uncaught error ends the worker. The main thread gets it as the worker's `error` event. */
function waitForLog(port: MessagePort): void {
  port.once('message', (request: OpenRequest | CloseRequest) => {
    if (request.type === 'open') serve(port, request.directory);
    else port.close();
  });
}

function serve(port: MessagePort, directory: string): void {
  const reply = (message: WorkerReply) => port.postMessage(message);
  const log = new EventLog(openDatabase(directory), (notice) => reply({ type: 'notice', notice }));
  port.on('message', (request: LogRequest | CloseRequest) => {
    if (request.type === 'close') {
      log[Symbol.dispose]();
      port.close();
    } else {
      reply(answer(log, request));
      log.checkpoint();
    }
  });
  reply({ type: 'opened' });
}

function answer(log: EventLog, request: LogRequest): WorkerReply {
  switch (request.type) {
    case 'append':
      try {
        return log.append(request.batch);
      } catch (error) {
        return { type: 'append-failed', ...failureOf(error) };
      }
    case 'call':
      try {
        return { type: 'answer', id: request.id, answer: run(log, request.call) };
      } catch (error) {
        return { type: 'call-failed', id: request.id, ...failureOf(error) };
      }
    default:
      return request satisfies never;
  }
}

function run(log: EventLog, call: Call): Answer {
  switch (call.type) {
    case 'read':
      return log.read(call);
    case 'list':
      return log.list(call);
    case 'fork':
      return log.fork(call);
    case 'begin-adoption':
      return log.beginAdoption(call.sessionId);
    case 'stage':
      log.stage(call);
      return { type: 'staged' };
    case 'adopt':
      return log.adopt(call);
    case 'end-adoption':
      log.endAdoption(call.adoption);
      return { type: 'adoption-ended' };
    case 'erase':
      log.erase(call);
      return { type: 'erased' };
    case 'measure':
      return { type: 'measured', size: log.measure() };
    case 'probe':
      log.probe();
      return { type: 'probed' };
    default:
      return call satisfies never;
  }
}

function failureOf(thrown: unknown): Failure {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  return { error, isFull: error instanceof StorageFullError };
}
