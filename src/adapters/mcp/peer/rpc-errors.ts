/** The answer to a request did not come in time. */
export class RequestTimeoutError extends Error {
  override readonly name = 'RequestTimeoutError';

  constructor(timeoutMs: number) {
    super(`the server did not answer within ${timeoutMs} ms`);
  }
}

/** The connection ended before the answer came. */
export class ConnectionEndedError extends Error {
  override readonly name = 'ConnectionEndedError';

  constructor() {
    super('the connection ended before the server answered');
  }
}

/** The stream of a request ended without the answer. */
export class AnswerLostError extends Error {
  override readonly name = 'AnswerLostError';

  constructor() {
    super('the server ended the stream before it answered');
  }
}

/** The other end sent something that is not valid MCP. */
export class InvalidAnswerError extends Error {
  override readonly name = 'InvalidAnswerError';

  /** @param said what the server wrote in the answer about an error, if anything. */
  constructor(cause?: unknown, said?: string) {
    const sentence = 'the server sent an answer that is not valid MCP';
    super(said === undefined ? sentence : `${sentence}: ${said}`, { cause });
  }
}
