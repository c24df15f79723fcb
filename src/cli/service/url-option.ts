import { InvalidArgumentError, Option } from 'commander';
import { hasCredentials } from '../../config/schema/web-url.ts';
import { KEY_ADVICE } from './remote-service.ts';

/** The option that names a running service. */
export function urlOption(description: string): Option {
  return new Option('--url <url>', description).argParser(webUrl);
}

function webUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError('Expected an address such as http://127.0.0.1:3001.');
  // `fetch` refuses them.
  if (hasCredentials(text))
    throw new InvalidArgumentError(`Expected an address without user and password; ${KEY_ADVICE}.`);
  return text;
}
