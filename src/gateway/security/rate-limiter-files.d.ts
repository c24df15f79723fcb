/** The type of a single file of the package, which itself has types only for its index. */
declare module 'rate-limiter-flexible/lib/component/MemoryStorage/MemoryStorage.js' {
  export default class MemoryStorage {
    /** Begins a window of so many seconds with the first event of a key, and after the last one has ended. */
    incrby(key: string, events: number, seconds: number): { consumedPoints: number; msBeforeNext: number };
    /** The last window of a key, which may have ended. */
    get(key: string): { consumedPoints: number; msBeforeNext: number } | null;
    delete(key: string): boolean;
  }
}
