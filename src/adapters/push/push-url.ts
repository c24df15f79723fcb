import { PushAddressError } from '../../ports/push-sender.ts';

/** The parsed URL. Throws a `PushAddressError` for one that nothing may be sent to, whatever its name resolves to. */
export function pushUrl(text: string, allowPrivateAddresses: boolean): URL {
  if (!URL.canParse(text)) throw new PushAddressError('it is not a URL');
  const url = new URL(text);
  const isPlain = url.protocol === 'http:' && allowPrivateAddresses;
  if (url.protocol !== 'https:' && !isPlain) throw new PushAddressError('it must begin with https://');
  if (url.username !== '' || url.password !== '')
    throw new PushAddressError('it must not contain a user name or a password');
  return url;
}
