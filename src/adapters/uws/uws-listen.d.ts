import 'uWebSockets.js';

/** Exported by the binary, but missing in the types of the package. */
declare module 'uWebSockets.js' {
  export const LIBUS_LISTEN_EXCLUSIVE_PORT: number;

  interface TemplatedApp {
    /** Without the exclusive option, two processes can listen on one port and share its connections. */
    listen(
      host: string,
      port: number,
      options: number,
      cb: (listenSocket: us_listen_socket | false) => void,
    ): TemplatedApp;
  }
}
