import type { ErrorBody } from '../core/errors.ts';

/** The service refused the message, or its turn failed or was cancelled. `code` is an error code of the service. */
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
