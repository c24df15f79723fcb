import 'uWebSockets.js';

/** What the binary offers and the types of the package leave out. */
declare module 'uWebSockets.js' {
  interface WebSocket<UserData> {
    /** One message in several frames; nothing else may be sent in between. */
    sendFirstFragment(text: string, isBinary: boolean): unknown;
    sendFragment(text: string): unknown;
    sendLastFragment(text: string): unknown;
  }
}
