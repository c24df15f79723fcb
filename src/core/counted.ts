/** Such as `1 event` or `3 events`. @param noun one whose plural ends in s. */
export function counted(count: number | bigint, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
