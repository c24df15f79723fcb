import 'uWebSockets.js';

/** What the binary offers and the types of the package leave out. */
declare module 'uWebSockets.js' {
  export const LIBUS_LISTEN_EXCLUSIVE_PORT: number;

  interface TemplatedApp {
    /** Without the exclusive option two processes may listen on one port and share its connections. */
    listen(
      host: string,
      port: number,
      options: number,
      cb: (listenSocket: us_listen_socket | false) => void,
    ): TemplatedApp;
  }
}
