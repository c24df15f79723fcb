/** How often a stream says something. Proxies close connections that are silent for longer, and clients give them up. */
export const HEARTBEAT_MS = 10_000;

/** An empty comment, which clients ignore. */
export const HEARTBEAT = ':\n\n';

export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
