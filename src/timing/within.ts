/** What the work comes to, or `otherwise` when it takes longer. Rejects as the work does. */
export async function within<T>(ms: number, work: Promise<T>, otherwise: T): Promise<T> {
  const over = Promise.withResolvers<T>();
  const timer = setTimeout(() => over.resolve(otherwise), ms);
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    clearTimeout(timer);
  }
}
