import leven from 'leven';

/**
 * The candidate that was probably meant; undefined if none is similar.
 *
 * @param tolerance by how many characters it may differ; more in long names, if it is left out.
 */
export function closest(
  found: string,
  candidates: readonly string[],
  tolerance = usualTolerance(plain(found)),
): string | undefined {
  const wanted = plain(found);
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: leven(wanted, plain(candidate)) }))
    .toSorted((one, other) => one.distance - other.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= tolerance ? best.candidate : undefined;
}

function usualTolerance({ length }: string): number {
  return length < 3 ? 1 : Math.max(2, Math.floor(length / 3));
}

/** Makes `api_key` and `apikey` equal to `apiKey`. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
