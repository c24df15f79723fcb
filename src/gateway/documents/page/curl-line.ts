import type { ExampleObject } from '../open-api-operation.ts';
import { JSON_TYPE } from '../operations/operation.ts';
import type { Endpoint } from './endpoint.ts';

/** The curl command that sends the request of an example. */
export function curlLine(
  { method, path, operation }: Endpoint,
  { name, mediaType, host }: { name: string; mediaType: string; host: string },
): string {
  const given = operation.parameters.flatMap(({ name: parameter, in: place, examples = {} }) => {
    const value = exampleValue(examples[name]);
    return value === undefined ? [] : [{ parameter, place, value: String(value) }];
  });
  const query = given
    .filter(({ place }) => place === 'query')
    .map(({ parameter, value }) => `${parameter}=${encodeURIComponent(value)}`)
    .join('&');
  const filled = given
    .filter(({ place }) => place === 'path')
    .reduce((url, { parameter, value }) => url.replace(`{${parameter}}`, encodeURIComponent(value)), path);
  const body = exampleValue(operation.requestBody?.content[JSON_TYPE]?.examples?.[name]);
  const headers = [
    ...(mediaType === 'text/event-stream' ? [`Accept: ${mediaType}`] : []),
    ...given
      .filter(({ place }) => place === 'header')
      .map(({ parameter, value }) => `${parameter}: ${value}`),
    ...(body === undefined ? [] : [`Content-Type: ${JSON_TYPE}`]),
  ];
  return [
    `curl -s${mediaType === 'text/event-stream' ? 'N' : ''}`,
    ...(method === 'GET' || (method === 'POST' && body !== undefined) ? [] : [`-X ${method}`]),
    quoted(`${host}${filled}${query === '' ? '' : `?${query}`}`),
    ...headers.map((header) => `-H ${quoted(header)}`),
    ...(body === undefined ? [] : [`-d ${quoted(JSON.stringify(body))}`]),
  ].join(' ');
}

function exampleValue(example: ExampleObject | undefined): unknown {
  return example && 'value' in example ? example.value : undefined;
}

/** Quotes for a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
