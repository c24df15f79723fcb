/** SHA-256 of a value's canonical JSON, in hex. Equal values have equal hashes, and other programs can compute them. */
export async function contentHash(value: unknown): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonicalJson(value)));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Canonical JSON after RFC 8785: no spaces, and the keys of each object in the order of their UTF-16 code units. Fields
 * that are `undefined` are left out.
 *
 * It differs from the RFC in one point, so the package `canonicalize` cannot replace it. The RFC forbids lone
 * surrogates, and the package throws on them. Models and clients do send them, as `"\ud83d"`, and logs hold them. Here
 * they are escaped, as `JSON.stringify` does. Logs also hold the hashes, so the text for a value must never change.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  // With callbacks instead of loops, the stack would overflow on nested values that JSON.stringify can still write.
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
