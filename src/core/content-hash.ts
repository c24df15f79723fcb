/** SHA-256 of a value's canonical JSON, in hex. Equal values have equal hashes, and other programs can compute them. */
export async function contentHash(value: unknown): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonicalJson(value)));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Canonical JSON after RFC 8785: no spaces, and the keys of each object in the order of their UTF-16 code units. Fields
 * that are `undefined` are left out.
 *
 * One difference from the RFC is why no package does this: the RFC refuses a lone surrogate, and the `canonicalize`
 * package throws on one. Models and clients send them, as `"\ud83d"`, and the log holds them. They are escaped here, as
 * `JSON.stringify` does. The hashes are stored, so this function must never give another text for the same value.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  // Loops, because callbacks would use up the stack on values that JSON.stringify, and so the log, can still hold.
  let json = '';
  if (Array.isArray(value)) {
    for (const item of value) json += `${json && ','}${canonicalJson(item)}`;
    return `[${json}]`;
  }
  for (const [key, field] of Object.entries(value).sort(byKey)) {
    if (field !== undefined) json += `${json && ','}${JSON.stringify(key)}:${canonicalJson(field)}`;
  }
  return `{${json}}`;
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
