/** One string for the clients behind a proxy, because each socket keeps its address. */
let latest = '';

/** The peer's address. uWebSockets.js returns the bytes of a text. */
export function addressOf(peer: { getRemoteAddressAsText(): ArrayBuffer }): string {
  const address = Buffer.from(peer.getRemoteAddressAsText()).toString('latin1');
  if (address !== latest) latest = address;
  return latest;
}
