import 'uWebSockets.js';

/** Exported by the binary, but missing in the types of the package. */
declare module 'uWebSockets.js' {
  interface WebSocket<UserData> {
    /** Starts a message of several frames. Nothing else may be sent before the last one. */
    sendFirstFragment(text: string, isBinary: boolean): unknown;
    sendFragment(text: string): unknown;
    sendLastFragment(text: string): unknown;
  }
}
