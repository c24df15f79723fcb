import leven from 'leven';

/** The candidate that was probably meant; undefined if none is similar. */
export function closest(found: string, candidates: readonly string[]): string | undefined {
  const wanted = plain(found);
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: leven(wanted, plain(candidate)) }))
    .toSorted((one, other) => one.distance - other.distance);
  const best = ranked[0];
  const tolerance = wanted.length < 3 ? 1 : Math.max(2, Math.floor(wanted.length / 3));
  return best !== undefined && best.distance <= tolerance ? best.candidate : undefined;
}

/** Makes `api_key` and `apikey` equal to `apiKey`. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
