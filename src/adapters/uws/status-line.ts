/** The same texts as `STATUS_CODES` of `node:http`, whose import would cost each start 25 ms and 9 MB. */
const reasons: Readonly<Record<number, string>> = {
  200: 'OK',
  202: 'Accepted',
  204: 'No Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** Status and reason phrase for the first line of a response. The phrase of an unlisted status is empty. */
export function statusLine(status: number): string {
  return `${status} ${reasons[status] ?? ''}`;
}
