/** WebSocket close code "service restart": clients should connect again. */
export const RESTART_CODE = 1012;
export const RESTART_REASON = 'service restart';

/** WebSocket close code: the credential of the client has ended. It may connect again with another one. */
export const CREDENTIAL_OVER_CODE = 4401;

/** One WebSocket as the gateway sees it. Calls on a closed socket do nothing. */
export interface ClientSocket {
  /** Sends one text frame. False if the client does not read and the socket buffers the frame. */
  send(text: string): boolean;
  /** Receives what `Broadcast` publishes on the topic from now on, in order with the frames of `send`. */
  subscribe(topic: string): void;
  /** Frames that were published before this call still arrive. */
  unsubscribe(topic: string): void;
  /** Bytes that wait for the client to read. */
  bufferedBytes(): number;
  /**
   * Sends the buffered bytes, then closes with a code. If the client does not read for seconds, they are
   * dropped.
   */
  end(code: number, reason: string): void;
}
