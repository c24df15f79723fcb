import { boundedText } from './bounded-text.ts';

/** Enough for what a person reads, and for an error of JSON-RPC. */
const MAX_ERROR_BYTES = 64 * 1024;

/** An HTTP answer that is no success. */
export class HttpStatusError extends Error {
  override readonly name = 'HttpStatusError';
  readonly status: number;
  /** The beginning of the body. */
  readonly text: string;

  constructor(status: number, text: string) {
    super(`HTTP ${status}`);
    this.status = status;
    this.text = text;
  }

  static async of(response: Response): Promise<HttpStatusError> {
    const { text } = await boundedText(response, MAX_ERROR_BYTES).catch(() => ({ text: '' }));
    return new HttpStatusError(response.status, text);
  }
}
