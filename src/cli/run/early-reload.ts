/** Stops listening, and says whether a reload was asked for. */
export type EarlyReload = () => boolean;

/**
 * SIGHUP would end a service that starts or stands by, which may take days. One with a service file notes instead that it
 * was asked to reload, and does it as soon as it serves.
 */
export function noteEarlyReload(serviceFile: string | undefined): EarlyReload {
  if (serviceFile === undefined || process.stdin.isTTY) return () => false;
  let isAsked = false;
  const note = (): void => {
    isAsked = true;
  };
  process.on('SIGHUP', note);
  return () => {
    process.off('SIGHUP', note);
    return isAsked;
  };
}
