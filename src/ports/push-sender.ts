/** A notification as it goes over the network. */
export interface PushMessage {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface PushAnswer {
  /** The status of HTTP. A redirection is an answer like any other: nobody follows it. */
  readonly status: number;
  /** The header `Retry-After`, if there is one. */
  readonly retryAfter?: string | undefined;
}

/** Sends notifications to addresses that clients choose. */
export interface PushSender {
  /** Rejects with a `PushAddressError` if the service may not send anything there. */
  check(url: string): Promise<void>;

  /** Rejects with a `PushAddressError` as `check` does, and with another error if there is no answer. */
  send(message: PushMessage, signal: AbortSignal): Promise<PushAnswer>;
}

/** The service may not send anything to this address. The message says why, for its client. */
export class PushAddressError extends Error {
  override readonly name = 'PushAddressError';
}
