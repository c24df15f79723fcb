/** The methods that are used of a uWebSockets.js socket. */
export interface RawSocket {
  send(text: string, isBinary: boolean): unknown;
  cork(work: () => void): unknown;
  sendFirstFragment(text: string, isBinary: boolean): unknown;
  sendFragment(text: string): unknown;
  sendLastFragment(text: string): unknown;
  subscribe(topic: string): unknown;
  unsubscribe(topic: string): unknown;
  end(code: number, reason: string): void;
  getBufferedAmount(): number;
}
