import type { ErrorBody } from '../core/errors.ts';

/** The cause of a turn that failed or was cancelled, as its `error` event has it. */
export type RefusalCause = Readonly<Record<string, unknown>> & { readonly kind: string };

/**
 * The service refused the connection, a message or a command, or the turn failed or was cancelled. `code`, `message` and
 * `details` are those of the service's error envelope. `cause` is that of the turn, if it has one.
 */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly code: ErrorBody['code'];
  readonly details: ErrorBody['details'];
  // Programs that are compiled for older platforms do not know the `cause` of an Error.
  declare readonly cause?: RefusalCause;

  constructor({ code, message, details }: ErrorBody, cause?: RefusalCause) {
    super(message, cause && { cause });
    this.code = code;
    this.details = details;
  }
}

/**
 * There is no connection to the service for now. A page that the service does not accept gets this error, too, because its
 * browser says no more. `cause` is the error of the platform, which rarely says more.
 */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  declare readonly cause?: unknown;
}

/** The time of `timeoutMs` is over. Without a connection, `cause` says why the last attempt failed, if that is known. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
  declare readonly cause?: unknown;

  constructor(what: string, timeoutMs: number, cause?: unknown) {
    super(`${what} within ${timeoutMs} ms`, cause === undefined ? undefined : { cause });
  }
}

/** The connection broke before the service had answered, so it is unknown whether the service did what was asked. */
export class UnansweredError extends Error {
  override readonly name = 'UnansweredError';
}

/** This client withdrew the message before it was sent. */
export class WithdrawnError extends Error {
  override readonly name = 'WithdrawnError';

  constructor() {
    super('the message was withdrawn before it was sent');
  }
}

/** The platform has no WebSocket, and none was given. */
export class MissingWebSocketError extends Error {
  override readonly name = 'MissingWebSocketError';

  constructor(cause?: unknown) {
    super(
      'this platform has no WebSocket: run Node 22 or later, install the package `ws`, or give a WebSocket class to connect: connect({ url, WebSocket })',
      cause === undefined ? undefined : { cause },
    );
  }
}

/** The service sent something that the client cannot read, or that leaves a gap after what it sent before. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/** The session is shorter than what this client has read of it: it was deleted, or its data were lost. */
export class SessionLostError extends Error {
  override readonly name = 'SessionLostError';
  /** Seq of the session's last event. */
  readonly head: number;

  constructor(after: number, head: number) {
    super(
      `the session ends at event ${head}, but this client has seen event ${after}: the session was deleted or its data were lost`,
    );
    this.head = head;
  }
}

/** This client closed the session before the answer came. */
export class ClosedError extends Error {
  override readonly name = 'ClosedError';

  constructor() {
    super('the session was closed');
  }
}
