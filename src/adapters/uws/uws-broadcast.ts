import { App } from 'uWebSockets.js';
import type { Broadcast } from '../../ports/broadcast.ts';
import { PIECE_CHARACTERS } from './uws-socket.ts';

/**
 * Publishes to the topics of one uWebSockets.js app. The app sends frames at the end of the event loop's turn, with as
 * few system calls for each socket as possible. Created before the server, because the server's fronts publish.
 */
export class UwsBroadcast implements Broadcast {
  readonly app = App();
  readonly maxCharacters = PIECE_CHARACTERS;

  publish(topic: string, text: string): void {
    this.app.publish(topic, text, false);
  }
}
