import { InvalidArgumentError, Option } from 'commander';

/** The option that names a running service. */
export function urlOption(description: string): Option {
  return new Option('--url <url>', description).argParser(webUrl);
}

function webUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('Expected an address such as http://127.0.0.1:3001.');
}
