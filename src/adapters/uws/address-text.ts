/** The peer's address as text. uWebSockets.js gives it as bytes of text. */
export function addressOf(peer: { getRemoteAddressAsText(): ArrayBuffer }): string {
  return Buffer.from(peer.getRemoteAddressAsText()).toString('latin1');
}
