/** An HTTP answer that is no success. */
export class HttpStatusError extends Error {
  override readonly name = 'HttpStatusError';
  readonly status: number;
  readonly text: string;

  constructor(status: number, text: string) {
    super(`HTTP ${status}`);
    this.status = status;
    this.text = text;
  }

  static async of(response: Response): Promise<HttpStatusError> {
    return new HttpStatusError(response.status, await response.text().catch(() => ''));
  }
}
