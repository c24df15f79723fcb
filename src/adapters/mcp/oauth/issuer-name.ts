/** The name under which what an authorization server gave is kept: both spellings lead to the same metadata document. */
export function issuerName(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}
