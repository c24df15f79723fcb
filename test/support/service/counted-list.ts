/** A list of a thousand elements that are wrong wherever they stand, and how many of them were looked at. */
export function countedList(): { readonly list: readonly unknown[]; readonly read: () => number } {
  const read = new Set<PropertyKey>();
  const list = new Proxy(Array(1_000).fill(7), {
    get: (target, key, receiver) => {
      if (typeof key === 'string' && key in target && key !== 'length') read.add(key);
      return Reflect.get(target, key, receiver);
    },
  });
  return { list, read: () => read.size };
}
