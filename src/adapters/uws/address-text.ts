/** The peer's address. uWebSockets.js returns the bytes of a text. */
export function addressOf(peer: { getRemoteAddressAsText(): ArrayBuffer }): string {
  return Buffer.from(peer.getRemoteAddressAsText()).toString('latin1');
}
