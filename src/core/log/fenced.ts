/** Another service has taken the log over. Nothing of this one is stored any more, and it ends. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
}
