import type { ErrorBody } from '../core/errors.ts';

/** The service refused a message, or its turn failed or was cancelled. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly code: ErrorBody['code'];
  readonly details: ErrorBody['details'];

  constructor({ code, message, details }: ErrorBody) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** What the service sent cannot be understood, or does not fit what it sent before. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/** The session ends before what this client has of it: it was deleted, or its data were lost. */
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

/** The session was closed by this client before the answer came. */
export class ClosedError extends Error {
  override readonly name = 'ClosedError';

  constructor() {
    super('the session was closed');
  }
}
