/** Closes a part of the service, or does nothing where it is missing. */
export type Close = () => unknown;

/** Closes one part after another. A part that fails keeps no other one open. Rejects with what the parts threw. */
export async function closeInOrder(...parts: readonly Close[]): Promise<void> {
  const errors: unknown[] = [];
  for (const close of parts) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  throwAny(errors);
}

/** Closes all parts at the same time, and waits for all of them. Rejects with what they threw. */
export async function closeTogether(...parts: readonly Close[]): Promise<void> {
  const ends = await Promise.allSettled(parts.map(async (close) => close()));
  throwAny(ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : [])));
}

export function disposing(part: AsyncDisposable | null | undefined): Close {
  return () => part?.[Symbol.asyncDispose]();
}

function throwAny(errors: readonly unknown[]): void {
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} parts could not be closed`);
  if (errors.length > 0) throw errors[0];
}
