/** Most characters of the address of a resource that a client watches: it is kept as long as the client listens, or longer. */
export const MAX_WATCHED_URI = 8_192;
