import { type MessagePort, parentPort } from 'node:worker_threads';
import { StorageFullError } from '../../../core/log/storage-full.ts';
import { asError } from '../../../core/thrown.ts';
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
    if (request.type === 'open') serve(port, request);
    else port.close();
  });
}

function serve(port: MessagePort, { directory, use }: OpenRequest): void {
  const reply = (message: WorkerReply) => port.postMessage(message);
  const log = new EventLog(openDatabase(directory, use), (notice) => reply({ type: 'notice', notice }));
  port.on('message', (request: LogRequest | CloseRequest) => {
    if (request.type === 'close') {
      log[Symbol.dispose]();
      port.close();
    } else {
      const answered = answer(log, request);
      if (answered instanceof Promise) void answered.then(reply);
      else reply(answered);
      log.checkpoint();
    }
  });
  reply({ type: 'opened' });
}

/** A promise only for what takes long: other requests are answered meanwhile. Neither throws nor rejects. */
function answer(log: EventLog, request: LogRequest): WorkerReply | Promise<WorkerReply> {
  switch (request.type) {
    case 'append':
      try {
        return log.append(request.batch);
      } catch (error) {
        return { type: 'append-failed', ...failureOf(error) };
      }
    case 'call':
      return answerCall(log, request.id, request.call);
    default:
      return request satisfies never;
  }
}

function answerCall(log: EventLog, id: number, call: Call): WorkerReply | Promise<WorkerReply> {
  const succeed = (given: Answer): WorkerReply => ({ type: 'answer', id, answer: given });
  const fail = (error: unknown): WorkerReply => ({ type: 'call-failed', id, ...failureOf(error) });
  try {
    const answered = run(log, call);
    return answered instanceof Promise ? answered.then(succeed, fail) : succeed(answered);
  } catch (error) {
    return fail(error);
  }
}

function run(log: EventLog, call: Call): Answer | Promise<Answer> {
  switch (call.type) {
    case 'read':
      return log.read(call);
    case 'list':
      return log.list(call);
    case 'ids':
      return log.ids(call);
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
      return log.erase(call).then(() => ({ type: 'erased' }));
    case 'backup':
      return log.backup().then((copy) => ({ type: 'backed-up', copy }));
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
  const error = asError(thrown);
  return { error, isFull: error instanceof StorageFullError };
}
