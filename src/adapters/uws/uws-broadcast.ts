import { App } from 'uWebSockets.js';
import type { Broadcast } from '../../ports/broadcast.ts';
import { PIECE_CHARACTERS } from './uws-socket.ts';

/**
 * The topics of one app. What is published goes out at the end of the event loop's turn, for each socket with
 * as few system calls as it takes. Made before the server, whose fronts publish.
 */
export class UwsBroadcast implements Broadcast {
  readonly app = App();
  readonly maxCharacters = PIECE_CHARACTERS;

  publish(topic: string, text: string): void {
    this.app.publish(topic, text, false);
  }
}
